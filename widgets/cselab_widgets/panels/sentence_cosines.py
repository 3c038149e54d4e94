"""Sentences that a reader types, and their cosines: the encoder is computed in the page, before training and after."""

import html
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from cselab.encoders.any_encoder import as_encoder
from cselab.encoders.encoder import SentenceEncoder, TruncationWarning, UntrainedPositionsWarning

from ..kit.carried_encoder import ENCODING, carried_encoders, weight_of
from ..kit.inputs import texts
from ..kit.page_panel import COMPUTING, CSS, PagePanel

if TYPE_CHECKING:
    import pandas

    from cselab.data import Pairs

HERE = Path(__file__).parent
TYPED = (
    "A cook is peeling an onion.",
    "The chef peels some onions.",
    "Nobody is peeling an onion.",
    "Parliament rejected the new tax.",
)
MOST = 8  # sentences

_IN_OUTPUT = """\
<style>{css}</style>
<div class="cselab-panel"><pre>{summary}</pre>
<p class="cselab-note">To type sentences of your own, run this cell in JupyterLab: the weights, {weight:.1f} MB, are not
kept with the notebook. <code>.to_html(path)</code> of this panel writes a page that has them and needs neither a kernel
nor a network.</p></div>"""


@dataclass(frozen=True)
class SentenceCosinesState:
    """What is typed.

    Attributes:
        sentences: one to eight, none of them blank.
        pair: the two that are looked at, by their numbers from 0; of a single sentence (0, 0).
    """

    sentences: Sequence[str] = TYPED
    pair: Sequence[int] = (0, 1)

    def __post_init__(self) -> None:
        typed = list(texts(self.sentences, "sentences"))
        if len(typed) > MOST:
            raise ValueError(f"sentences has {len(typed)} entries; there is room for {MOST}.")
        for row, text in enumerate(typed):
            if not text.strip() or "\n" in text:
                raise ValueError(f"sentences[{row}] is {text!r}; it must be one line, and not blank.")
        pair = [0, 0] if len(typed) == 1 else list(self.pair)
        if len(pair) != 2 or not all(row in range(len(typed)) for row in pair) or len(set(pair)) < min(2, len(typed)):
            raise ValueError(f"pair is {self.pair!r}; it must be two different numbers from 0 to {len(typed) - 1}.")
        object.__setattr__(self, "sentences", typed)
        object.__setattr__(self, "pair", pair)


class SentenceCosines(PagePanel):
    """Type sentences and see their cosines at once, before training and after: the encoder is computed in the page.

    Nothing that is typed leaves the page. Beside the table of cosines a pair stands among the cosines of graded pairs.

    What to try: a paraphrase, then a negation, then the same words with their roles exchanged; a sentence on something
    else; words that the encoder does not know. Which cosines does training lower, and which pair stays above most?

    Args:
        encoders: a `SentenceEncoder`, a finished run, or the name of one; or name -> any of these, such as
            {"plain": plain, "SimCSE": run}. BERTs without capitals, as "micro" and "mini" are, with any pooling but
            that of a prompt.
        sentences: what is typed in at first, one to eight.
        pairs: graded pairs to stand beside; 120 of the bundled world by default.
        pair: the two sentences that are looked at, by their numbers from 0.
        key: see `Panel`.

    Raises:
        TypeError: no `SentenceEncoder`.
        ValueError: an encoder that the page cannot compute, or too heavy for a page of 20 MB; no sentence, a blank one,
            too many.

    See also: `PairExplorer`, for any encoder and with components removed, but with a kernel.

    >>> print(SentenceCosines("micro", ["A cat sleeps.", "A cat is asleep."]))
    1: A cat sleeps.
    2: A cat is asleep.
    cosine of 1 and 2: 0.780 (micro)
    """

    modules = (*COMPUTING, *ENCODING, HERE / "sentence_cosines.js")
    mount = "mountSentenceCosines"
    holds = SentenceCosinesState

    def __init__(
        self,
        encoders: Any | Mapping[str, Any] = "micro",
        sentences: Sequence[str] = TYPED,
        pairs: "Pairs | None" = None,
        pair: Sequence[int] = (0, 1),
        key: str | None = None,
    ) -> None:
        if not isinstance(encoders, Mapping):
            name = encoders if isinstance(encoders, str) else getattr(encoders, "name", None)
            encoders = {name or "encoder": encoders}
        if not encoders:
            raise ValueError("encoders is empty; give at least one, such as {'plain': plain, 'SimCSE': run}.")
        state = SentenceCosinesState(sentences, pair)
        if pairs is None:
            from cselab.world import World

            pairs = World().sts(120, split="dev")
        self.encoders: dict[str, SentenceEncoder] = {str(name): as_encoder(given) for name, given in encoders.items()}
        carried = carried_encoders(self.encoders)
        sides = (np.split(self._encoded(name, pairs.sentences), 2) for name in self.encoders)
        cosines = [[round(float(one), 4) for one in (x * y).sum(1)] for x, y in sides]
        super().__init__(state, key, {**carried, "grades": list(map(float, pairs.scores)), "cosines": cosines})

    def _encoded(self, name: str, sentences: Sequence[str]) -> Float[np.ndarray, "n d"]:
        with warnings.catch_warnings():  # the page says both itself
            warnings.simplefilter("ignore", TruncationWarning)
            warnings.simplefilter("ignore", UntrainedPositionsWarning)
            vectors = self.encoders[name].encode(list(sentences))
        return np.asarray(vectors) / np.linalg.norm(vectors, axis=1, keepdims=True)

    def vectors(self) -> dict[str, Float[np.ndarray, "n d"]]:
        """The vectors of the sentences as Python computes them, by encoder, of length 1."""
        return {name: self._encoded(name, self.state.sentences) for name in self.encoders}

    def to_frame(self) -> "pandas.DataFrame":
        """A row for each pair of sentences, with its cosine under each encoder."""
        import pandas as pd

        vectors, typed = self.vectors(), self.state.sentences
        pairs = list(combinations(range(len(typed)), 2))
        columns = {"first": [typed[i] for i, _ in pairs], "second": [typed[j] for _, j in pairs]}
        return pd.DataFrame(columns | {name: [float(x[i] @ x[j]) for i, j in pairs] for name, x in vectors.items()})

    def summary(self) -> str:
        """The sentences, and the cosine of each pair under each encoder."""
        lines = [f"{number}: {text}" for number, text in enumerate(self.state.sentences, start=1)]
        vectors = self.vectors()
        for i, j in combinations(range(len(self.state.sentences)), 2):
            cosines = ", ".join(f"{x[i] @ x[j]:.3f} ({name})" for name, x in vectors.items())
            lines.append(f"cosine of {i + 1} and {j + 1}: {cosines}")
        return "\n".join(lines)

    def _in_output(self) -> str:
        """In words: megabytes of weights would make every notebook slow, and a page with several of them too heavy."""
        weight = weight_of(self.carried) / 1e6
        return _IN_OUTPUT.format(css=CSS, summary=html.escape(self.summary()), weight=weight)
