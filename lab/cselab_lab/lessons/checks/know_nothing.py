"""Stages for an exercise that builds an encoder of perfect uniformity that knows nothing: my_encode(sentences)."""

from functools import cache
from typing import Any

from cselab_lab.lessons.exercises import Stage

EVEN = -3.8  # random vectors of 256 entries reach about -3.97
CHANCE = 0.28  # on 161 pairs Spearman's correlation strays by 0.08 (one standard deviation); word overlap has 0.4
FEW = [
    "A cook peels an onion.",
    "The rain has stopped.",
    "Two dogs chase a red ball across the yard.",
    "A goat rests upon the hill.",
    "Nobody sang.",
]


def _rows(encode: Any, sentences: list[str]) -> Any:
    import numpy as np

    return np.asarray(encode(list(sentences)), dtype=float)


@cache
def _pairs() -> Any:
    from cselab.world.classroom import classroom_sts

    return classroom_sts("dev")


def _a_row_each(encode: Any) -> bool:
    import numpy as np

    rows = _rows(encode, FEW)
    return rows.ndim == 2 and len(rows) == len(FEW) and bool(np.isfinite(rows).all() and rows.any(axis=1).all())


def _repeatable(encode: Any) -> bool:
    return bool((_rows(encode, FEW) == _rows(encode, FEW)).all())


def _alone(encode: Any) -> bool:
    return bool((_rows(encode, FEW[::-1])[::-1] == _rows(encode, FEW)).all())


def _different(encode: Any) -> bool:
    import numpy as np

    texts = list(dict.fromkeys(_pairs().sentences))
    return len(np.unique(_rows(encode, texts), axis=0)) == len(texts)


def _even(encode: Any) -> bool:
    from cselab.metrics import uniformity

    return uniformity(_rows(encode, list(dict.fromkeys(_pairs().sentences)))) < EVEN


def _ignorant(encode: Any) -> bool:
    import numpy as np
    from scipy.stats import spearmanr

    pairs = _pairs()
    one, two = (_rows(encode, side) for side in (pairs.sentences1, pairs.sentences2))
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
    return abs(spearmanr((one * two).sum(axis=1) / lengths, pairs.scores).statistic) < CHANCE


STAGES = [
    Stage(
        "each sentence gets a row of numbers, not all of them 0",
        _a_row_each,
        "return an array of shape [sentences, width] without NaN, such as 256 numbers for each sentence.",
    ),
    Stage(
        "asked twice, it gives the same vectors",
        _repeatable,
        "draw from a generator with a seed; otherwise every call draws anew.",
    ),
    Stage(
        "a vector depends on its sentence, not on the place in the list",
        _alone,
        "make a generator for each sentence, and let its text be the seed, not the row number or the list.",
    ),
    Stage(
        "different sentences get different vectors",
        _different,
        "the seed must hold the whole text: the length, the first word or the letters in any order are not enough.",
    ),
    Stage(
        "the uniformity is below -3.8",
        _even,
        "vectors must point everywhere: entries on both sides of 0, the mean 0, and many of them (256).",
    ),
    Stage(
        "the cosines know nothing of the grades: Spearman within 0.28 of 0",
        _ignorant,
        "your vectors know which words two sentences share. Let the seed be the whole text, not each word.",
    ),
]
