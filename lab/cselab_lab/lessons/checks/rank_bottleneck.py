"""The exercises of lesson 06: the effective rank, the dimension-wise contrast, the smallest batch of full rank."""

import math
from functools import cache
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from cselab_lab.lessons.checks.answers import is_whole
from cselab_lab.lessons.checks.encoders import plain, sentences
from cselab_lab.lessons.checks.mistakes import (
    centre_mistakes,
    choice_mistakes,
    direction_mistakes,
    temperature_mistakes,
    terms,
)
from cselab_lab.lessons.exercises import Example, Exercise, Stage

# ---- 1: the effective rank of Roy and Vetterli (2007): my_effective_rank(vectors) -------------------------


def _entropy(p: Any) -> Any:
    p = p[p > 0]
    return -(p * p.log()).sum()


def _rank_of(
    centre: Any = lambda v: v - v.mean(0),
    power: Any = 1,
    share: Any = lambda s: s / s.sum(),
    end: Any = lambda p: _entropy(p).exp(),
) -> Any:
    """An effective rank with one mistake."""

    def of(vectors: Any) -> Any:
        singular = torch.linalg.svdvals(centre(vectors)).pow(power)
        return end(share(torch.where(singular > 1e-5 * singular.max(), singular, 0.0)))

    return of


_UNEQUAL = torch.tensor([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])  # singular values 3 and 1, times sqrt(2)
_OF_UNEQUAL = 4 / 3**0.75  # exp(-(3/4 log 3/4 + 1/4 log 1/4))
EFFECTIVE_RANK = Exercise(
    Example("one direction three times as long as the other: 4 / 3^0.75 = 1.755", (_UNEQUAL,), _OF_UNEQUAL),
    Example("a cross of three equal directions has 3", (torch.cat([torch.eye(3), -torch.eye(3)]),), 3),
    Example("a hundred times as long, and the same", (100 * _UNEQUAL,), _OF_UNEQUAL),
    Example("all moved aside together, and the same", (_UNEQUAL + torch.tensor([5.0, 2.0]),), _OF_UNEQUAL),
    Example("every row twice, and the same", (_UNEQUAL.repeat(2, 1),), _OF_UNEQUAL),
    Example(
        "points on a line have 1", (torch.tensor([[2.0], [-1.0], [-1.0], [0.0]]) * torch.tensor([1.0, 0.0, 0.0]),), 1
    ),
    mistakes={
        "The singular values themselves, not their squares (the eigenvalues).": _rank_of(power=2),
        "Divide the singular values by their sum, so that they are shares.": _rank_of(share=lambda s: s),
        "Divide by the sum of the singular values, not by their length.": _rank_of(share=lambda s: s / s.norm()),
        "Divide by the sum, not by the largest.": _rank_of(share=lambda s: s / s.max()),
        "The singular values are shares of their sum; no softmax.": _rank_of(share=lambda s: s.softmax(0)),
        "This is the entropy: take its exponential at the end.": _rank_of(end=_entropy),
        "The entropy has a minus: -sum p log p.": _rank_of(end=lambda p: (-_entropy(p)).exp()),
        "exp goes with log, not with log2.": _rank_of(end=lambda p: (_entropy(p) / math.log(2)).exp()),
        "exp goes with log, not with log10.": _rank_of(end=lambda p: (_entropy(p) / math.log(10)).exp()),
        "Sum over the singular values, do not average.": _rank_of(end=lambda p: (_entropy(p) / len(p)).exp()),
        "This counts all directions alike: weigh them by their share.": _rank_of(end=lambda p: (p > 0).sum()),
        "This is another measure, 1 / sum p^2; use the entropy.": _rank_of(end=lambda p: 1 / p.square().sum()),
    }
    | centre_mistakes(_rank_of),
)

# ---- 2: the dimension-wise contrast (ImSimCSE Eq. 5, with the scale of the released code) -----------------
# my_dimension_contrast(anchor, positive, temperature=5.0), the mean over the dimensions.


def _standard(view: Any, correction: Any = 0) -> Any:
    return (view - view.mean(0)) / view.std(0, correction=correction)


def _contrast(standard: Any = _standard, dots: Any = lambda a, p: a.T @ p / len(a)) -> Any:
    """The loss with one mistake before the choice."""
    return lambda anchor, positive, t=5.0: terms(dots(standard(anchor), standard(positive)) / t).mean()


def _of_dimensions(anchor: Any, positive: Any, temperature: Any = 5.0) -> Any:
    return _standard(anchor).T @ _standard(positive) / len(anchor) / temperature


_UNCORRELATED = torch.tensor([[1.0, 2.0, 3.0], [1.0, -2.0, -3.0], [-1.0, 2.0, -3.0], [-1.0, -2.0, 3.0]])
_ANCHOR = torch.tensor([[2.0, 0.0, 1.0], [4.0, 1.0, -1.0], [9.0, 5.0, 0.0], [1.0, 2.0, 3.0], [3.0, 0.5, 1.5]])
_POSITIVE = torch.tensor([[1.0, 0.5, 1.0], [5.0, 0.0, -2.0], [7.0, 4.0, 1.0], [2.0, 3.0, 2.0], [3.0, 2.0, -1.0]])


def _by_hand(temperature: float) -> float:
    """With Pearson's correlation, dimension by dimension."""
    correlation = np.corrcoef(_ANCHOR.T, _POSITIVE.T)[:3, 3:] / temperature
    return sum(math.log(sum(math.exp(s - row[c]) for s in row)) for c, row in enumerate(correlation)) / 3


DIMENSION_CONTRAST = Exercise(
    Example(
        "three uncorrelated dimensions at temperature 1: log(1 + 2 / e) = 0.551",
        (_UNCORRELATED, _UNCORRELATED, 1.0),
        math.log1p(2 * math.exp(-1)),
    ),
    Example("five sentences, three dimensions", (_ANCHOR, _POSITIVE, 0.5), _by_hand(0.5)),
    Example(
        "neither the scale nor the mean of a dimension matters",
        (_ANCHOR * torch.tensor([3.0, 1.0, 0.2]) + torch.tensor([4.0, 0.0, -7.0]), _POSITIVE, 0.5),
        _by_hand(0.5),
    ),
    Example("a lower temperature is sharper", (_ANCHOR, _POSITIVE, 0.1), _by_hand(0.1)),
    mistakes={
        "These are the sentences: transpose.": _contrast(dots=lambda a, p: a @ p.T / len(a)),
        "These are cosines of sentences: contrast the columns.": _contrast(
            lambda v: v / v.norm(dim=1, keepdim=True), lambda a, p: a @ p.T
        ),
        "Standardise each dimension first: mean 0 and variance 1 over the batch.": _contrast(lambda v: v),
        "Divide each dimension by its standard deviation, too.": _contrast(lambda v: v - v.mean(0)),
        "Subtract each dimension's mean, too.": _contrast(lambda v: v / v.std(0, correction=0)),
        "Subtract the mean, too: cosine of two columns as they are.": _contrast(
            lambda v: v / v.norm(dim=0), lambda a, p: a.T @ p
        ),
        "Standardise over the batch (dim=0), not each row.": _contrast(lambda v: _standard(v.T).T),
        "Divide the variance by N, not N - 1: correction=0.": _contrast(lambda v: _standard(v, 1)),
        "Divide the dot product by N.": _contrast(dots=lambda a, p: a.T @ p),
        "Divide the dot product by N, not by the number of dimensions.": _contrast(
            dots=lambda a, p: a.T @ p / a.shape[1]
        ),
    }
    | choice_mistakes(_of_dimensions)
    | direction_mistakes(_of_dimensions)
    | temperature_mistakes(_contrast(), usual=5.0, at=2),
)

# ---- 3: the smallest batch with all directions: a number of sentences -------------------------------------
# Some sentences come twice, as in any corpus; and a layer norm holds the vectors of `mini` in a plane. Neither is told.

SENTENCES = 420
REPEATED = 5  # each fifth sentence was there before


@cache
def _vectors() -> Float[torch.Tensor, "n d"]:
    texts = list(sentences(SENTENCES, "test"))
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
    if not is_whole(size):
        return f"A whole number of sentences is wanted; yours is {size!r}."
    return "" if 2 <= size <= SENTENCES else f"There are 2 to {SENTENCES} sentences to take; you take {size}."


def _reaches(size: Any) -> str:
    width, highest, found = batch(2).shape[1], _rank(SENTENCES), _rank(int(size))
    if found == highest:
        return ""
    told = f"The rank of the first {int(size)}, centred, is {found}; that of all is {highest}."
    if size in (width, highest):
        return f"{told} Centring takes one, and some sentences come twice."
    if size in (width + 1, highest + 1):
        return f"{told} Some sentences come twice, and add nothing."
    return f"{told} Take more."


def _smallest(size: Any) -> str:
    before, found = _rank(int(size) - 1), _rank(int(size))
    return "" if before < found else f"The first {int(size) - 1} already have rank {found}: take fewer."


FULL_RANK_BATCH = Exercise(
    Stage("a number of sentences", _form),
    Stage("the batch, centred, has the rank of all sentences together", _reaches),
    Stage("no smaller batch does", _smallest),
)
