"""Methods on the pipeline: at which stages each does something that SimCSE does not."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from ..kit.controls import RowOptions, row_options
from ..kit.fields import State, shown
from ..kit.panel import Panel
from ..kit.planes import Plane
from ..kit.theme import INK, PALETTE

if TYPE_CHECKING:
    import pandas
    from cselab_lab.lessons.pipeline_diff import Card

FAMILY, YEAR = "family", "year"
LINE = 18  # pixels a method
HEAD = 1.7  # lines of a heading, with the room above it
LOSSES = {"loss": "another loss"}  # a family that is not the stage of this name
UNTOUCHED = "rgba(128, 128, 128, 0.45)"
ONE = 24  # more methods stand in three planes, about a third of them in each


@dataclass(frozen=True, eq=False)
class MethodMapState(State):
    """The methods, and their order.

    Attributes:
        cards: as `cselab_lab.lessons.pipeline_diff.method_cards` returns them.
        by: methods of one "family" stand together, or those of one "year".
        selection: rows of `cards` that were clicked; they are told in words.
    """

    cards: Sequence["Card"]
    by: str = shown("group by", "list", (FAMILY, YEAR), FAMILY)
    selection: tuple[int, ...] = shown("read about", "rows", (), ())

    def __post_init__(self) -> None:
        if not self.cards:
            raise ValueError("cards is empty: give the result of cselab_lab.lessons.pipeline_diff.method_cards().")
        super().__post_init__()

    @property
    def groups(self) -> dict[str, list[int]]:
        """Rows of `cards` by family in their order, or by year; in a group, like patterns stand together."""
        heads = [card.family if self.by == FAMILY else card.year or "no year" for card in self.cards]
        names = [*dict.fromkeys(heads)]
        if self.by == YEAR:  # also those without a method
            years = [int(card.year) for card in self.cards if card.year] or [0]
            names = sorted({*heads, *map(str, range(min(years), max(years)))})
        by_pattern = sorted(range(len(heads)), key=lambda row: _pattern(self.cards[row]))
        return {name: [row for row in by_pattern if heads[row] == name] for name in names}

    @property
    def others(self) -> list[int]:
        """The rows of `cards` but SimCSE, which changes nothing."""
        return [row for row, card in enumerate(self.cards) if card.stages]

    def touched(self, rows: Iterable[int]) -> Counter[str]:
        """At each stage, how many of these methods do something."""
        return Counter(stage for row in rows for stage in self.cards[row].stages)


def planes(state: MethodMapState) -> list[Plane]:
    """A line for each method below its family or year, a column for each stage; a dot where the method changes it."""
    groups = [*state.groups.items()]
    if len(state.cards) <= ONE:
        return [_part(state, answer(state), groups)]
    lines = [len(rows) + HEAD for _, rows in groups]
    ways = combinations(range(len(groups) + 1), 2)
    one, two = min(ways, key=lambda way: max(sum(lines[slice(*ends)]) for ends in pairwise((0, *way, None))))
    parts = groups[:one], groups[one:two], groups[two:]
    return [_part(state, answer(state) * (not number), part, f"{number} ") for number, part in enumerate(parts)]


def _part(state: MethodMapState, title: str, groups: list[tuple[str, list[int]]], uid: str = "") -> Plane:
    from cselab_lab.lessons.pipeline_diff import STAGES

    stages = list(STAGES)
    place: dict[int, float] = {}
    heads: dict[float, str] = {}
    counted = [rows for _, rows in groups]
    below, (named, _, *ends) = 0.0, told(state)
    framed = [-0.4] * (bool(title) and not named)  # the counts that the title names
    if title:
        heads[-0.4], counted, below = f"<b>all {len(state.others)}</b>", [state.others, *counted], 1.4
    for name, rows in groups:
        below += HEAD
        framed += [1 - below] * (name == named)
        heads[1 - below] = f"<b>{escape(LOSSES.get(name, name))}</b>" + ": none" * (not rows)
        for row in rows:
            place[row], below = -below, below + 1
    joined = [(stage, at) for row, at in place.items() for stage in (*map(stages.index, state.cards[row].stages), None)]
    traces = [
        go.Scatter(x=[*range(len(stages))] * len(place), y=[at for at in place.values() for _ in stages],
                   uid=f"{uid}all", mode="markers", hoverinfo="skip", marker={"size": 4, "color": UNTOUCHED}),
        go.Scatter(x=[stage for stage, _ in joined], y=[at for _, at in joined], uid=f"{uid}joined", mode="lines",
                   hoverinfo="skip", line={"width": 2, "color": UNTOUCHED}),
        go.Scatter(
            x=[*range(len(stages))] * len(heads), y=[at for at in heads for _ in stages], uid=f"{uid}counts",
            text=[f"<b>{state.touched(rows)[stage] or ''}</b>" for rows in counted for stage in stages],
            mode="text", textposition="middle center", hoverinfo="skip",
        ),
    ]  # fmt: skip
    for number, stage in enumerate(stages):
        dots = [row for row in place if stage in state.cards[row].stages]
        traces.append(
            go.Scatter(
                x=[number] * len(dots), y=[place[row] for row in dots], customdata=dots,
                text=[_hover(state.cards[row], stage) for row in dots], hovertemplate="%{text}<extra></extra>",
                uid=uid + stage, mode="markers",
                marker={"size": 11, "color": PALETTE[number],
                        "line": {"color": INK, "width": [3 * (row in state.selection) for row in dots]}},
            )
        )  # fmt: skip
    names = [*heads.values(), *(_name(state, row) for row in place)]
    bare = {"showline": False, "ticks": "", "showgrid": False}
    across = {"tickvals": list(range(len(stages))), "ticktext": stages, "range": [-0.5, len(stages) - 0.5],
              "side": "top", "fixedrange": True, **bare}  # fmt: skip
    up = {"tickvals": [*heads, *place.values()], "ticktext": names, "range": [0.3 - below, 0.4], "automargin": True,
          **bare}  # fmt: skip
    frame = {"line": {"color": INK, "width": 2}}
    shapes = [
        frame | {"x0": at - 0.38, "x1": at + 0.38, "y0": y - 0.5, "y1": y + 0.5}
        for y in framed
        for at in map(stages.index, ends)
    ]
    return Plane(title, traces, across, up, tall=round(LINE * (below + 0.1)), layout={"shapes": shapes})


def told(state: MethodMapState) -> tuple[str, list[int], str, str]:
    """Of all methods ("") or of the fullest year: the rows, the stage that most of them change, and that the fewest."""
    from cselab_lab.lessons.pipeline_diff import STAGES

    named, rows = "", state.others
    if state.by == YEAR:
        named, rows = max(state.groups.items(), key=lambda group: len(group[1]))
    touched = state.touched(rows)
    most, least = (choose(STAGES, key=lambda stage: touched[stage]) for choose in (max, min))
    return named, rows, most, least


def answer(state: MethodMapState) -> str:
    """The title: how many methods change these two stages."""
    year, rows, most, least = told(state)
    touched = state.touched(rows)
    of = f"{year} has the most methods, {len(rows)}:" if year else f"Of {len(rows)} methods beside SimCSE,"
    return f"{of} {touched[most]} change the {most}, only {touched[least]} the {least}"


def _name(state: MethodMapState, row: int) -> str:
    """The title, which does not break."""
    card = state.cards[row]
    title = escape(card.title + ", the reference" * (not card.stages)).replace(" ", "\u00a0")
    return f"<b>\u2192\u00a0{title}</b>" if row in state.selection else title


def _pattern(card: "Card") -> list[bool]:
    """Methods that touch the same stages stand together, those that touch the data first."""
    from cselab_lab.lessons.pipeline_diff import STAGES

    return [stage not in card.stages for stage in STAGES]


def _hover(card: "Card", stage: str) -> str:
    words = textwrap.fill(f"{stage}: {card.stages[stage]}", 44)
    lines = [f"<b>{escape(card.title)}</b>", f"{card.family} {card.year}", *words.splitlines()]
    return "<br>".join([lines[0], *map(escape, lines[1:])])


def summary(state: MethodMapState) -> str:
    """A line a method: its stages, in words."""
    return "\n".join(map(str, state.cards))


def details(state: MethodMapState) -> str:
    """The methods that were clicked, stage by stage."""
    return "".join(
        f"<p><b>{escape(card.title)}</b> (<code>{escape(card.name)}</code>)</p><table>{_lines(card)}</table>"
        for card in (state.cards[row] for row in state.selection)
    )


def _lines(card: "Card") -> str:
    return "".join(f"<tr><th>{stage}</th><td>{escape(words)}</td></tr>" for stage, words in card.stages.items())


class MethodMap(Panel):
    """Where each method touches the pipeline: data, view, encoder, head, loss.

    A dot marks a stage at which a method differs from SimCSE. Click a dot to read the difference.

    Args:
        cards: as `cselab_lab.lessons.pipeline_diff.method_cards` returns them; by default of all methods, yours too.
        by: the methods of one "family" stand together, or those of one "year".
        key: see `Panel`.

    Raises:
        ValueError: no cards, or an unknown order.

    See also: `PaperVsOurs`, for the gains of the methods.

    >>> from cselab_lab.lessons.pipeline_diff import method_cards
    >>> MethodMap(method_cards(["simcse", "mixcse", "sr_bert"]))
    SimCSE | the baseline
    SR-BERT | view: changed texts
    MixCSE | loss: further negatives; weighted negatives
    """

    explain = staticmethod(
        lambda state: (
            "A large dot marks a difference from SimCSE; click it to read more. Numbers count the dots below. "
            "Data: the corpus. View: the encoder's input. Encoder: its networks. "
            "Head: the layers between vector and loss. Loss: which vectors are contrasted, and how."
        )
    )

    state_class = MethodMapState
    render = staticmethod(planes)
    alt_text = staticmethod(summary)
    details = staticmethod(details)

    def __init__(self, cards: Iterable["Card"] | None = None, by: str = FAMILY, key: str | None = None) -> None:
        if cards is None:
            from cselab_lab.lessons.pipeline_diff import method_cards

            cards = method_cards()
        super().__init__(MethodMapState(tuple(cards), by), key)

    @staticmethod
    def options(state: MethodMapState) -> dict[str, RowOptions]:
        """All methods."""
        rows: RowOptions = [(card.title, (row,)) for row, card in enumerate(state.cards)]
        return {"selection": row_options(rows, state.selection, "no method")}

    def items(self) -> Sequence[str]:
        return [card.name for card in self.state.cards]

    def to_frame(self) -> "pandas.DataFrame":
        """A line for each method: its name, title, family, year, and its change at each stage."""
        import pandas as pd
        from cselab_lab.lessons.pipeline_diff import STAGES

        return pd.DataFrame(
            [
                {"name": card.name, "title": card.title, "family": card.family, "year": card.year}
                | {stage: card.stages.get(stage, "") for stage in STAGES}
                for card in self.state.cards
            ]
        )
