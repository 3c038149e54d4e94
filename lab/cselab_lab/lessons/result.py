"""The result of a lesson in one sentence and one plot, which the page of the run shows first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cselab.evaluators.records import Scores
    from cselab.metrics.significance import Comparison

BEFORE, CONTROL, AFTER = "#B85C8E", "#808080", "#7765C8"  # as in the picture of the cosines
WIDE, LEFT, ROW, TOP = 460, 126, 52, 30  # of the drawing


@dataclass(frozen=True)
class LessonResult:
    """Scores of an encoder before training, of a control and after training, with the intervals of the gains.

    Attributes:
        about: the training, for example "SimCSE, 60 steps, 30 seconds".
        scores: by test, the scores before, of the control, and after.
        gains: by test, the comparison of before and after.
        names: of the three encoders.
    """

    about: str
    scores: Mapping[str, tuple[float, float, float]]
    gains: Mapping[str, Comparison]
    names: tuple[str, str, str]

    def __repr__(self) -> str:
        test, (before, control, after) = next(iter(self.scores.items()))
        low, high = self.gains[test].interval
        return (
            f"{self.about}: {test} {before:.1f} to {after:.1f}, {after - before:+.1f}, 95\u00a0% interval {low:.1f} to "
            f"{high:.1f}; {self.names[1]}: {control:.1f}."
        )

    def _repr_html_(self) -> str:
        values = [value for row in self.scores.values() for value in row]
        ends = [row[0] + end for test, row in self.scores.items() for end in self.gains[test].interval]
        low, high = floor(min(values + ends) - 0.5), ceil(max(values + ends) + 0.5)

        def across(value: float) -> float:
            return round(LEFT + (WIDE - LEFT - 24) * (value - low) / (high - low), 1)

        bottom = TOP + ROW * len(self.scores)
        parts = [f'<path d="M{LEFT},{bottom}H{WIDE - 24}" stroke="currentColor" stroke-opacity=".4"/>']
        parts += [_text(across(end), bottom + 18, str(end)) for end in (low, high)]
        legend = zip(self.names, (BEFORE, CONTROL, AFTER), (LEFT, LEFT + 80, LEFT + 230), strict=True)
        for name, colour, x in legend:
            parts.append(_mark(x, 10, colour, name == self.names[0]) + _text(x + 12, 15, name, "start"))
        for number, (test, row) in enumerate(self.scores.items()):
            y = TOP + ROW * number + 26
            before, control, after = map(across, row)
            start, end = (across(row[0] + end) for end in self.gains[test].interval)
            parts += [
                _text(LEFT - 14, y + 5, test, "end"),
                f'<path d="M{start},{y}H{end}" stroke="{AFTER}" stroke-opacity=".3" stroke-width="12"/>',
                f'<path d="M{before},{y}H{after}" stroke="{AFTER}" stroke-width="2.5"/>',
                _mark(control, y, CONTROL),
                _mark(before, y, BEFORE, hollow=True),
                _mark(after, y, AFTER),
                *(
                    _text(x, y - 13, f"{score:.1f}", anchor)
                    for x, score, anchor in _apart(before, row[0], after, row[2])
                ),
            ]
        drawing = (
            f'<svg viewBox="0 0 {WIDE} {bottom + 26}" style="max-width: 560px; width: 100%" role="img" '
            f'aria-label="{escape(repr(self))}" font-family="system-ui, sans-serif" font-size="14">'
            f"{''.join(parts)}</svg>"
        )
        band = f"The band is the 95\u00a0% interval of the gain over {escape(self.names[0])}."
        return f'<div class="headline"><p><strong>{escape(repr(self))}</strong></p>{drawing}<p>{band}</p></div>'


def _apart(before: float, old: float, after: float, new: float) -> Sequence[tuple[float, float, str]]:
    """Places, numbers and anchors of two labels; near ones stand left and right of the gap."""
    if abs(after - before) > 40:
        return (before, old, "middle"), (after, new, "middle")
    anchors = ("end", "start") if before <= after else ("start", "end")
    return (before, old, anchors[0]), (after, new, anchors[1])


def _text(x: float, y: float, words: str, anchor: str = "middle") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="currentColor">{escape(words)}</text>'


def _mark(x: float, y: float, colour: str, hollow: bool = False) -> str:
    inside = f'fill="none" stroke="{colour}" stroke-width="3"' if hollow else f'fill="{colour}"'
    return f'<circle cx="{x}" cy="{y}" r="{5.5 if hollow else 7}" {inside}/>'


def result(about: str, scores: Mapping[str, Scores], gains: Sequence[Comparison]) -> LessonResult:
    """A result of `scores`, whose last three are before, the control and after; `gains` compare before with after.

    Raises:
        ValueError: fewer than three scores.
    """
    if len(scores) < 3:
        raise ValueError(f"scores has {len(scores)} entries; expected before, a control and after.")
    names = tuple(scores)[-3:]
    rows = {gain.name: tuple(scores[name].scores[gain.name] for name in names) for gain in gains}
    return LessonResult(about, rows, {gain.name: gain for gain in gains}, names)  # type: ignore[arg-type]
