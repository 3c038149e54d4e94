"""Two sentences, typed by hand: their cosine under each encoder, among the cosines of graded pairs."""

import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from cselab.encoders.any_encoder import KnownVectors, as_encoder, encode
from cselab.encoders.encoder import TextWarning, UntrainedPositionsWarning

from ..kit.controls import RowOptions, row_options
from ..kit.fields import State, shown
from ..kit.panel import Panel
from ..kit.panel_vectors import all_described
from ..kit.planes import Plane, written
from ..kit.remembered import remembered
from ..kit.ridges import Bands, beaten, by_grade, cosine_limits, order_of, ridge_axes, ridges, row_cosines
from ..kit.theme import ANCHOR, encoder_colors
from .sentence_cosines import SentenceCosines

if TYPE_CHECKING:
    import pandas

    from cselab.data import Pairs
    from cselab.transforms import ComponentsRemoved

MOST_REMOVED = 10  # components that can be removed
REMOVED = {"nothing": 0, "the mean": 1, **{f"mean + {k}": k + 1 for k in range(1, MOST_REMOVED + 1)}}
BAND = 65  # pixels a ridge
EQUAL = 0.02  # medians that differ by less are equally near
OFFERED = 600  # pairs to choose from by keyboard; of more, so many evenly over the grades
TYPED = ("A cook is peeling an onion.", "The chef peels some onions.")
FURTHER = ("Nobody is peeling an onion.", "Parliament rejected the new tax.")


@dataclass(frozen=True, eq=False)
class PairData:
    """Encoders and graded pairs; costly parts are computed once, when they are first needed."""

    encoders: Mapping[str, Any]
    pairs: "Pairs"
    _known: dict[tuple, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def bands(self) -> Bands:
        """The pairs of each grade."""
        return by_grade(self.pairs.scores, self.pairs.subsets)

    @cached_property
    def hover(self) -> list[str]:
        kinds = self.pairs.subsets or [""] * len(self.pairs)
        rows = zip(self.pairs.sentences1, self.pairs.sentences2, self.pairs.scores, kinds, strict=True)
        return [
            f"{escape(one)}<br>{escape(two)}<br>grade {grade:g}" + (f", {escape(kind)}" if kind else "")
            for one, two, grade, kind in rows
        ]

    @cached_property
    def grades(self) -> dict[tuple[str, str], float]:
        """The grade of each of the pairs."""
        pairs = self.pairs
        return dict(zip(zip(pairs.sentences1, pairs.sentences2, strict=True), pairs.scores, strict=True))

    @cached_property
    def offered(self) -> RowOptions:
        """Pairs to choose from, the highest grade first; of many, `count` evenly over the grades."""
        pairs = self.pairs
        by_grade = np.argsort(-np.asarray(pairs.scores, dtype=float), kind="stable")
        places = np.linspace(0, len(pairs) - 1, min(len(pairs), OFFERED)).round().astype(int)
        sides = pairs.sentences1, pairs.sentences2
        return [
            (f"grade {pairs.scores[row]:g}: {' / '.join(shorten(side[row], 50) for side in sides)}", (row,))
            for row in by_grade[places].tolist()
        ]

    @remembered
    def sides(self, encoder: str) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "n d"]]:
        """The vectors of both sides of all pairs."""
        vectors = encode(self.encoders[encoder], self.pairs.sentences).astype(np.float32)
        return vectors[: len(self.pairs)], vectors[len(self.pairs) :]

    @remembered
    def removal(self, encoder: str) -> "ComponentsRemoved":
        """Mean and main components of the pairs' sentences."""
        from cselab.transforms import ComponentsRemoved

        vectors = np.concatenate(self.sides(encoder))
        return ComponentsRemoved(min(MOST_REMOVED, vectors.shape[1])).fit(vectors)

    @cached_property
    def places(self) -> dict[str, tuple[int, int]]:
        """Side and row of each of the pairs' sentences."""
        sides = enumerate((self.pairs.sentences1, self.pairs.sentences2))
        return {text: (side, row) for side, texts in sides for row, text in enumerate(texts)}

    @remembered
    def vector(self, encoder: str, sentence: str) -> Float[np.ndarray, " d"]:
        if sentence in self.places:  # of the pairs all are known
            side, row = self.places[sentence]
            return self.sides(encoder)[side][row]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TextWarning)  # the panel says so itself, see `remark`
            warnings.simplefilter("ignore", UntrainedPositionsWarning)
            return encode(self.encoders[encoder], [sentence])[0].astype(np.float32)

    def remark(self, encoder: str, sentence: str) -> str:
        """The parts of a sentence that the encoder ignores: tokens beyond its longest input, unknown words."""
        reader = self.encoders[encoder]
        reader = getattr(reader, "encoder", reader)  # behind a transform
        if not hasattr(reader, "tokenizer"):
            return ""
        tokens = reader.tokenizer(sentence, add_special_tokens=False, verbose=False)["input_ids"]
        longest = reader.max_length - reader.tokenizer.num_special_tokens_to_add()
        unknown = tokens[:longest].count(reader.tokenizer.unk_token_id)
        cut = f"encodes {longest} of {len(tokens)} tokens; the rest is truncated"
        alike = f"has no vocabulary for {unknown} of {len(tokens)} tokens, so all of them become one unknown token"
        return "; ".join([cut] * (len(tokens) > longest) + [alike] * (unknown > 0))

    def without(self, encoder: str, vectors: Float[np.ndarray, "n d"], removed: int) -> Float[np.ndarray, "n d"]:
        """Vectors without the mean (`removed` 1) and `removed` - 1 components (2 and more); 0: as they are."""
        if removed == 0:
            return vectors
        fitted = self.removal(encoder)
        centred, axes = vectors - fitted.mean_, fitted.components_[:, : removed - 1]
        return centred - centred @ axes @ axes.T

    @remembered
    def cosines(self, encoder: str, removed: int) -> Float[np.ndarray, " n"]:
        """The cosine of each pair."""
        return row_cosines(*(self.without(encoder, side, removed) for side in self.sides(encoder)))


def typed_in(name: str) -> Any:
    """A field for a sentence."""
    return shown(name, "text", placeholder=name, layout={"flex": "1 1 20em", "width": "auto"})


@dataclass(frozen=True, eq=False)
class PairExplorerState(State):
    """Two sentences, and how they are looked at.

    Attributes:
        first, second: the typed sentences.
        selection: the pairs that were picked out.
        removed: 0: vectors as they are; 1: the mean is removed; k + 1: the mean and the first k components.
    """

    data: PairData
    first: str = typed_in("first sentence")
    second: str = typed_in("second sentence")
    selection: tuple[int, ...] = shown(
        "pair", "rows", (), (), width="30em", tooltip="a graded pair, the highest grades first"
    )
    removed: int = shown("remove", "labelled", tuple(REMOVED.items()), 0)

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            if not getattr(self, name).strip():
                raise ValueError(f"the {name} sentence is empty; type one.")
        super().__post_init__()

    def cosine(self, encoder: str) -> float:
        """The cosine of the typed pair."""
        typed = np.stack([self.data.vector(encoder, text.strip()) for text in (self.first, self.second)])
        one, two = self.data.without(encoder, typed, self.removed)
        return float(row_cosines(one[None], two[None])[0])

    @property
    def remarks(self) -> list[str]:
        """The parts of the typed sentences that encoders ignore, a line each."""
        remarks = {
            f"{name} sentence: {encoder} {remark}"
            for name in ("first", "second")
            for encoder in self.data.encoders
            if (remark := self.data.remark(encoder, getattr(self, name).strip()))
        }
        return sorted(remarks)


def planes(state: PairExplorerState) -> list[Plane]:
    """For each encoder the cosines of the graded pairs as ridges, and the typed pair as a line across them."""
    data, bands, drawn = state.data, state.data.bands, []
    hills = {
        encoder: ridges(data.cosines(encoder, state.removed), bands, encoder, data.hover, color, near(state, encoder))
        for encoder, color in encoder_colors(data.encoders).items()
    }
    typed = [state.cosine(encoder) for encoder in hills]
    limits = cosine_limits(bands, *(data.cosines(encoder, state.removed) for encoder in hills), also=typed)
    for encoder, traces in hills.items():
        across, up = ridge_axes(bands, limits)
        named = [f"grade {name}{_of_grade(state, encoder, at)}" for at, name in enumerate(bands.names)]
        up |= {"range": [-0.35, len(bands) + 0.3], "title": {}, "ticktext": named}  # room for "your pair"
        told = [*map("{:.2f}".format, medians(state, encoder)), "median"]
        traces += _typed(encoder, state.cosine(encoder), len(bands))
        traces.append(written([limits[1]] * len(told), [*range(len(told))], told, f"{encoder}: numbers"))
        tall = max(300, BAND * len(bands))
        drawn.append(Plane(answer(state, encoder), traces, across, up, tall=tall, words=order(state, encoder)))
    return drawn


def answer(state: PairExplorerState, encoder: str) -> str:
    """The cosine of the typed pair, and the grades whose medians are nearest."""
    names = [state.data.bands.names[at] for at in near(state, encoder)]
    grades = f"grade{'s' * (len(names) > 1)} {' and '.join(names)}"
    return escape(f"{encoder}: your pair has {state.cosine(encoder):.2f}, nearest to {grades}")


def near(state: PairExplorerState, encoder: str) -> list[int]:
    """The grades whose medians are nearest to the typed pair."""
    away = np.abs(np.array(medians(state, encoder)) - state.cosine(encoder))
    return np.flatnonzero(away < away.min() + EQUAL).tolist()


def order(state: PairExplorerState, encoder: str) -> str:
    """The grade of the typed pair if it is known; the grade whose cosines lie above those of most higher grades."""
    grade = state.data.grades.get((state.first, state.second))
    told = order_of(state.data.cosines(encoder, state.removed), state.data.bands)
    return ("" if grade is None else f"Your pair deserves grade {grade:g}. ") + escape(told[0].upper() + told[1:]) + "."


def _of_grade(state: PairExplorerState, encoder: str, at: int) -> str:
    """The words after a grade: its meaning, or the commonest kinds of its pairs where it is out of order."""
    bands = state.data.bands
    if at in (0, len(bands) - 1):
        return ": same meaning" if at else ": unrelated"
    if not bands.kinds or not beaten(state.data.cosines(encoder, state.removed), bands, at):
        return ""
    return f": {escape(bands.kinds[at])}"


def medians(state: PairExplorerState, encoder: str) -> list[float]:
    """The median cosine of each grade."""
    cosines = state.data.cosines(encoder, state.removed)
    return [float(np.median(cosines[rows])) for rows in state.data.bands.rows]


def explain(state: PairExplorerState) -> str:
    """The explanation of the picture."""
    return (
        "A hill has the pairs of one grade. Under a good encoder its large dot, the median, lies right of the dot "
        "below. Click a small dot to load its pair." + all_described(state.data.encoders.values())
    )


def details(state: PairExplorerState) -> str:
    """The words that are not read."""
    return "".join(f"<p><b>{escape(remark)}</b></p>" for remark in state.remarks)


class PairExplorer(Panel):
    """Type two sentences: their cosine under each encoder, among the cosines of pairs graded by people or a grammar.

    Try a paraphrase, then a negation, then the same words with their roles exchanged; then remove the mean. A click
    on a dot loads its pair; by keyboard it is chosen from a list.

    Args:
        encoders: an encoder, a finished run, the name of an encoder, or an argument of `cselab.encoders.as_encoder`,
            an array with a row for each of `pairs.sentences` among it; or name -> any of these, several to compare,
            such as {"plain": plain, "whitened": fitted(plain, "whitening"), "SimCSE": run}. The bundled "micro" and
            "mini" by default.
        pairs: graded pairs, with their kinds as `subsets` where they have any; 600 of the bundled world by default.
        first, second: the sentences at first; the first pair where only vectors of the pairs are known.
        removed: subtracted from all vectors: 0 nothing, 1 the mean, k + 1 the mean and the first k principal
            components of the pairs' sentences (Mu and Viswanath 2018).
        key: see `Panel`.

    Raises:
        ValueError: no encoder, fewer than 12 pairs, an empty sentence, `removed` not allowed.

    See also: `in_page`, the view that needs no kernel; `EmbeddingMap`, for many sentences at once.

    >>> print(PairExplorer("micro").in_page(["A cat sleeps.", "A cat is asleep."]))
    1: A cat sleeps.
    2: A cat is asleep.
    cosine of 1 and 2: 0.780 (micro)
    """

    state_class = PairExplorerState
    render = staticmethod(planes)
    explain = staticmethod(explain)
    details = staticmethod(details)

    def __init__(
        self,
        encoders: Any | Mapping[str, Any] = None,
        pairs: "Pairs | None" = None,
        first: str | None = None,
        second: str | None = None,
        key: str | None = None,
        **shown: Any,
    ) -> None:
        if encoders is None:
            encoders = {"micro": "micro", "mini": "mini"}
        if not isinstance(encoders, Mapping):
            name = encoders if isinstance(encoders, str) else getattr(encoders, "name", None)
            encoders = {name or "encoder": encoders}
        if not encoders:
            raise ValueError("encoders is empty; give at least one, such as {'plain': plain, 'SimCSE': run}.")
        if pairs is None:
            from cselab.world import World

            pairs = World().sts(600, split="dev")
        if len(pairs) < 12:
            raise ValueError(f"pairs has {len(pairs)} rows; a distribution needs at least 12.")
        encoders = {str(name): as_encoder(given, pairs.sentences) for name, given in encoders.items()}
        typed: Sequence[str] = TYPED
        if any(isinstance(encoder, KnownVectors) for encoder in encoders.values()):
            typed = pairs.sentences1[0], pairs.sentences2[0]
        first, second = (own if given is None else given for given, own in zip((first, second), typed, strict=True))
        super().__init__(PairExplorerState(PairData(encoders, pairs), first, second, **shown), key)

    def in_page(
        self, sentences: Sequence[str] | None = None, pair: Sequence[int] = (0, 1), key: str | None = None
    ) -> SentenceCosines:
        """The view in which sentences are typed without a kernel: the page computes the encoders itself.

        It shows the table of cosines under each encoder, and where a pair lies among the graded ones. Nothing that is
        typed leaves the page. `to_html(path)` writes it as one file.

        Args:
            sentences: the sentences at first, one to eight; by default the two typed here and two more.
            pair: the two that are looked at, by their numbers from 0.
            key: see `Panel`.

        Raises:
            TypeError: an encoder that is no `SentenceEncoder`.
            ValueError: an encoder that the page cannot compute (it computes BERTs without capitals, as "micro" and
                "mini" are, with any pooling but that of a prompt), or too heavy for a page of 20 MB; no sentence, a
                blank one, too many.
        """
        typed = (self.state.first, self.state.second, *FURTHER) if sentences is None else sentences
        return SentenceCosines(self.state.data, typed, pair, key)

    @staticmethod
    def options(state: PairExplorerState) -> dict[str, RowOptions]:
        """The pairs, from the highest grade down."""
        return {"selection": row_options(state.data.offered, state.selection, "typed by hand")}

    def page_values(self) -> dict[str, Sequence[Any]]:
        """A pair of each grade or so: every one of them makes the picture anew."""
        rows = [value for _, value in self.options(self.state)["selection"]]
        return {"selection": rows[:: -(-len(rows) // 6)], "removed": (0, 1, 3, MOST_REMOVED + 1)}

    def _changed(self, changes: Mapping[str, Any]) -> PairExplorerState:
        """One pair alone that is selected is loaded into the text boxes."""
        state, pairs = super()._changed(changes), self.state.data.pairs
        if len(changes.get("selection", ())) != 1 or {"first", "second"} & changes.keys():
            return state
        (row,) = state.selection
        return replace(state, first=pairs.sentences1[row], second=pairs.sentences2[row])

    def clicked(self, row: int) -> None:
        """Load the pair into the text boxes, also where it was loaded before and then changed by hand."""
        self.set(selection=(row,))

    def items(self) -> Sequence[Hashable]:
        pairs = self.state.data.pairs
        return list(zip(pairs.sentences1, pairs.sentences2, strict=True))

    def to_frame(self) -> "pandas.DataFrame":
        """A row for each graded pair, with its current cosine under each encoder."""
        import pandas as pd

        data = self.state.data
        pairs = data.pairs
        columns: dict[str, Any] = {"sentence1": pairs.sentences1, "sentence2": pairs.sentences2, "grade": pairs.scores}
        if pairs.subsets:
            columns["kind"] = pairs.subsets
        return pd.DataFrame(columns | {encoder: data.cosines(encoder, self.state.removed) for encoder in data.encoders})


def _typed(encoder: str, cosine: float, bands: int) -> list[go.Scatter]:
    """The typed pair as a line with its name on top."""
    line = go.Scatter(
        x=[round(cosine, 4)] * 2,
        y=[-0.25, bands - 0.05],
        uid=f"{encoder}: your pair",
        mode="lines",
        line={"color": ANCHOR, "width": 3},
        hovertemplate=f"your pair: {cosine:.3f}<extra></extra>",
    )
    return [line, written(line.x[:1], line.y[1:], ["<b>your pair</b>"], f"{encoder}: its name", "top left")]
