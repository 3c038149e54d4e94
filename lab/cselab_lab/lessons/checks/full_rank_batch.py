"""Measures and stages for an exercise that looks for the smallest batch with all directions: a number of sentences.

Some sentences come twice, as in any corpus; and a layer norm holds the vectors of `mini` in a plane. Neither is told.
"""

from functools import cache
from typing import Any

import torch
from jaxtyping import Float

from cselab_lab.lessons.checks.dropout_clouds import Measured
from cselab_lab.lessons.checks.plain import plain

SENTENCES = 420
REPEATED = 5  # each fifth sentence was there before


@cache
def _vectors() -> Float[torch.Tensor, "n d"]:
    from cselab.world import World

    texts = [sentence.text for sentence in World(0).sentences(SENTENCES, split="test")]
    texts = [texts[at - 3] if at % REPEATED == REPEATED - 1 else text for at, text in enumerate(texts)]
    return torch.from_numpy(plain().encode(texts))


def batch(size: int) -> Float[torch.Tensor, "n d"]:
    """The vectors [size, d] of the first sentences of a corpus: `mini`, [CLS], no dropout.

    Raises:
        ValueError: size is not between 2 and 420.
    """
    if not 2 <= size <= SENTENCES:
        raise ValueError(f"size is {size}; there are 2 to {SENTENCES} sentences to take.")
    return _vectors()[:size]


@cache
def _rank(size: int) -> int:
    from cselab.metrics import rank

    return rank(batch(size))


def _form(size: Any) -> str:
    if isinstance(size, bool) or not isinstance(size, int):
        return f"A whole number of sentences is wanted; yours is {size!r}."
    return "" if 2 <= size <= SENTENCES else f"There are 2 to {SENTENCES} sentences to take; you take {size}."


def _reaches(size: int) -> str:
    width, highest, found = batch(2).shape[1], _rank(SENTENCES), _rank(size)
    if found == highest:
        return ""
    told = f"The rank of the first {size}, centred, is {found}; that of all is {highest}."
    if size in (width, highest):
        return f"{told} Centring takes one, and some sentences come twice."
    if size in (width + 1, highest + 1):
        return f"{told} Some sentences come twice, and add nothing."
    return f"{told} Take more."


def _smallest(size: int) -> str:
    return "" if _rank(size - 1) < _rank(size) else f"The first {size - 1} already have rank {_rank(size)}: take fewer."


STAGES = [
    Measured("a number of sentences", _form),
    Measured("the batch, centred, has the rank of all sentences together", _reaches),
    Measured("no smaller batch does", _smallest),
]
