"""Two sentences, and the part of their cosine that each pair of words has."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from cselab.encoders.any_encoder import as_encoder
from cselab.encoders.words import CosineParts, explain_cosine

from ..kit.fields import State, shown
from ..kit.panel import Panel
from ..kit.panel_vectors import all_described
from ..kit.planes import Plane, heatmap, written
from ..kit.remembered import remembered
from ..kit.theme import INK
from .pair_explorer import TYPED, typed_in

if TYPE_CHECKING:
    import pandas

KEY = "Each cell: the part of the cosine that a pair of words adds, in hundredths."
PALE = 0.75  # the opacity of cells, under their numbers
WITH_NUMBERS = 12  # words of a sentence: more leave a number no room
NO_COLOR = 1e6  # a limit so high that all is as pale as 0


@dataclass(frozen=True, eq=False)
class WordContributionsState(State):
    """Two sentences, and the encoder that is compared with the first.

    Attributes:
        encoders: name -> encoder.
        first, second: the sentences.
        after: the name of the encoder in the second plane.
    """

    encoders: Mapping[str, Any]
    first: str = typed_in("first sentence")
    second: str = typed_in("second sentence")
    after: str = shown("compare with", "list", "others", "")
    _known: dict[tuple, Any] = field(default_factory=dict, repr=False)

    @property
    def others(self) -> list[str]:
        """The content of the second plane; nothing for a single encoder."""
        return list(self.encoders)[1:] or [""]

    @remembered
    def parts(self, name: str, first: str, second: str) -> CosineParts:
        return explain_cosine(self.encoders[name], first, second)

    @property
    def drawn(self) -> dict[str, CosineParts]:
        """The parts of the cosine under the encoders that are shown."""
        names = filter(None, [next(iter(self.encoders)), self.after])
        return {name: self.parts(name, self.first, self.second) for name in names}


def planes(state: WordContributionsState) -> list[Plane]:
    """For each encoder a heat map of word pairs, in hundredths of the cosine, and the sums at its edges."""
    drawn = state.drawn
    exact = [parts.pairs for parts in drawn.values() if parts.pairs is not None]
    inside = 100 * max((np.abs(pairs).max() for pairs in exact), default=1)
    edge = 100 * max(np.abs([*parts.of_first, *parts.of_second]).max() for parts in drawn.values())
    planes = [_plane(number, *each, inside, edge) for number, each in enumerate(drawn.items())]
    least = min(0, *(100 * pairs.min() for pairs in exact))  # with it the scale begins
    shown = f"opacity: {PALE}; background-size: {200 * inside / (inside - least):.0f}%; background-position: right"
    key = f"<span>{least:.1f}</span><i style='{shown}'></i><span>+{inside:.1f}</span><span>{KEY}</span>"
    return [planes[0]._replace(key=key * bool(exact)), *planes[1:]]


def _plane(number: int, name: str, parts: CosineParts, inside: float, edge: float) -> Plane:
    n, m = len(parts.first), len(parts.second)
    first, second = [*map(escape, parts.first)], [*map(escape, parts.second)]
    rows, columns = [*first, "<b>all</b>"], [*second, "<b>all</b>"]
    pairs, sums = np.full((2, n + 1, m + 1), np.nan)
    sums[:n, m], sums[n, :m] = 100 * parts.of_first, 100 * parts.of_second
    if parts.pairs is not None:
        pairs[:n, :m] = 100 * parts.pairs
    else:  # one column, with a gap between the sentences
        rows, columns = [*first, "", *second], ["without the word, the cosine falls by"]
        sums = np.concatenate([sums[:, m], sums[n, :m]])[:, None]
        pairs = np.full_like(sums, np.nan)
    pairs[np.abs(pairs.round(2)) <= 0.05] = 0  # "0.0" has no colour
    traces = [
        heatmap(pairs.round(2), f"{number}: pairs", inside, "%{y} and %{x}: %{z:.1f}"),
        heatmap(sums.round(2), f"{number}: words", edge if parts.pairs is None else NO_COLOR, "%{y}, %{x}: %{z:.1f}"),
    ]
    for trace in traces:
        trace.update(
            xgap=1,
            ygap=1,
            opacity=PALE,
            texttemplate="%{z:.1f}" if max(n, m) <= WITH_NUMBERS or len(columns) == 1 else None,
        )
    bare = {"showline": False, "showgrid": False, "ticks": "", "ticklabelstandoff": 5, "fixedrange": True}
    width, height = ({**bare, "tickvals": list(range(len(words))), "ticktext": words} for words in (columns, rows))
    shapes = []
    if parts.pairs is not None:
        width["title"], height["title"] = (
            {"text": "words of the second sentence"},
            {"text": "words of the first sentence", "standoff": 12},
        )
        row, column = divmod(int(parts.pairs.argmax()), m)  # the cell that the title names
        ends = {"x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5}
        shapes.append({**ends, "line": {"color": INK, "width": 2.5}})
    corner = written([m], [n], [f"<b>{100 * parts.cosine:.1f}</b>"], f"{number}: cosine", "middle center")
    traces.append(corner.update(textfont_size=14, visible=bool(shapes)))
    title = f"{escape(name)}: cosine {parts.cosine:.2f}, {escape(top(parts))}"
    height |= {"autorange": "reversed", "automargin": True}
    return Plane(title, traces, {**width, "side": "top"}, height, layout={"shapes": shapes})


def top(parts: CosineParts) -> str:
    """The pair of words, or the word, with the largest part."""
    if parts.pairs is None:
        words, of_each = [*parts.first, *parts.second], [*parts.of_first, *parts.of_second]
        return f"{max(of_each):.2f} less without “{words[int(np.argmax(of_each))]}”"
    row, column = np.unravel_index(parts.pairs.argmax(), parts.pairs.shape)
    share = f"{parts.pairs.max():.3f} of it ({100 * parts.pairs.max() / parts.cosine:.0f}\u00a0%)"
    return f"{share} from “{parts.first[row]}” and “{parts.second[column]}”"


def summary(state: WordContributionsState) -> str:
    """The cosine under each encoder that is shown, and the part of each word."""
    lines = [f"{state.first} / {state.second}"]
    for name, parts in state.drawn.items():
        lines.append(f"{name}: cosine {parts.cosine:.3f}, {top(parts)}")
        for words, of_each in ((parts.first, parts.of_first), (parts.second, parts.of_second)):
            lines.append("  " + ", ".join(f"{word} {part:.3f}" for word, part in zip(words, of_each, strict=True)))
    return "\n".join(lines)


def explain(state: WordContributionsState) -> str:
    """The meaning of a cell."""
    if any(parts.pairs is None for parts in state.drawn.values()):
        return "This pooling has no exact sum. Each cell is the fall of the cosine without a word, in hundredths."
    return "All cells sum to the cosine, the number in the corner. Sums have no colour." + all_described(
        state.encoders[name] for name in state.drawn
    )


class WordContributions(Panel):
    """Where a cosine comes from: two sentences, and the part of their cosine that each pair of words has.

    In a plain encoder every pair of words has nearly the same part, and [CLS], [SEP] and the full stop have as much as
    any word. Subtract the mean, whiten or train, and the shared words dominate.

    Args:
        encoders: name -> an encoder, or an argument of `cselab.encoders.as_encoder`. The first is "before"; the
            list offers the rest. By default "mini" plain, centred and whitened.
        first, second: the sentences.
        after: the name of the encoder to compare the first with; by default the second.
        key: see `Panel`.

    Raises:
        ValueError: no encoder, an unknown name, an empty sentence.

    See also: `cselab.encoders.explain_cosine`, the numbers and their formula; `PairExplorer`, whether the cosines of
    graded pairs follow the grades.

    >>> print(WordContributions({"micro": "micro"}, "A cat sleeps.", "A cat is asleep.").summary()[:98])
    A cat sleeps. / A cat is asleep.
    micro: cosine 0.780, 0.071 of it (9\xa0%) from “sleeps” and “asleep”
    """

    state_class = WordContributionsState
    render = staticmethod(planes)
    alt_text = staticmethod(summary)
    explain = staticmethod(explain)

    def __init__(
        self,
        encoders: Mapping[str, Any] | None = None,
        first: str = TYPED[0],
        second: str = TYPED[1],
        after: str | None = None,
        key: str | None = None,
    ) -> None:
        if encoders is None:
            from cselab.evaluators import fitted

            mini = as_encoder("mini")
            after_it = {"mean subtracted": "centred", "whitened": "whitening"}
            encoders = {"mini": mini} | {name: fitted(mini, how, limit=1000) for name, how in after_it.items()}
        if not encoders:
            raise ValueError("encoders is empty; give at least one, such as {'plain': plain, 'SimCSE': run}.")
        opened = {str(name): as_encoder(given) for name, given in encoders.items()}
        after = [*opened, ""][1] if after is None else after
        super().__init__(WordContributionsState(opened, first, second, after), key)

    def to_frame(self) -> "pandas.DataFrame":
        """A line for each word under each encoder that is shown, and its part of the cosine."""
        import pandas as pd

        sides = [
            (name, words, of_each)
            for name, parts in self.state.drawn.items()
            for words, of_each in ((parts.first, parts.of_first), (parts.second, parts.of_second))
        ]
        return pd.concat([pd.DataFrame({"encoder": name, "word": words, "part": part}) for name, words, part in sides])
