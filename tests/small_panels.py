"""Each panel on small data, and another value for each of its controls."""

import numpy as np
import pandas as pd
from cselab_lab.lessons.pipeline_diff import method_cards
from cselab_widgets import (
    AlignmentUniformity,
    CosinesByGrade,
    EmbeddingMap,
    LossLab,
    MethodMap,
    NoiseLab,
    PairExplorer,
    PaperVsOurs,
    RankLab,
    TrainingMonitor,
    WhiteningLab,
    WordContributions,
)

from cselab import SentenceEncoder
from cselab.data import Pairs
from cselab.evaluators import TransformedEncoder
from cselab.transforms import ComponentsRemoved

draw = np.random.default_rng(0).normal
ROWS = [{"step": s, "loss": 1.0, "alignment": 0.2, "uniformity": -1 - s / 9, "score": 50.0 + s} for s in (0, 5, 10)]
WORDS = ["abba", "bead", "cage", "fade", "head", "deaf"] * 2
PAIRS = Pairs(WORDS, [word[::-1] + "c" for word in WORDS], [float(i % 3) for i in range(12)], "letters", ["x", "y"] * 6)
CLEAN, PASSES, VIEWS = draw(size=(12, 16)), draw(size=(40, 12, 16)), draw(size=(3, 40, 12))
MAPS = {"plain": draw(size=(6, 5)), "SimCSE": {0: draw(size=(6, 5)), 3: draw(size=(6, 5))}}
MICRO = SentenceEncoder("micro")
CENTRED = ComponentsRemoved().fit(MICRO.encode(WORDS))
CARDS = method_cards(["simcse", "mixcse", "sr_bert"])
GAINS = pd.DataFrame(
    {"row": ["low", "high"] * 2, "column": ["a", "a", "b", "b"], "gain": [1.0, 2.0, 4.0, 3.0], "published_gain": 5.0}
)


class Letters:
    encode = staticmethod(
        lambda texts: np.array([[text.count(letter) + 1.0 for letter in "abcdefgh"] for text in texts])
    )


def watched(last: int = 10) -> CosinesByGrade:
    watch = CosinesByGrade(PAIRS)
    for step in (0, last):
        watch.keep(step, Letters())
    return watch


# How each is made, and for every control another value.
PANELS = {
    "AlignmentUniformity": (
        lambda key: AlignmentUniformity(
            {"SimCSE": ROWS, "b": ROWS}, cosines={"SimCSE": watched(), "b": watched(5)}, key=key
        ),
        {"step": 0, "method": "b"},
    ),
    "EmbeddingMap": (
        lambda key: EmbeddingMap(list("abcdef"), MAPS, color=list("xxyyzz"), key=key),
        {"encoder": "plain", "step": 0, "find": "b", "focus": 2, "projection": "t-SNE"},
    ),
    "PaperVsOurs-gains": (lambda key: PaperVsOurs(GAINS, view="gains", key=key), {}),
    "LossLab": (
        lambda key: LossLab({0: VIEWS[:, :8], 5: VIEWS[:, 8:16]}, key=key),
        {"step": 0, "loss": "ArcCon", "pair": "positive", "temperature": 0.2},
    ),
    "MethodMap": (lambda key: MethodMap(CARDS, key=key), {"by": "year", "selection": (1,)}),
    "NoiseLab": (
        lambda key: NoiseLab(vectors=PASSES, clean=CLEAN, key=key),
        {"sentence": 4, "drawn": 3, "variance": 0.5, "mean_of": 3},
    ),
    "PairExplorer": (
        lambda key: PairExplorer({"letters": Letters()}, PAIRS, "a bad face", "a bad cage", key=key),
        {"first": "a cage", "second": "an egg", "removed": 2, "selection": (3,)},
    ),
    "PaperVsOurs": (
        lambda key: PaperVsOurs(GAINS, key=key),
        {"column": "b"},
    ),
    "RankLab": (
        lambda key: RankLab(vectors=VIEWS, batch_size=8, key=key),
        {"batch_size": 32, "dimensions": 4, "artificial_rows": 32, "broken": True},
    ),
    "TrainingMonitor": (lambda key: TrainingMonitor({"SimCSE": [ROWS, ROWS]}, key=key), {}),
    "WhiteningLab": (
        lambda key: WhiteningLab(vectors=VIEWS, strategy="group", batch_size=30, key=key),
        {"strategy": "ZCA", "num_groups": 3, "batch_size": 20, "eps": 0.1, "stage": 1},
    ),
    "WordContributions": (
        lambda key: WordContributions(
            {"micro": MICRO, "centred": TransformedEncoder(MICRO, CENTRED), "letters": Letters()},
            "a cage", "a bad face", key=key,
        ),
        {"after": "letters", "first": "a bad cage", "second": "an egg"},
    ),
}  # fmt: skip
