"""Stages for an exercise on who finds its own second view: my_ranks(cosines) -> accuracy, mean rank of the positive."""

from typing import Any

import torch

from cselab_lab.lessons.exercises import Example


def _ranks(cosines: Any, dim: int = 1) -> Any:
    """1 + how many others are at least as near; `dim` 0 looks down a column."""
    own = cosines.diagonal()[:, None] if dim == 1 else cosines.diagonal()
    return (cosines >= own).sum(dim).double()


def _both(ranks: Any) -> tuple[float, float]:
    return float((ranks == 1).double().mean()), float(ranks.mean())


def _ties_for_the_positive(cosines: Any) -> tuple[float, float]:
    return _both((cosines > cosines.diagonal()[:, None]).sum(1).double() + 1)


def _argmax(cosines: Any) -> tuple[float, float]:
    found = cosines.argmax(1) == torch.arange(len(cosines))
    return float(found.double().mean()), float(_ranks(cosines).mean())


def _of_column_0(cosines: Any) -> tuple[float, float]:
    return _both((cosines >= cosines[:, :1]).sum(1).double())


def _order_not_place(cosines: Any) -> tuple[float, float]:
    return _both(cosines.argsort(1, descending=True).diagonal().double() + 1)


def _changed(accuracy: Any = None, rank: Any = None) -> Any:
    """One of the two numbers made another way from the ranks."""

    def of(cosines: Any) -> tuple[float, float]:
        ranks = _ranks(cosines)
        right = _both(ranks)
        return (
            right[0] if accuracy is None else float(accuracy(ranks)),
            right[1] if rank is None else float(rank(ranks)),
        )

    return of


MISTAKES = {
    "Look along the rows: an anchor (a row) chooses among the second views (the columns).": lambda c: _both(
        _ranks(c, 0)
    ),
    "A tie is not found: count the others that are at least as near (>=), not only those that are nearer.": (
        _ties_for_the_positive
    ),
    "argmax takes the first of several equal cosines: where all are equal, nobody is found.": _argmax,
    "The nearest has rank 1, not 0.": _changed(rank=lambda r: r.mean() - 1),
    "The second view itself was counted twice: the nearest has rank 1.": _changed(rank=lambda r: r.mean() + 1),
    "Rank 1 is the nearest; yours counts from the farthest.": lambda c: _both(
        (c <= c.diagonal()[:, None]).sum(1).double()
    ),
    "The right column for row i is i, not 0.": _of_column_0,
    "argsort gives which column stands at a place; what is wanted is the place of column i.": _order_not_place,
    "The accuracy is a share: divide by the number of sentences.": _changed(accuracy=lambda r: (r == 1).sum()),
    "The accuracy is a share between 0 and 1, not per cent.": _changed(
        accuracy=lambda r: 100 * (r == 1).double().mean()
    ),
    "The accuracy is the share that is found; yours is the share that is not.": _changed(
        accuracy=lambda r: (r > 1).double().mean()
    ),
    "The mean of the ranks, not their sum.": _changed(rank=lambda r: r.sum()),
    "The mean of the ranks, not their median.": _changed(rank=lambda r: r.median()),
    "The mean of the ranks, not of their reciprocals.": _changed(rank=lambda r: (1 / r).mean()),
    "First the accuracy, then the mean rank.": lambda c: _both(_ranks(c))[::-1],
}

# by hand: row 0 finds itself; in row 1 column 2 is nearer; in row 2 columns 0 and 1; in row 3 all
FOUR = torch.tensor([[0.9, 0.1, 0.3, 0.2], [0.0, 0.6, 0.8, 0.5], [0.7, 0.9, 0.4, 0.1], [0.5, 0.6, 0.7, 0.3]])
# two sentences that mean the same to the encoder: rows 0 and 1 are equally near to both columns
TWO_ALIKE = torch.tensor([[0.8, 0.8, 0.1], [0.8, 0.8, 0.2], [0.3, 0.4, 0.9]])

STAGES = [
    Example(
        "four sentences of ranks 1, 2, 3 and 4 have accuracy 0.25 and mean rank 2.5", (FOUR,), (0.25, 2.5), MISTAKES
    ),
    Example("all find themselves: accuracy 1, mean rank 1", (2 * torch.eye(3) - 1,), (1, 1), MISTAKES),
    Example("of three, two cannot be told apart: accuracy 1/3, ranks 2, 2, 1", (TWO_ALIKE,), (1 / 3, 5 / 3), MISTAKES),
    Example("an encoder that gives all the same vector finds nobody", (torch.ones(4, 4),), (0, 4), MISTAKES),
]
