"""The signs of what goes wrong: a measure, a threshold, what to do. `@sign(...)` on a measure registers one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from cselab_lab.diagnosis.evidence import Evidence

Measure = Callable[["Evidence"], float | None]
Kept = TypeVar("Kept", bound=Measure)


@dataclass(frozen=True)
class Sign:
    """One thing that may be wrong, and the number by which it is known.

    Attributes:
        name: what is wrong, in the field's words.
        measured: what the number is, in words.
        threshold, above: it is wrong where the number lies above the threshold (or below it).
        advice: what to do.
        picture: the evidence as a plotly figure.
        measure: the number of some evidence, or None where it does not tell.
    """

    name: str
    measured: str
    threshold: float
    above: bool
    advice: str
    picture: Callable[[Evidence], Any]
    measure: Measure

    def is_met(self, value: float) -> bool:
        """Whether this number is one of something wrong."""
        return value > self.threshold if self.above else value < self.threshold


SIGNS: dict[str, Sign] = {}


def sign(
    name: str,
    measured: str,
    advice: str,
    picture: Callable[[Evidence], Any],
    above: float | None = None,
    below: float | None = None,
) -> Callable[[Kept], Kept]:
    """Register the measure beneath as a sign, with one of two thresholds."""
    threshold = above if above is not None else below
    assert threshold is not None

    def enter(measure: Kept) -> Kept:
        SIGNS[name] = Sign(name, measured, threshold, above is not None, advice, picture, measure)
        return measure

    return enter
