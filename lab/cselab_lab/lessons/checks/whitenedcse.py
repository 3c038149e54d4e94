"""The exercises of lesson 04: shuffled group whitening, a loss of several positives, a change that the loss misses."""

import math
from collections.abc import Callable
from typing import Any

import torch
from scipy.linalg import sqrtm

from cselab.losses import info_nce
from cselab.metrics import mean_cosine
from cselab.sgw import shuffled_group_whiten
from cselab_lab.lessons.exercises import Check, Example, Exercise, Solution, numbers_of

from .answers import choice_mistakes, cosine_logits, right_gradient

# Four rows of two channels, whitened by hand. One with variances 2.5 and covariance 1.5 is multiplied by
# [[3, -1], [-1, 3]] / 4; one without covariance and variances 2 and 1/2 is divided by its standard deviations.
_SIGNS = torch.tensor([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
_CROSS, _OF_CROSS = (_SIGNS * torch.tensor([[2.0], [2.0], [1.0], [1.0]])).repeat(2, 1), _SIGNS.repeat(2, 1)
_TURNS = torch.tensor([[1.0, 0], [-1, 0], [0, 1], [0, -1], [0, 1], [0, -1], [-1, 0], [1, 0]])  # correlated with _CROSS
_PLUS, _OF_PLUS = _TURNS * torch.tensor([2.0, 1.0]), _TURNS * 2**0.5
_SHIFT = torch.tensor([5.0, -1.0, 3.0, 0.5])
_WIDE = torch.randn(9, 6, generator=torch.Generator().manual_seed(4)) @ torch.full((6, 6), 0.3).fill_diagonal_(1.0)
_SHUFFLE = torch.tensor([3, 0, 5, 1, 2, 4])
_THREE = [[1.0, 2.0, 0.0], [3.0, 0.0, 1.0], [5.0, 4.0, -1.0], [0.0, 1.0, 2.0], [1.0, 3.0, 3.0]]


def _centred(x: Any) -> Any:
    return x - x.mean(0)


def _covariance(x: Any) -> Any:
    return _centred(x).T @ _centred(x) / len(x)


def _root(covariance: Any) -> Any:
    values, axes = torch.linalg.eigh(covariance)
    return axes * (values.clamp(min=0) + 1e-6) ** -0.5 @ axes.T


def _by_schur(covariance: Any) -> Any:
    """The inverse root by SciPy's Schur decomposition instead of eigenvectors."""
    return torch.from_numpy(sqrtm(covariance.double().numpy())).inverse()


# ---- 1: shuffled group whitening: my_sgw(x, num_groups, permutation, whiten) gives rows [n, d] ------------
# Rows of x are sentences; the first d / num_groups entries of the permutation are the channels of the first group.


def _zca(z: Any) -> Any:
    return _centred(z) @ _root(_covariance(z)).detach()


def _placed(first: Any, second: Any) -> Any:
    """The channels 0 to 3, where the first group is channels 1 and 2 and the second 3 and 0."""
    return torch.stack([second[:, 1], first[:, 0], first[:, 1], second[:, 0]], dim=1)


def slowly(x: Any, num_groups: int, permutation: Any) -> Any:
    """Group by group, the root of the covariance by SciPy's Schur decomposition instead of eigenvectors."""
    found = torch.empty_like(x, dtype=torch.float64)
    for channels in permutation.chunk(num_groups):
        z = _centred(x[:, channels].double())
        found[:, channels] = z @ _by_schur(z.T @ z / len(z))
    return found


_sgw = Solution("04_whitenedcse", "my_sgw")
SGW = Exercise(
    Example(
        "no shuffle yet: two groups of neighbours, each whitened separately",
        (torch.cat([_CROSS, _PLUS], dim=1) + _SHIFT, 2, torch.arange(4), _zca),
        torch.cat([_OF_CROSS, _OF_PLUS], dim=1),
    ),
    Example(
        "channels 1 and 2 are one group, 3 and 0 the second; each comes back to its place",
        (_placed(_CROSS, _PLUS) + _SHIFT, 2, torch.tensor([1, 2, 3, 0]), _zca),  # not its own inverse
        _placed(_OF_CROSS, _OF_PLUS),
    ),
    Example("three groups of two channels", (_WIDE, 3, _SHUFFLE, _zca), slowly(_WIDE, 3, _SHUFFLE)),
    Example(
        "two groups of three channels, and a `whiten` that adds what it whitens to the rows",
        (_WIDE, 2, _SHUFFLE, lambda z: z + _zca(z)),
        _WIDE + slowly(_WIDE, 2, _SHUFFLE),
    ),
    right_gradient(_sgw, _WIDE, 3, _SHUFFLE, _zca, for_training=True),
    solution=_sgw,
    mistakes={
        "These are groups of sentences; a group is made of channels, chunk(num_groups, dim=1).": "dim=1 -> dim=0",
        "Undo the permutation at the end.": "whitened[:, back] -> whitened",
        "The inverse permutation, permutation.argsort(), undoes a permutation.": "permutation.argsort() -> permutation",
        "The channels were not shuffled: your groups are neighbouring channels.": (
            "x[:, permutation] -> x; whitened[:, back] -> whitened"
        ),
        "num_groups is the number of groups, not of channels in each.": ".chunk( -> .split(",
        "Whiten each group separately, not all channels at once.": ".chunk(num_groups -> .chunk(1",
        "Shuffle by the permutation and undo it by its inverse; yours are exchanged.": (
            "x[:, permutation] -> x[:, permutation.argsort()]; [:, back] -> [:, permutation]"
        ),
        "Nothing was whitened: call whiten(group).": "whiten(group) -> group",
    },
    trained=True,
)

# ---- 3: InfoNCE with several positives (Eq. 7): my_loss(anchor, positives, temperature=0.05) ----------------


def _each(loss: Callable) -> Callable:
    """The sum of a loss over the positives."""
    return lambda anchor, positives, *t: sum(loss(anchor, positive, *t) for positive in positives)


_VIEW = torch.tensor([[2.0, 0.0], [0.5, 1.0], [-1.0, 3.0]])
_OTHERS = [
    torch.tensor(rows)
    for rows in (
        [[1.0, 0.5], [0.2, 0.1], [0.0, 2.0]],
        [[3.0, -1.0], [0.1, 1.0], [-2.0, 1.0]],
        [[0.5, 0.9], [1.0, 1.5], [1.0, 4.0]],
    )
]


def _by_library(positives: Any, temperature: float) -> float:
    return float(sum(info_nce(_VIEW, positive, temperature).total for positive in positives))


_loss = Solution("04_whitenedcse", "my_loss")
MULTI_POSITIVE = Exercise(
    Example("one positive, three sentences at right angles, temperature 1: log(1 + 2 / e) = 0.551",
            (torch.eye(3), [torch.eye(3)], 1.0), math.log1p(2 * math.exp(-1))),
    Example("the same positive twice, four sentences: 2 log(1 + 3 / e) = 1.487",
            (torch.eye(4), [torch.eye(4)] * 2, 1.0), 2 * math.log1p(3 / math.e)),
    Example("two positives, rows of unequal length", (_VIEW, _OTHERS[:2], 0.7), _by_library(_OTHERS[:2], 0.7)),
    Example("three positives", (_VIEW, _OTHERS, 0.5), _by_library(_OTHERS, 0.5)),
    Example("a temperature of 0.005 does not overflow", (_VIEW, _OTHERS[:2], 0.005),
            _by_library(_OTHERS[:2], 0.005), tolerance=1e-2),
    right_gradient(_loss, _VIEW, _OTHERS, 0.5, for_training=True),
    solution=_loss,
    mistakes={message: _each(wrong) for message, wrong in choice_mistakes(cosine_logits).items()}
    | {
        "Add up over the positives; do not average.": "return loss -> return loss / len(positives)",
        "Only the first positive counts in your code.": "in positives -> in positives[:1]",
        "Only the last positive counts in your code.": "in positives -> in positives[-1:]",
        "Each positive view has its own denominator; yours holds the rows of all views.": (
            "in positives -> in range(len(positives)); normalize(positive) -> normalize(torch.cat(positives)); "
            ", own) -> , own + positive * len(own))"
        ),
        "Compute the loss of each positive view, then add up; you added the cosines first.": (
            "in positives -> in positives[:1]; anchor @ normalize(positive).T -> "
            "sum(anchor @ normalize(one).T for one in positives)"
        ),
        "Compute the loss of each positive view, then add up; you averaged the views first.": (
            "in positives -> in [sum(positives) / len(positives)]",
            "in positives -> in [sum(positives) / len(positives)] * len(positives)",
        ),
        "A positive view is contrasted only with the anchor, not with a second positive view.": (
            "return loss -> return loss + sum(cross_entropy(normalize(a) @ normalize(b).T / temperature, own)"
            " for i, a in enumerate(positives) for b in positives[i + 1 :])"
        ),
    },
    trained=True,
)  # fmt: skip

# ---- 2: a change of the vectors that a whitened loss does not see: unseen_change(x) gives changed rows ----
# The loss of WhitenedCSE must stay the same, and the mean cosine must rise above 0.95.

ROWS, WIDTH, GROUPS = 64, 16, 8
SHUFFLES = 0  # with this seed no channel has one neighbour in both shuffles, so that the loss sees a change of one


def views() -> tuple[Any, Any]:
    """Two distinct views of 64 sentences, in a slight cone and with strongly correlated channels.

    So rescaled channels rotate the output of ZCA for a group, and in double precision a small rotation is visible.
    """
    draw = torch.Generator().manual_seed(0)
    mix = torch.randn(WIDTH, WIDTH, generator=draw).double()
    first, more = (torch.randn(ROWS, WIDTH, generator=draw).double() @ mix for _ in range(2))
    return first + 0.3, first + 0.3 + 0.6 * more


def whitened_loss(first: Any, second: Any) -> float:
    """InfoNCE of the two views, each after its own shuffled group whitening."""
    draw = torch.Generator().manual_seed(SHUFFLES)
    orders = [torch.randperm(WIDTH, generator=draw) for _ in range(2)]
    anchor, positive = (
        shuffled_group_whiten(x, GROUPS, order, eps=1e-30) for x, order in zip((first, second), orders, strict=True)
    )
    return float(info_nce(anchor, positive, 0.05).total)


def _changed(answer: Any) -> list[Any]:
    """Both views after the student's change."""
    return [torch.from_numpy(numbers_of(answer(view))) for view in views()]


def _is_seen(answer: Any) -> str:
    before, after = whitened_loss(*views()), whitened_loss(*_changed(answer))
    unseen = abs(before - after) <= 3e-4 * before
    return "" if unseen else f"The loss was {before:.5f} and is {after:.5f}: it depends on your change."


def _is_no_cone(answer: Any) -> str:
    before, after = mean_cosine(views()[0]), mean_cosine(_changed(answer)[0])
    return "" if after > 0.95 else f"The mean cosine was {before:.2f} and is {after:.2f}."


def _keeps_the_shape(answer: Any) -> str:
    changed = numbers_of(answer(views()[0]))
    if changed is None or changed.shape == (ROWS, WIDTH):
        return "" if changed is not None else "Your function returned no numbers."
    return f"The shape should be {(ROWS, WIDTH)}, it is {changed.shape}."


UNSEEN_CHANGE = Exercise(
    Check("rows of the same shape are returned", _keeps_the_shape, "return as many rows and channels as you got."),
    Check(
        "the whitened loss stays the same",
        _is_seen,
        "Which changes does whitening remove? A shift of the centre, and one factor for all channels.",
    ),
    Check(
        "the mean cosine is above 0.95: the cone of the encoder has closed",
        _is_no_cone,
        "A part that all sentences share makes a cone: add a larger shared part.",
    ),
    solution=Solution("04_whitenedcse", "unseen_change"),
)
