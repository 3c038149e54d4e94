"""The result of a diagnosis: the number of each sign, and reason, advice and picture of each fault."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cselab._util.writing import write_text

from .signs import SIGNS, Sign

if TYPE_CHECKING:
    from .evidence import Evidence

NEEDS = {  # by the file of a sign, or by its name
    "encoders": "an encoder",
    "training": "a run",
    "texts": "a corpus",
    "vectors": "more texts, or vectors without a complete collapse",
    "untrained head or pooler": "an encoder that evaluates a pooler or a head",
    "truncated sentences": "an encoder",
    "test pairs in the corpus": "a corpus and the test pairs (--test)",
    "seeds with the same result": "a second seed",
}


@dataclass(frozen=True, eq=False)
class Finding:
    """A fault and its evidence."""

    sign: Sign
    value: float
    evidence: "Evidence"

    @property
    def name(self) -> str:
        """The name of the fault."""
        return self.sign.name

    @property
    def reason(self) -> str:
        """The measure, its value, the threshold, and the affected places."""
        side, places = "above" if self.sign.above else "below", self.sign.where(self.evidence)
        return f"{self.sign.measured} is {self.value:.3g}; {side} {self.sign.threshold:g} is a fault{places}"

    @property
    def advice(self) -> str:
        """The remedy."""
        return self.sign.advice

    def figure(self) -> Any:
        """The picture that shows it, a plotly figure."""
        return self.sign.picture(self.evidence)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        measured = {"measured": self.sign.measured, "value": self.value, "threshold": self.sign.threshold}
        return {"name": self.name, **measured, "above": self.sign.above, "advice": self.advice}


def not_checked(unseen: Sequence[str]) -> list[str]:
    """A line for each missing part of the evidence, with the signs that need it."""
    missing: dict[str, list[str]] = {}
    for name in unseen:
        need = NEEDS.get(name) or NEEDS[SIGNS[name].measure.__module__.rpartition(".")[2]]
        missing.setdefault(need, []).append(name)
    return [f"not checked without {need}: {', '.join(names)}" for need, names in missing.items()]


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Faults and numbers.

    Attributes:
        subject: the examined run, encoder or vectors.
        findings: the faults; empty if no threshold is passed.
        metrics: the number of each checked sign.
        unseen: the signs that need a run, a corpus, an encoder or more seeds.
    """

    subject: str
    findings: list[Finding]
    metrics: Mapping[str, float]
    unseen: list[str]

    def __str__(self) -> str:
        lines = [f"{self.subject}: {self._count()}"]
        for finding in self.findings:
            lines += [f"\n{finding.name.upper()}", f"  why   {finding.reason}.", f"  do    {finding.advice}"]
        return "\n".join([*lines, *([""] if self.unseen else []), *not_checked(self.unseen)])

    def _repr_html_(self) -> str:
        return self._html(lambda finding: "")

    def _html(self, picture: Callable[[Finding], str]) -> str:
        parts = [
            f"<h4>{escape(one.name)}</h4><p>{escape(one.reason)}.</p><p><b>{escape(one.advice)}</b></p>{picture(one)}"
            for one in self.findings
        ]
        unseen = "".join(f"<p>{escape(line[0].upper() + line[1:])}</p>" for line in not_checked(self.unseen))
        return f"<p>{escape(self.subject)}: {self._count()}</p>{''.join(parts)}{unseen}"

    def _count(self) -> str:
        checked = f"signs checked: {len(self.metrics)}"
        return f"{len(self.findings)} found, {checked}" if self.findings else f"no faults found, {checked}"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        findings = [finding.to_dict() for finding in self.findings]
        return {"subject": self.subject, "findings": findings, "metrics": dict(self.metrics), "unseen": self.unseen}

    def write_page(self, path: Path) -> None:
        """A page with the pictures that opens without a network."""
        from plotly.offline import get_plotlyjs

        body = self._html(lambda finding: finding.figure().to_html(full_html=False, include_plotlyjs=False))
        script = f"<script>{get_plotlyjs()}</script>" if self.findings else ""
        meta = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        head = f"{meta}<title>{escape(self.subject)}</title>{script}"
        style = (
            "<style>:root { color-scheme: light dark } "
            "body { font-family: sans-serif; max-width: 50em; margin: 2em auto; padding: 0 1em }</style>"
        )
        page = f'<!doctype html><html lang="en"><head>{head}{style}</head><body>{body}</body></html>\n'
        write_text(path, page)
