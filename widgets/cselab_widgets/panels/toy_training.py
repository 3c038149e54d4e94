"""SimCSE live: a bag of words in 8 dimensions is trained in the page, under the reader's hand."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cselab.data import Pairs
from cselab.world import World

from ..kit.inputs import texts
from ..kit.page_panel import COMPUTING, PagePanel

if TYPE_CHECKING:
    import pandas

HERE = Path(__file__).parent
TOY_LOSSES = (
    "InfoNCE",
    "Focal-InfoNCE",
    "off-dropout",
    "multi-positive",
    "whitening",
    "InfoNCE + dimension-wise",
    "Barlow Twins",
)
WORD = re.compile(r"\w+")
BEYOND_WORDS = (
    "same words",
    "shared words",
    "roles",
    "negation",
    "opposite",
)  # kinds of pairs, blind to a bag of words


@dataclass(frozen=True)
class ToyTrainingState:
    """Sentences as numbers of words, the settings of the next run, and the runs so far.

    Attributes:
        words: the number of different words.
        sentences: to train on, each the numbers of its words.
        first, second, grades: graded pairs to measure with; grades of 4 and more are close.
        loss: of `TOY_LOSSES`.
        temperature: divides the cosines.
        noise: the probability that dropout removes an entry of a word's vector.
        batch: sentences a step.
        artificial: rows of standard normal numbers beneath both views, for Barlow Twins.
        seed: of the untrained vectors, the batches and the noise.
        runs: each its settings and its history, the oldest first.
    """

    words: int
    sentences: Sequence[Sequence[int]]
    first: Sequence[Sequence[int]]
    second: Sequence[Sequence[int]]
    grades: Sequence[float]
    loss: str = "InfoNCE"
    temperature: float = 0.1
    noise: float = 0.1
    batch: int = 16
    artificial: int = 0
    seed: int = 0
    runs: Sequence[Mapping[str, Any]] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "runs", list(self.runs))
        if self.loss not in TOY_LOSSES:
            raise ValueError(f"loss is {self.loss!r}; expected one of {', '.join(map(repr, TOY_LOSSES))}.")
        if not 0 < self.temperature < float("inf"):
            raise ValueError(f"temperature is {self.temperature}; expected a positive value.")
        if not 0 <= self.noise < 1:
            raise ValueError(f"noise is {self.noise}; expected a probability of 0 or more, below 1.")
        if not 2 <= self.batch <= len(self.sentences):
            raise ValueError(f"batch is {self.batch}; expected 2 to {len(self.sentences)}, the number of sentences.")
        if self.artificial < 0:
            raise ValueError(f"artificial is {self.artificial}; expected 0 or more.")
        if max(self.grades, default=0) < 4:
            raise ValueError("no pair has a grade of 4 or more, but alignment needs such pairs.")


def summary(state: ToyTrainingState) -> str:
    """The data of training, and where each run ended."""
    lines = [
        f"{len(state.sentences)} sentences of {state.words} words in 8 dimensions, {len(state.grades)} graded pairs; "
        f"next: {state.loss}, temperature {state.temperature:g}, noise {state.noise:g}, batch {state.batch}"
    ]
    for run in state.runs:
        settings, last = run["settings"], run["history"][-1]
        lines.append(
            f"  {settings['loss']}, temperature {settings['temperature']:g}, noise {settings['noise']:g}, batch "
            f"{settings['batch']}: Spearman {last['spearman']:.3f} at step {last['step']}"
        )
    return "\n".join(lines)


class ToyTraining(PagePanel):
    """A toy encoder that SimCSE trains while you watch, with the earlier runs.

    The encoder is a bag of words: a sentence is the mean of its words' vectors in 8 dimensions, which start in a cone.
    Its noise is dropout on these vectors, a new mask for each view. A run is 400 steps of Adam.

    Try: noise 0, 0.1 and 0.5 under InfoNCE at temperature 0.05, then under off-dropout; Barlow Twins with a
    batch of 4, then with 16 artificial rows (the rank bottleneck); temperature 1 and 0.05.

    Args:
        pairs: graded pairs to measure with, some of grade 4 or more. By default pairs of the bundled world, without the
            kinds that a bag of words cannot tell: roles exchanged, negation, words shared by chance.
        sentences: to train on, without grades; by default those of the pairs.
        loss, temperature, noise, batch, artificial, seed: see `ToyTrainingState`. Focal-InfoNCE has m = 0.3,
            off-dropout m = 0.9; whitening has four shuffled groups of two channels; the dimension-wise loss has the
            weight 0.1 and 5 times the temperature; Barlow Twins weighs entries off the diagonal by 0.1.
        key: see `Panel`.

    Raises:
        ValueError: an unknown loss, a number out of range, sentences without words, no close pairs.

    See also: `TrainingMonitor`, for a real encoder; `NoiseLab` and `RankLab`, for its noise and its rank.

    >>> print(ToyTraining())
    284 sentences of 824 words in 8 dimensions, 142 graded pairs; next: InfoNCE, temperature 0.1, noise 0.1, batch 16
    """

    modules = (*COMPUTING, HERE / "toy_encoder.js", HERE / "toy_training.js")
    mount = "mountToyTraining"
    state_class = ToyTrainingState
    alt_text = staticmethod(summary)

    def __init__(
        self,
        pairs: Pairs | None = None,
        sentences: Sequence[str] | None = None,
        *,
        loss: str = "InfoNCE",
        temperature: float = 0.1,
        noise: float = 0.1,
        batch: int = 16,
        artificial: int = 0,
        seed: int = 0,
        key: str | None = None,
    ) -> None:
        pairs = pairs or _pairs_for_words(192)
        sentences = pairs.sentences if sentences is None else sentences
        numbers: dict[str, int] = {}
        sides = (texts(sentences, "sentences", at_least=2), pairs.sentences1, pairs.sentences2)
        train, first, second = ([_numbered(text, numbers) for text in side] for side in sides)
        state = ToyTrainingState(
            len(numbers), train, first, second, list(map(float, pairs.scores)), loss, temperature, noise, batch,
            artificial, seed,
        )  # fmt: skip
        super().__init__(state, key)

    def to_frame(self) -> "pandas.DataFrame":
        """A row for each measured step of each run: the run's number, its settings, loss and geometry."""
        import pandas as pd

        rows = [
            {"run": number, **run["settings"], **{"loss of the batch" if k == "loss" else k: v for k, v in row.items()}}
            for number, run in enumerate(self.state.runs)
            for row in run["history"]
        ]
        return pd.DataFrame(rows)


def _pairs_for_words(n: int) -> Pairs:
    """Pairs of the world whose grade shows in their words."""
    pairs = World().sts(n, split="train")
    kept = [row for row, kind in enumerate(pairs.subsets or ()) if kind not in BEYOND_WORDS]
    return Pairs(
        [pairs.sentences1[row] for row in kept],
        [pairs.sentences2[row] for row in kept],
        [pairs.scores[row] for row in kept],
        name="world-sts",
    )


def _numbered(text: str, numbers: dict[str, int]) -> list[int]:
    """The words of a text by their numbers; a new word takes the next one."""
    numbered = [numbers.setdefault(word, len(numbers)) for word in WORD.findall(text.lower())]
    if not numbered:
        raise ValueError(f"{text!r} has no words; a bag of words needs one at least.")
    return numbered
