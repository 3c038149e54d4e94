"""Stages for an exercise that weighs hard negatives: my_log_weights(cosines, beta), [N, N] of logarithms.

    w_ij = exp(beta c_ij) / mean over k != i of exp(beta c_ik) for j != i,   w_ii = 1

the importance weights of Robinson et al. (2021, "Contrastive Learning with Hard Negative Samples") within a batch.
"""

import math
from typing import Any

import torch

from cselab.losses import info_nce
from cselab_lab.lessons.exercises import Example, Stage


def _wrong(
    own: bool = False, dim: int = 1, count: int = -1, sign: int = 1, diagonal: float | None = 0.0, log: bool = True
) -> Any:
    """Weights with one mistake."""

    def of(cosines: Any, beta: Any) -> Any:
        n = len(cosines)
        logits = sign * beta * cosines.detach()
        eye = torch.eye(n, dtype=torch.bool)
        others = logits if own else logits.masked_fill(eye, -math.inf)
        found = logits - others.logsumexp(dim, keepdim=True) + (math.log(n + count) if count < 1 else 0.0)
        found = found if diagonal is None else found.masked_fill(eye, diagonal)
        return found if log else found.exp()

    return of


def _plain(cosines: Any, beta: Any) -> Any:
    return (beta * cosines.detach()).fill_diagonal_(0)


def _over_everything(cosines: Any, beta: Any) -> Any:
    logits, n = beta * cosines.detach(), len(cosines)
    off = logits[~torch.eye(n, dtype=torch.bool)]
    return (logits - off.logsumexp(0) + math.log(len(off))).fill_diagonal_(0)


MISTAKES = {
    "The logarithm is missing: info_nce adds log weights to the logits.": _wrong(log=False),
    "The positive is no negative: leave the diagonal out of the mean.": _wrong(own=True, count=0),
    "A row has N - 1 negatives, not N.": _wrong(count=0),
    "Divide by the mean, not by the sum: the weights of a row's negatives have the mean 1.": _wrong(count=1),
    "Each anchor is a row: take the mean along the row, dim=1.": _wrong(dim=0),
    "The positive keeps the weight 1, whose logarithm is 0.": _wrong(diagonal=None),
    "The logarithm of the weight 1 is 0, not 1.": _wrong(diagonal=1.0),
    "Harder is more similar: the weight grows with the cosine.": _wrong(sign=-1),
    "beta is not used.": lambda c, beta: _wrong()(c, 1.0),
    "Divide by the mean over the row, so that only the share of each negative changes.": _plain,
    "The mean is taken row by row, not over the whole batch.": _over_everything,
}


def _by_hand(rows: list[list[float]], beta: float) -> list[list[float]]:
    found = []
    for i, row in enumerate(rows):
        mean = sum(math.exp(beta * c) for j, c in enumerate(row) if j != i) / (len(row) - 1)
        found.append([0.0 if j == i else beta * c - math.log(mean) for j, c in enumerate(row)])
    return found


ROWS = [[0.9, 0.5, 0.0, 0.2], [0.7, 0.8, 0.1, -0.3], [0.0, 0.6, 1.0, 0.4], [0.3, 0.2, -0.1, 0.7]]
COSINES = torch.tensor(ROWS)
# at beta 1000 only the hardest negative of a row is left, with the weight 3
EXTREME = [[0.0 if j == i else 1000 * (c - max(row[:i] + row[i + 1 :])) + math.log(3) for j, c in enumerate(row)]
           for i, row in enumerate(ROWS)]  # fmt: skip


def _constant(weights: Any) -> bool:
    cosines = COSINES.clone().requires_grad_()
    return not weights(cosines, 2.0).requires_grad


def _pushes(weights: Any) -> bool:
    """Whether a step of gradient descent parts anchor 0 from its hardest negative more than without weights."""
    generator = torch.Generator().manual_seed(0)
    anchor, positive = torch.randn(4, 8, generator=generator), torch.randn(4, 8, generator=generator)
    cosines = torch.nn.functional.cosine_similarity(anchor[:, None], positive[None], dim=2)
    hardest = int(cosines[0].masked_fill(torch.arange(4) == 0, -2).argmax())
    slopes = []
    for log_weights in (torch.zeros(4, 4), weights(cosines, 3.0)):
        z = anchor.clone().requires_grad_()
        (slope,) = torch.autograd.grad(info_nce(z, positive, 0.5, log_weights=log_weights).total, z)
        moved = torch.nn.functional.cosine_similarity(anchor[0] - 0.01 * slope[0], positive[hardest], dim=0)
        slopes.append(float(moved - cosines[0, hardest]))
    return slopes[1] < slopes[0]


STAGES = [
    Example(
        "four sentences, beta 1, by hand: in row 0 the negatives have the log weights 0.245, -0.255 and -0.055",
        (COSINES, 1.0),
        _by_hand(ROWS, 1.0),
        MISTAKES,
    ),
    Example("with beta 0 all negatives weigh the same", (COSINES, 0.0), [[0.0] * 4] * 4, MISTAKES),
    Example("with beta 5 the hardest weighs far more", (COSINES, 5.0), _by_hand(ROWS, 5.0), MISTAKES),
    Stage(
        "with beta 1000 nothing overflows",
        lambda f: bool(torch.isfinite(torch.as_tensor(f(COSINES, 1000.0))).all()),
        "exp(1000) is too large for a float; logsumexp does not overflow.",
    ),
    Example("with beta 1000 one negative of each row is left", (COSINES, 1000.0), EXTREME, MISTAKES, 0.05),
    Stage("no gradient flows through the weights", _constant, "weights are numbers, not to be learnt: .detach()"),
    Stage("through info_nce the hardest negative is pushed away harder", _pushes, "does info_nce get them?"),
]
