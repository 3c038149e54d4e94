"""Your scored pairs as a suite, for evaluation with further suites."""

from collections.abc import Sequence
from dataclasses import dataclass

from cselab.data import Pairs

from .sts import STS
from .task import Collected, Source


@dataclass(frozen=True)
class OwnPairs:
    """One task: these pairs, scored as an STS set under their own name.

    `evaluate(encoder, pairs)` scores only pairs; this class is for a list with further suites.
    """

    pairs: Pairs
    aggregation: str = "all"

    @property
    def name(self) -> str:
        """The name of the pairs."""
        return self.pairs.name

    @property
    def tasks(self) -> tuple[str, ...]:
        """Their name, again: a suite of one task."""
        return (self.pairs.name,)

    def collect(self, data: Source, tasks: Sequence[str] | None) -> Collected:
        """The task; nothing is read."""
        return Collected([STS(self.aggregation).task(self.pairs)], {})
