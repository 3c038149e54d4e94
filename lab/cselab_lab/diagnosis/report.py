"""The result of a diagnosis: the number of each sign, and reason and advice of each fault."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from .evidence import Evidence
from .signs import SIGNS, Sign

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
    evidence: Evidence

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

    def __str__(self) -> str:
        return f"{self.name.upper()}\n  why   {self.reason}.\n  do    {self.advice}"

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
        return "\n\n".join(filter(None, [self.headline, *map(str, self.findings), "\n".join(not_checked(self.unseen))]))

    def _repr_html_(self) -> str:
        parts = [
            f"<h4>{escape(one.name)}</h4><p>{escape(one.reason)}.</p><p><b>{escape(one.advice)}</b></p>"
            for one in self.findings
        ]
        unseen = "".join(f"<p>{escape(line[0].upper() + line[1:])}</p>" for line in not_checked(self.unseen))
        return f"<p>{escape(self.headline)}</p>{''.join(parts)}{unseen}"

    @property
    def headline(self) -> str:
        """The number of faults and of checked signs."""
        found, checked = len(self.findings), len(self.metrics)
        faults = "1 fault" if found == 1 else f"{found or 'no'} faults"
        return f"{self.subject}: {faults}, {checked} of {checked + len(self.unseen)} signs checked"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        findings = [finding.to_dict() for finding in self.findings]
        return {"subject": self.subject, "findings": findings, "metrics": dict(self.metrics), "unseen": self.unseen}
