"""SimCSE live: a bag of words in 8 dimensions learns topics and the reader's sentences, under the reader's hand."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from cselab.world import World
from cselab.world.frames import Frame

from ..kit.inputs import texts
from ..kit.page_panel import COMPUTING, PagePanel
from ..kit.theme import PALETTE

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
TOPICS = ("cooking", "music", "politics", "animals", "sport", "weather")
DRAWN, KEPT, OFTEN, SHORT = 6000, 130, 3, 40  # sentences; of a topic; of a word among these; characters
TYPED = (
    "The chef boiled the potatoes.",
    "A cook is peeling a carrot.",
    "The parliament voted for the budget.",
    "The potatoes boiled the chef.",
)


@dataclass(frozen=True)
class ToyTrainingState:
    """The sentences, the settings of the next run, and the runs so far.

    Attributes:
        sentences: to train on.
        topics: the topic of each sentence; the training does not see it.
        typed: the reader's sentences, at most four; the training sees them, too.
        loss: of `TOY_LOSSES`.
        temperature: divides the cosines.
        noise: the probability that dropout removes an entry of a word's vector.
        batch: sentences a step.
        artificial: rows of standard normal numbers beneath both views, for Barlow Twins.
        seed: of the untrained vectors, the batches and the noise.
        runs: each its settings and its history, the oldest first.
    """

    sentences: Sequence[str]
    topics: Sequence[str]
    typed: Sequence[str] = TYPED
    loss: str = "InfoNCE"
    temperature: float = 0.5
    noise: float = 0.5
    batch: int = 32
    artificial: int = 0
    seed: int = 0
    runs: Sequence[Mapping[str, Any]] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "runs", list(self.runs))
        object.__setattr__(self, "typed", list(self.typed))
        if len(self.topics) != len(self.sentences):
            raise ValueError(
                f"topics has {len(self.topics)} entries for {len(self.sentences)} sentences; expected as many."
            )
        if not 2 <= (different := len(set(self.topics))) <= len(PALETTE):
            raise ValueError(f"topics has {different} different values; expected 2 to {len(PALETTE)}, a colour each.")
        if len(self.typed) > len(TYPED):
            raise ValueError(f"typed has {len(self.typed)} sentences; expected at most {len(TYPED)}.")
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


def summary(state: ToyTrainingState) -> str:
    """The data of training, and where each run ended."""
    lines = [
        f"{len(state.sentences)} sentences of {len(set(state.topics))} topics in 8 dimensions; next: {state.loss}, "
        f"temperature {state.temperature:g}, noise {state.noise:g}, batch {state.batch}"
    ]
    for run in state.runs:
        settings, last = run["settings"], run["history"][-1]
        lines.append(
            f"  {settings['loss']}, temperature {settings['temperature']:g}, noise {settings['noise']:g}, batch "
            f"{settings['batch']}: {last['same topic']:.0%} of neighbours share the topic at step {last['step']}"
        )
    return "\n".join(lines)


class ToyTraining(PagePanel):
    """A toy encoder that SimCSE trains while you watch: topics part, and the cosines of your sentences change.

    The encoder is a bag of words: a sentence is the mean of its words' vectors in 8 dimensions, which start in a cone.
    Its noise is dropout on these vectors, a new mask for each view. A run is 800 steps of Adam. Topics only colour
    the dots; the training does not see them.

    Try: noise 0 and 0.5; temperature 0.05 and 0.5; Barlow Twins with a batch of 4, then with 16 artificial rows
    (the rank bottleneck).

    Args:
        sentences: to train on; by default short sentences of the bundled world.
        topics: a topic for each sentence.
        typed: up to four sentences of your own.
        loss, temperature, noise, batch, artificial, seed: see `ToyTrainingState`. Focal-InfoNCE has m = 0.3,
            off-dropout m = 0.9; whitening has four shuffled groups of two channels; the dimension-wise loss has the
            weight 0.1 and 5 times the temperature; Barlow Twins weighs entries off the diagonal by 0.1.
        key: see `Panel`.

    Raises:
        ValueError: an unknown loss, a number out of range, sentences without topics.

    See also: `TrainingMonitor`, for a real encoder; `NoiseLab` and `RankLab`, for its noise and its rank.

    >>> print(ToyTraining(["A cat sleeps.", "It rains."], ["animals", "weather"], batch=2))
    2 sentences of 2 topics in 8 dimensions; next: InfoNCE, temperature 0.5, noise 0.5, batch 2
    """

    modules = (*COMPUTING, HERE / "toy_encoder.js", HERE / "toy_map.js", HERE / "toy_training.js")
    mount = "mountToyTraining"
    state_class = ToyTrainingState
    alt_text = staticmethod(summary)

    def __init__(
        self,
        sentences: Sequence[str] | None = None,
        topics: Sequence[str] = (),
        typed: Sequence[str] = TYPED,
        *,
        loss: str = "InfoNCE",
        temperature: float = 0.5,
        noise: float = 0.5,
        batch: int = 32,
        artificial: int = 0,
        seed: int = 0,
        key: str | None = None,
    ) -> None:
        if sentences is None:
            sentences, topics = short_sentences()
        train, own = list(texts(sentences, "sentences", at_least=2)), list(texts(typed, "typed", at_least=0))
        state = ToyTrainingState(train, list(topics), own, loss, temperature, noise, batch, artificial, seed)
        super().__init__(state, key, {"palette": PALETTE})

    def to_frame(self) -> "pandas.DataFrame":
        """A row for each measured step of each run: the run's number, its settings, loss and geometry."""
        import pandas as pd

        rows = [
            {"run": number, **run["settings"], **{"loss of the batch" if k == "loss" else k: v for k, v in row.items()}}
            for number, run in enumerate(self.state.runs)
            for row in run["history"]
        ]
        return pd.DataFrame(rows)


@cache
def short_sentences() -> tuple[list[str], list[str]]:
    """Sentences of the world from six topics, without names and details, whose words are frequent; and their topics."""
    world, rng = World(seed=0), Random(0)
    drawn: dict[str, dict[str, set[str]]] = {topic: {} for topic in TOPICS}
    for number in range(DRAWN):
        topic = TOPICS[number % len(TOPICS)]
        meaning = world.meaning(rng, "train", partial(_is_fact, topic))
        text = world.say(replace(meaning, time="", place=None, way="", negated=False), rng).text
        if len(text) <= SHORT and text[1:].islower():
            drawn[topic][text] = set(re.findall(r"\w+", text.lower()))
    kept: list[tuple[str, str]] = []
    for topic, words in drawn.items():
        counts = Counter(word for of_text in words.values() for word in of_text)
        frequent = [text for text, of_text in words.items() if min(counts[word] for word in of_text) >= OFTEN]
        kept += [(text, topic) for text in frequent[:KEPT]]
    sentences, topics = map(list, zip(*kept, strict=True))
    return sentences, topics


def _is_fact(topic: str, frame: Frame) -> bool:
    return frame.topic == topic and not frame.opinion
