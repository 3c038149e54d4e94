"""Methods on the pipeline: at which stages each does something that SimCSE does not."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
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

ALL = "all"
LINE = 17  # pixels a method


@dataclass(frozen=True, eq=False)
class MethodMapState(State):
    """The methods, and which are shown.

    Attributes:
        cards: as `cselab_lab.lessons.pipeline_diff.method_cards` returns them.
        family: those of one family, or "all".
        selection: rows of `cards` that were clicked; they are told in words.
    """

    cards: Sequence["Card"]
    family: str = shown("family", "list", "families", ALL)
    selection: tuple[int, ...] = shown("read about", "rows", (), ())

    def __post_init__(self) -> None:
        if not self.cards:
            raise ValueError("cards is empty: give the result of cselab_lab.lessons.pipeline_diff.method_cards().")
        super().__post_init__()

    @property
    def families(self) -> list[str]:
        return [ALL, *dict.fromkeys(card.family for card in self.cards)]

    @property
    def shown(self) -> list[int]:
        """Rows of `cards`, the first on top."""
        return [row for row, card in enumerate(self.cards) if self.family in (ALL, card.family)]

    @property
    def touched(self) -> Counter[str]:
        """At each stage, how many of the methods shown do something."""
        return Counter(stage for row in self.shown for stage in self.cards[row].stages)


def planes(state: MethodMapState) -> list[Plane]:
    """A line for each method below its family, a column for each stage; a dot where the method touches the stage."""
    from cselab_lab.lessons.pipeline_diff import STAGES

    from cselab.methods import FAMILIES

    stages, shown = list(STAGES), state.shown
    colors = dict(zip([*FAMILIES][1:], PALETTE, strict=True))  # the baseline has no dots
    place: dict[int, float] = {}
    heads: dict[str, float] = {}
    below = 0
    for family in state.families[1:]:
        rows = sorted((row for row in shown if state.cards[row].family == family), key=lambda row: _pattern(state, row))
        if rows:
            heads[family], below = -below - 0.2, below + 1
        for row in rows:
            place[row], below = -below, below + 1
    traces = [
        go.Scatter(
            x=list(range(len(stages))), y=[1.6] * len(stages), uid="pipeline", mode="lines+markers+text",
            text=[str(state.touched[stage]) for stage in stages], textposition="bottom center",
            marker={"symbol": "triangle-right", "size": 11, "color": INK}, line={"color": INK, "width": 1.5},
            hovertext=[f"<b>{stage}</b><br>{escape(words)}" for stage, words in STAGES.items()],
            hovertemplate="%{hovertext}<extra></extra>",
        ),
    ]  # fmt: skip
    for family in state.families[1:]:
        dots = [(row, stage) for row in shown if state.cards[row].family == family for stage in state.cards[row].stages]
        traces.append(
            go.Scatter(
                x=[stages.index(stage) for _, stage in dots],
                y=[place[row] for row, _ in dots],
                customdata=[row for row, _ in dots],
                text=[_hover(state.cards[row], stage) for row, stage in dots],
                hovertemplate="%{text}<extra></extra>", uid=family, name=family, mode="markers",
                marker={"size": 11, "color": colors.get(family)},
                showlegend=False,
            )
        )  # fmt: skip
    ticks = [(at, _name(state, row)) for row, at in place.items()]
    ticks += [(at, f"<b>{escape(family)}</b>") for family, at in heads.items()]
    bare = {"showline": False, "ticks": ""}
    across = {"tickvals": list(range(len(stages))), "ticktext": stages, "range": [-0.5, len(stages) - 0.5],
              "side": "top", "fixedrange": True, **bare}  # fmt: skip
    up = {"tickvals": [at for at, _ in ticks], "ticktext": [text for _, text in ticks], "range": [0.3 - below, 2.2],
          "automargin": True, **bare}  # fmt: skip
    return [Plane(answer(state), traces, across, up, tall=LINE * (below + 2))]


def answer(state: MethodMapState) -> str:
    """At which stage most of the methods shown do something."""
    most = [f"{count} touch the {stage}" for stage, count in state.touched.most_common(2)]
    return f"Of {len(state.shown)} methods {' and '.join(most) or 'none touches the pipeline'}"


def _name(state: MethodMapState, row: int) -> str:
    title = escape(state.cards[row].title)
    return f"<b>\u2192 {title}</b>" if row in state.selection else title


def _pattern(state: MethodMapState, row: int) -> list[bool]:
    """Methods that touch the same stages stand together, those that touch the data first."""
    from cselab_lab.lessons.pipeline_diff import STAGES

    return [stage not in state.cards[row].stages for stage in STAGES]


def _hover(card: "Card", stage: str) -> str:
    return f"<b>{escape(card.title)}</b>, {escape(card.family)}<br>{stage}: {escape(card.stages[stage])}"


def summary(state: MethodMapState) -> str:
    """A line a method: its stages, in words."""
    return "\n".join(str(state.cards[row]) for row in state.shown)


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
        family: only those of one family.
        key: see `Panel`.

    Raises:
        ValueError: no cards, an unknown family.

    See also: `PaperVsOurs`, for the gains of the methods.

    >>> from cselab_lab.lessons.pipeline_diff import method_cards
    >>> MethodMap(method_cards(["simcse", "mixcse", "sr_bert"]))
    SimCSE | the baseline
    SR-BERT | view: changed texts
    MixCSE | loss: further negatives; weighted negatives
    """

    explain = staticmethod(
        lambda state: "A dot marks a difference from SimCSE. Point at the dot, or click it, to read the difference."
    )

    state_class = MethodMapState
    render = staticmethod(planes)
    alt_text = staticmethod(summary)
    details = staticmethod(details)

    def __init__(self, cards: Iterable["Card"] | None = None, family: str = ALL, key: str | None = None) -> None:
        if cards is None:
            from cselab_lab.lessons.pipeline_diff import method_cards

            cards = method_cards()
        super().__init__(MethodMapState(tuple(cards), family), key)

    @staticmethod
    def options(state: MethodMapState) -> dict[str, RowOptions]:
        """The methods of the family."""
        rows: RowOptions = [(state.cards[row].title, (row,)) for row in state.shown]
        return {"selection": row_options(rows, state.selection, "no method")}

    def items(self) -> Sequence[str]:
        return [card.name for card in self.state.cards]

    def to_frame(self) -> "pandas.DataFrame":
        """A line for each method: its name, title, family, and its change at each stage."""
        import pandas as pd
        from cselab_lab.lessons.pipeline_diff import STAGES

        return pd.DataFrame(
            [
                {"name": card.name, "title": card.title, "family": card.family}
                | {stage: card.stages.get(stage, "") for stage in STAGES}
                for card in self.state.cards
            ]
        )
