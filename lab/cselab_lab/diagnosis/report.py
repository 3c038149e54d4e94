"""What a diagnosis says: each sign with its number, and of those that are met the reason, the advice, the picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cselab_lab.diagnosis.signs import Sign

if TYPE_CHECKING:
    from cselab_lab.diagnosis.evidence import Evidence


@dataclass(frozen=True, eq=False)
class Finding:
    """Something that is wrong, and how it was seen."""

    sign: Sign
    value: float
    evidence: Evidence

    @property
    def name(self) -> str:
        """What is wrong."""
        return self.sign.name

    @property
    def reason(self) -> str:
        """The measure, its value, the threshold."""
        side = "above" if self.sign.above else "below"
        return f"{self.sign.measured} is {self.value:.3g}; {side} {self.sign.threshold:g} something is wrong"

    @property
    def advice(self) -> str:
        """What to do."""
        return self.sign.advice

    def figure(self) -> Any:
        """The picture that shows it, a plotly figure."""
        return self.sign.picture(self.evidence)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        told = {"measured": self.sign.measured, "value": self.value, "threshold": self.sign.threshold}
        return {"name": self.name, **told, "above": self.sign.above, "advice": self.advice}


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What was found.

    Attributes:
        subject: what was looked at, in words.
        findings: what is wrong; empty where no threshold is passed.
        metrics: the number of every sign that could be looked at.
        unseen: the signs that could not, for want of a run, a corpus, an encoder or further seeds.
    """

    subject: str
    findings: list[Finding]
    metrics: Mapping[str, float]
    unseen: list[str]

    def __str__(self) -> str:
        lines = [f"{self.subject}: {self._count()}"]
        for finding in self.findings:
            lines += [f"\n{finding.name.upper()}", f"  why   {finding.reason}.", f"  do    {finding.advice}"]
        if self.unseen:
            lines.append(f"\ncould not be read: {', '.join(self.unseen)}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = [
            f"<h4>{escape(one.name)}</h4><p>{escape(one.reason)}.</p><p><b>{escape(one.advice)}</b></p>"
            for one in self.findings
        ]
        unseen = f"<p>Could not be read: {escape(', '.join(self.unseen))}</p>" if self.unseen else ""
        return f"<p>{escape(self.subject)}: {self._count()}</p>{''.join(parts)}{unseen}"

    def _count(self) -> str:
        looked = f"signs looked at: {len(self.metrics)}"
        return f"{len(self.findings)} found, {looked}" if self.findings else f"no faults found, {looked}"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        findings = [finding.to_dict() for finding in self.findings]
        return {"subject": self.subject, "findings": findings, "metrics": dict(self.metrics), "unseen": self.unseen}

    def write_page(self, path: Path) -> None:
        """A page with the pictures that opens without a network."""
        from plotly.offline import get_plotlyjs

        body = self._repr_html_()
        for finding in self.findings:
            picture = finding.figure().to_html(full_html=False, include_plotlyjs=False)
            end = f"<b>{escape(finding.advice)}</b></p>"
            body = body.replace(end, end + picture, 1)
        script = f"<script>{get_plotlyjs()}</script>" if self.findings else ""
        meta = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        head = f"{meta}<title>{escape(self.subject)}</title>{script}"
        style = (
            "<style>:root { color-scheme: light dark } "
            "body { font-family: sans-serif; max-width: 50em; margin: 2em auto; padding: 0 1em }</style>"
        )
        page = f'<!doctype html><html lang="en"><head>{head}{style}</head><body>{body}</body></html>\n'
        path.write_text(page, encoding="utf-8")
