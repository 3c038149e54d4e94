"""Signs of faults: a measure, a threshold and advice. `@sign(...)` registers a measure."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from .evidence import Evidence

Measure = Callable[[Evidence], float | None]
Kept = TypeVar("Kept", bound=Measure)


@dataclass(frozen=True)
class Sign:
    """A fault, and the number that shows it.

    Attributes:
        name: the fault, in the field's words.
        measured: the number, in words.
        threshold, above: a number above (or below) the threshold is a fault.
        advice: the remedy.
        measure: the number of some evidence, or None if the evidence is not enough.
        where: the affected places in words, if there are such places.
    """

    name: str
    measured: str
    threshold: float
    above: bool
    advice: str
    measure: Measure
    where: Callable[[Evidence], str]

    def is_met(self, value: float) -> bool:
        """Whether this number shows the fault."""
        return value > self.threshold if self.above else value < self.threshold


SIGNS: dict[str, Sign] = {}


def sign(
    name: str,
    measured: str,
    advice: str,
    above: float | None = None,
    below: float | None = None,
    where: Callable[[Evidence], str] = lambda seen: "",
) -> Callable[[Kept], Kept]:
    """Register a measure as a sign, with a threshold `above` or `below`."""
    threshold = above if above is not None else below
    assert threshold is not None

    def enter(measure: Kept) -> Kept:
        SIGNS[name] = Sign(name, measured, threshold, above is not None, advice, measure, where)
        return measure

    return enter
