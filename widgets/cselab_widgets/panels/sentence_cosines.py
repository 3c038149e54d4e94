"""Sentences that a reader types, and their cosines: the encoder is computed in the page, before training and after."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from ..kit.carried_encoder import ENCODING, carried_encoders, weight_of
from ..kit.inputs import texts
from ..kit.page_panel import COMPUTING, CSS, PagePanel

if TYPE_CHECKING:
    import pandas

HERE = Path(__file__).parent
MOST = 8  # sentences

_IN_OUTPUT = """\
<style>{css}</style>
<div class="cselab-panel"><pre>{summary}</pre>
<p class="cselab-note">To type your own sentences, run this cell in JupyterLab: the weights, {weight:.1f} MB, are not
kept with the notebook. <code>.to_html(path)</code> of this panel writes a page that has them and needs neither a kernel
nor a network.</p></div>"""


@dataclass(frozen=True)
class SentenceCosinesState:
    """The typed sentences.

    Attributes:
        sentences: one to eight, none of them blank.
        pair: the two that are looked at, by their numbers from 0; of a single sentence (0, 0).
    """

    sentences: Sequence[str]
    pair: Sequence[int]

    def __post_init__(self) -> None:
        typed = list(texts(self.sentences, "sentences"))
        if len(typed) > MOST:
            raise ValueError(f"sentences has {len(typed)} entries; expected at most {MOST}.")
        for row, text in enumerate(typed):
            if not text.strip() or "\n" in text:
                raise ValueError(f"sentences[{row}] is {text!r}; expected one line, and not blank.")
        pair = [0, 0] if len(typed) == 1 else list(self.pair)
        if len(pair) != 2 or not all(row in range(len(typed)) for row in pair) or len(set(pair)) < min(2, len(typed)):
            raise ValueError(f"pair is {self.pair!r}; expected two different numbers from 0 to {len(typed) - 1}.")
        object.__setattr__(self, "sentences", typed)
        object.__setattr__(self, "pair", pair)


class SentenceCosines(PagePanel):
    """PairExplorer's view of typed sentences, in which the page computes the encoders; see `PairExplorer.in_page`."""

    modules = (*COMPUTING, *ENCODING, HERE / "sentence_cosines.js")
    mount = "mountSentenceCosines"
    state_class = SentenceCosinesState

    def __init__(self, data: Any, sentences: Sequence[str], pair: Sequence[int], key: str | None = None) -> None:
        self.data = data
        cosines = [[round(float(one), 4) for one in data.cosines(name, 0)] for name in data.encoders]
        carried = {**carried_encoders(data.encoders), "grades": list(map(float, data.pairs.scores)), "cosines": cosines}
        super().__init__(SentenceCosinesState(sentences, pair), key, carried)

    def vectors(self) -> dict[str, Float[np.ndarray, "n d"]]:
        """The vectors of the sentences as Python computes them, by encoder, of length 1."""
        typed, data = self.state.sentences, self.data
        found = {name: np.stack([data.vector(name, text) for text in typed]) for name in data.encoders}
        return {name: rows / np.linalg.norm(rows, axis=1, keepdims=True) for name, rows in found.items()}

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
