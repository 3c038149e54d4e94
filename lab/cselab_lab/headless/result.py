"""The result of one run of a notebook."""

from dataclasses import dataclass, field
from pathlib import Path

from cselab._util.versions import versions

from .recorded import Comparison


@dataclass
class NotebookResult:
    """One run of a notebook: files, recorded numbers, and problems."""

    source: Path  # the notebook, in whose folder the cells run
    profile: str
    parameters: dict[str, object]  # the passed parameters; the rest have their defaults
    executed: Path  # the notebook with outputs: partial where a cell failed
    page: Path  # the HTML page
    state: str  # SHA-256 of all that its numbers depend on: cells, parameters, package, versions
    seconds: float = 0.0
    records: list[dict] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)  # with the recorded ones, where there are any
    failures: list[str] = field(default_factory=list)  # of the run itself
    notes: list[str] = field(default_factory=list)  # information, not problems

    @property
    def name(self) -> str:
        return self.source.stem

    @property
    def problems(self) -> list[str]:
        """Failures of the run, and the numbers that disagree."""
        return self.failures + [one.trouble for one in self.comparisons if not one.ok]

    @property
    def passed(self) -> bool:
        return not self.problems

    def as_json(self) -> dict:
        """The entry of `records.json`, and the content of a file of recorded numbers."""
        return {
            "notebook": self.name,
            "profile": self.profile,
            "parameters": self.parameters,
            "seconds": round(self.seconds, 1),
            "versions": versions(),
            "records": self.records,
        }
