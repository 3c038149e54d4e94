"""The exercises of lesson 06: the cross-correlation, Barlow Twins and its floor, artificial rows, pulls, columns in
contrast; the effective rank, the smallest batch of full rank.

Each piece has a right version here, which stands in (`cselab_lab.lessons.exercises.yours`) until the student's passes.
"""

import math
from functools import cache
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from cselab_lab.lessons.checks.answers import is_whole, right_gradient, wrong_shapes
from cselab_lab.lessons.checks.encoders import plain, sentences
from cselab_lab.lessons.checks.mistakes import choice_mistakes, direction_mistakes, temperature_mistakes, terms
from cselab_lab.lessons.exercises import Example, Exercise, Stage, numbers_of

_ANCHOR = torch.tensor([[2.0, 0.0, 1.0], [4.0, 1.0, -1.0], [9.0, 5.0, 0.0], [1.0, 2.0, 3.0], [3.0, 0.5, 1.5]])
_POSITIVE = torch.tensor([[1.0, 0.5, 1.0], [5.0, 0.0, -2.0], [7.0, 4.0, 1.0], [2.0, 3.0, 2.0], [3.0, 2.0, -1.0]])

# ---- 1: the cross-correlation of the dimensions (Eq. 4): my_correlation(first, second), [D, D] ------------


def _correlation(first: Any, second: Any) -> Any:
    one, other = first / first.norm(dim=0), second / second.norm(dim=0)
    return one.T @ other


_SMALL = torch.tensor([[3.0, 1.0], [4.0, 2.0]]), torch.tensor([[0.0, 2.0], [1.0, 1.0]])
CORRELATION = Exercise(
    Example(
        "two sentences, two dimensions: 4 / 5, 10 / 5 / 5^0.5, ...",
        _SMALL,
        [[4 / 5, 10 / 5 / 5**0.5], [2 / 5**0.5, 4 / 5]],
    ),
    Example(
        "five sentences, three dimensions, one turned round in the second view",
        (_ANCHOR, _POSITIVE * torch.tensor([1.0, -1.0, 1.0])),
        [
            [sign * float(a @ b / a.norm() / b.norm()) for b, sign in zip(_POSITIVE.T, (1, -1, 1), strict=True)]
            for a in _ANCHOR.T
        ],
    ),
    right_gradient(_correlation, _ANCHOR, _POSITIVE),
    mistakes={
        "These are the cosines of sentences; wanted are those of dimensions, D x D.": (
            "norm(dim=0) -> norm(dim=1, keepdim=True); one.T @ other -> one @ other.T"
        ),
        "Scale each column (dimension) to length 1, not each row.": "norm(dim=0) -> norm(dim=1, keepdim=True)",
        "Divide by the lengths of both columns.": "/ first.norm(dim=0) -> * 1; / second.norm(dim=0) -> * 1",
        "Divide by the length of the second column, too.": " / second.norm(dim=0) -> ",
        "Divide by the length of the first column, too.": " / first.norm(dim=0) -> ",
        "Divide by the lengths: the root of the sum of squares.": "norm(dim=0) -> square().sum(0)",
        "Eq. 4 subtracts no mean.": (
            "first / first.norm(dim=0), second / second.norm(dim=0) -> "
            "[(v - v.mean(0)) / (v - v.mean(0)).norm(dim=0) for v in (first, second)]"
        ),
        "The first view stands on the left, the second on the right.": "one.T @ other -> one.T @ one",
        "The first view stands on the left; both of yours are the second.": "one.T @ other -> other.T @ other",
        "Divide by the lengths of the columns, not by the number of rows.": (
            "one.T @ other -> first.T @ second / len(first)"
        ),
        "Scale each column to length 1, not the whole matrix.": "norm(dim=0) -> norm()",
        "The length is the root of the sum of squares, not the sum of absolute values.": "norm(dim=0) -> abs().sum(0)",
        "Keep the sign.": "one.T @ other -> (one.T @ other).abs()",
    },
    right=_correlation,
    trained=True,
)

# ---- 2: Barlow Twins of such a matrix: my_barlow_twins(correlation, weight=0.012) -------------------------


def _twins(correlation: Any, weight: float = 0.012) -> Any:
    c, eye = correlation, torch.eye(len(correlation), dtype=correlation.dtype, device=correlation.device)
    on, off = ((1 - c.diagonal()) ** 2).sum(), (c**2 * (1 - eye)).sum()
    return on + weight * off


_TABLE = [[0.5, 0.2, -0.3], [-0.4, 0.9, 0.1], [0.6, -0.2, 0.7]]
_TWINS = (
    sum((1 - _TABLE[c][c]) ** 2 for c in range(3)),
    sum(_TABLE[c][d] ** 2 for c in range(3) for d in range(3) if c != d),
)
BARLOW_TWINS = Exercise(
    Example(
        "a matrix of 2 x 2, weight 0.4: 0.25 + 0.01 on the diagonal, 0.4 times 0.04 + 0.16 off it",
        (torch.tensor([[0.5, 0.2], [-0.4, 0.9]]), 0.4),
        0.34,
    ),
    Example("a matrix of 3 x 3, weight 2", (torch.tensor(_TABLE), 2.0), _TWINS[0] + 2 * _TWINS[1]),
    Example("the identity costs nothing", (torch.eye(4), 0.7), 0.0),
    Example("4 dimensions that are all one: only off the diagonal", (torch.ones(4, 4), 0.25), 3.0),
    right_gradient(_twins, torch.tensor(_TABLE), 2.0),
    mistakes={
        "Both are sums, not means.": ".sum() -> .mean()",
        "The first is a sum, not a mean.": "** 2).sum() -> ** 2).mean()",
        "The first sum has a plus: with the paper's minus the diagonal is pushed away from 1.": (
            "on + weight -> -on + weight"
        ),
        "Square 1 - C_cc.": "(1 - c.diagonal()) ** 2 -> (1 - c.diagonal()).abs()",
        "Subtract C_cc from 1, then square.": "(1 - c.diagonal()) ** 2 -> 1 - c.diagonal() ** 2",
        "Square the entries off the diagonal.": "c**2 -> c",
        "Square the entries off the diagonal, do not take their absolute values.": "c**2 -> c.abs()",
        "The second sum leaves out the diagonal.": " * (1 - eye) -> ",
        "The second sum is over c and d on both sides of the diagonal.": "(1 - eye) -> torch.ones_like(c).triu(1)",
        "The weight belongs to the second sum alone.": "on + weight * off -> weight * (on + off)",
        "The weight belongs to the second sum.": "on + weight * off -> weight * on + off",
        "The weight is missing.": "weight * off -> off",
        "The weight is 0.012 in your code, whatever is asked for.": "weight * off -> 0.012 * off",
        "The diagonal counts, too.": "on + weight -> weight",
        "The second sum is missing.": "on + weight * off -> on",
        "The first sum has no weight: 1, not 1 - lambda.": "on + weight -> (1 - weight) * on + weight",
        "Off the diagonal 0 is wanted, not 1.": "c**2 -> (1 - c) ** 2",
        "Absolute values were added: square all entries.": (
            "(1 - c.diagonal()) ** 2 -> (1 - c.diagonal()).abs(); c**2 -> c.abs()"
        ),
    },
    right=_twins,
    trained=True,
)

# ---- 3: the lowest it can be: my_floor(dimensions, rank, weight) ------------------------------------------


def _floor(dimensions: int, rank: int, weight: float) -> float:
    k = weight * max(dimensions - rank, 0) / rank
    return dimensions * k / (1 + k)


def _lowest(dimensions: int, rank: int, weight: float) -> float:
    """By trying: the loss of a tight frame at every mean of the diagonal."""
    t = np.linspace(0, 1, 100_001)
    off = dimensions * t**2 * (dimensions / rank - 1)
    return float((dimensions * (1 - t) ** 2 + weight * off).min())


FLOOR = Exercise(
    Example("6 dimensions of rank 2, weight 0.5: k is 1, half of 6 is left", (6, 2, 0.5), 3.0),
    Example("256 dimensions, 64 rows, weight 0.012", (256, 64, 0.012), _lowest(256, 64, 0.012)),
    Example("768 dimensions, 64 rows", (768, 64, 0.012), _lowest(768, 64, 0.012)),
    Example("7 dimensions of rank 4, weight 0.6", (7, 4, 0.6), _lowest(7, 4, 0.6)),
    Example("as many rows as dimensions", (256, 256, 0.012), 0.0),
    Example("more rows than dimensions", (256, 300, 0.012), 0.0),
    mistakes={
        "The floor is of the whole loss: times D.": "dimensions * k -> k",
        "This is the best t; wanted is the loss there.": "dimensions * k -> 1",
        "This is the loss at t = 1; it is lower at t = 1 / (1 + k).": " / (1 + k) -> ",
        "This is the loss at t = 0; it is lower at t = 1 / (1 + k).": " * k / (1 + k) -> ",
        "k is the weight times (D - r) / r.": "weight * max -> max",
        "k is (D - r) / r, the weight, and nothing else: divide by r, not by D.": ") / rank -> ) / dimensions",
        "k has D - r above the line, not D.": "max(dimensions - rank, 0) -> dimensions",
        "With more rows than dimensions the rank is D, and the floor 0.": (
            "max(dimensions - rank, 0) -> (dimensions - rank)"
        ),
        "(D - r) / r is a fraction: divide by /, not by //.": (
            "max(dimensions - rank, 0) / rank -> (max(dimensions - rank, 0) // rank)"
        ),
        "This is k; wanted is the loss at the best t.": "dimensions * k / (1 + k) -> k",
        "lambda is 0.012 in your code, whatever is asked for.": "weight * max -> 0.012 * max",
        "The loss at the best t is D k / (1 + k), without a square.": "(1 + k) -> (1 + k) ** 2",
        "The rank of C is r; D are its dimensions, and the loss is of D.": lambda D, r, w: (
            _floor(r, D, w) + (r * w * max(D - r, 0) / (r + w * max(D - r, 0)))
        ),
    },
    right=_floor,
)

# ---- 5: artificial rows: my_rows(first, second, count, generator) -> both views with the rows beneath -----


def _rows(first: Any, second: Any, count: int, generator: Any) -> Any:
    rows = torch.randn(count, first.shape[1], generator=generator).to(first)
    return torch.cat([first, rows]), torch.cat([second, rows])


_SENTENCES = torch.arange(12.0).reshape(3, 4), 50 + torch.arange(12.0).reshape(3, 4)


def _returned(answer: Any, count: int = 5, seed: int = 0, train: bool = False) -> Any:
    views = [1 * view.clone().requires_grad_(train) for view in _SENTENCES]
    return answer(*views, count, torch.Generator().manual_seed(seed))


def _padded(answer: Any, count: int = 5, seed: int = 0) -> list[Any]:
    return [torch.from_numpy(numbers_of(view)) for view in _returned(answer, count, seed)]


def _beneath(answer: Any) -> str:
    found = _padded(answer)
    for told, kept in {
        "": [view[:3] for view in found],
        "The two views have changed places.": [view[:3] for view in reversed(found)],
        "Your rows stand above the sentences.": [view[-3:] for view in found],
    }.items():
        if all(torch.allclose(one, view.double(), atol=1e-3) for one, view in zip(kept, _SENTENCES, strict=True)):
            return told
    return "The first N rows are no longer the sentences."


def _same_beneath(answer: Any) -> str:
    one, other = _padded(answer)
    return "" if torch.equal(one[3:], other[3:]) else "Your rows differ: draw once, and put the same beneath both."


def _normal(answer: Any) -> str:
    drawn = _padded(answer, count=2_000)[0][3:]
    low, mean, spread = float(drawn.min()), float(drawn.mean()), float(drawn.std())
    if drawn.std(0).min() < 0.5 * spread or drawn.std(1).median() < 0.5 * spread:
        return "Several numbers of yours are the same: draw each, torch.randn(count, width)."
    if abs(mean) < 0.05 and abs(spread - 1) < 0.05 and low < -2.5:
        return ""
    way = "torch.rand draws from 0 to 1, torch.randn normal numbers." if 0 <= low < spread else ""
    return f"Yours have mean {abs(mean):.2f} and deviation {spread:.2f}; wanted are 0 and 1. {way}".strip()


def _drawn_anew(answer: Any) -> str:
    state = torch.get_rng_state()
    one, again, other = (_padded(answer, seed=seed)[0] for seed in (0, 0, 1))
    if not torch.equal(state, torch.get_rng_state()) or not torch.equal(one, again):
        torch.set_rng_state(state)
        return "Give the generator to torch.randn: generator=generator."
    view, generator = torch.zeros(2, 4), torch.Generator().manual_seed(0)
    first, second = (numbers_of(answer(view, view, 5, generator)[0]) for _ in range(2))
    if np.array_equal(first, second) or torch.equal(one, other):
        return "Yours are the same at each call: do not seed anything yourself."
    return ""


ROWS = Exercise(
    Stage(
        "of two views of 3 sentences and 5 rows it returns both, 8 rows long",
        lambda answer: wrong_shapes(_returned(answer), 2, (8, 4)),
        "torch.cat puts tables below each other.",
    ),
    Stage("the sentences stand on top", _beneath, "Try torch.cat([view, rows])."),
    Stage("the same rows stand beneath both", _same_beneath),
    Stage("the rows are standard normal numbers", _normal),
    Stage("they are drawn anew at each call, from the generator", _drawn_anew),
    Stage(
        "gradients go through to the views",
        lambda answer: all(getattr(view, "requires_grad", False) for view in _returned(answer, train=True)),
        for_training=True,
    ),
    right=_rows,
)

# ---- 7: the dimension-wise contrast (ImSimCSE Eq. 5, with the scale of the released code) -----------------
# my_dimension_contrast(anchor, positive, temperature=5.0), the mean over the dimensions.


def _standard(view: Any, correction: Any = 0) -> Any:
    return (view - view.mean(0)) / (view.var(0, correction=correction) + 1e-5).sqrt()


def _contrast(anchor: Any, positive: Any, t: Any = 5.0) -> Any:
    a, p = _standard(anchor), _standard(positive)
    return terms(a.T @ p / len(a) / t).mean()


def _of_dimensions(anchor: Any, positive: Any, temperature: Any = 5.0) -> Any:
    return _standard(anchor).T @ _standard(positive) / len(anchor) / temperature


_UNCORRELATED = torch.tensor([[1.0, 2.0, 3.0], [1.0, -2.0, -3.0], [-1.0, 2.0, -3.0], [-1.0, -2.0, 3.0]])


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
    Example(
        "a dimension that never changes gives no NaN: beside one of variance 1, (log(1 + 1 / e) + log 2) / 2",
        (torch.tensor([[1.0, 7.0], [-1.0, 7.0]]), torch.tensor([[3.0, 2.0], [1.0, 2.0]]), 1.0),
        (math.log1p(math.exp(-1)) + math.log(2)) / 2,
    ),
    right_gradient(_contrast, _ANCHOR, _POSITIVE, 0.5),
    mistakes={
        "Divide by the standard deviation, the root of the variance.": (
            "_standard(anchor), _standard(positive) -> "
            "[(v - v.mean(0)) / (v.var(0, correction=0) + 1e-5) for v in (anchor, positive)]"
        ),
        "Both sides of yours are of anchor: the dimensions of positive stand on the right.": "(positive) -> (anchor)",
        "These are the sentences: transpose.": "a.T @ p -> a @ p.T",
        "These are cosines of sentences: contrast the columns.": (
            "_standard( -> torch.nn.functional.normalize(; a.T @ p / len(a) -> a @ p.T"
        ),
        "Standardise each dimension first: mean 0 and variance 1 over the batch.": "_standard( -> (",
        "Divide each dimension by its standard deviation, too.": (
            "_standard(anchor), _standard(positive) -> anchor - anchor.mean(0), positive - positive.mean(0)"
        ),
        "Subtract each dimension's mean, too.": (
            "_standard(anchor), _standard(positive) -> [v / v.std(0, correction=0) for v in (anchor, positive)]"
        ),
        "Subtract the mean, too: cosine of two columns as they are.": (
            "_standard( -> torch.nn.functional.normalize(dim=0, input=; / len(a) / t -> / t"
        ),
        "Standardise over the batch (dim=0), not each row.": (
            "_standard(anchor), _standard(positive) -> _standard(anchor.T).T, _standard(positive.T).T"
        ),
        "Divide the variance by N, not N - 1: correction=0.": "_standard( -> _standard(correction=1, view=",
        "Divide the dot product by N.": " / len(a) -> ",
        "Divide the dot product by N, not by the number of dimensions.": "len(a) -> a.shape[1]",
    }
    | choice_mistakes(_of_dimensions)
    | direction_mistakes(_of_dimensions)
    | temperature_mistakes(_contrast, usual=5.0, at=2),
    right=_contrast,
    trained=True,
)

# ---- 9: the smallest batch with all directions: a number of sentences -------------------------------------
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
    width, highest, reached = batch(2).shape[1], _rank(SENTENCES), _rank(int(size))
    if reached == highest:
        return ""
    told = f"The rank of the first {int(size)}, centred, is {reached}; that of all is {highest}."
    if size in (width, highest):
        return f"{told} Centring takes one, and some sentences come twice."
    if size in (width + 1, highest + 1):
        return f"{told} Some sentences come twice, and add nothing."
    return f"{told} Take more."


def _smallest(size: Any) -> str:
    before, reached = _rank(int(size) - 1), _rank(int(size))
    return "" if before < reached else f"The first {int(size) - 1} already have rank {reached}: take fewer."


FULL_RANK_BATCH = Exercise(
    Stage("a number of sentences", _form),
    Stage("the batch, centred, has the rank of all sentences together", _reaches),
    Stage("no smaller batch does", _smallest),
)
