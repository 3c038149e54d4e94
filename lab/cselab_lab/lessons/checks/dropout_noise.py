"""The exercises of lesson 05: a cloud's radius, InfoNCE with separate negatives, off-dropout."""

import math
from typing import Any

import numpy as np
import torch
from torch.nn.functional import normalize

from cselab_lab.lessons.exercises import Example, Exercise, Solution

from .answers import AS_IT_IS, at, by_hand, choice_mistakes, right_gradient

# ---- 1: the radius of a cloud of passes: my_radius(passes, clean) -----------------------------------------


def _spread(*degrees: float) -> float:
    """By the chord: two unit vectors at an angle are 2 sin(angle / 2) apart."""
    return math.sqrt(sum((2 * math.sin(math.radians(a) / 2)) ** 2 for a in degrees) / len(degrees))


_LENGTHS = torch.tensor([[1.0], [2.0], [0.5], [3.0], [1.5]])
_ON_A_BALL = torch.tensor([[1.0, 2.0, 2.0], [2.0, 1.0, 2.0], [2.0, -1.0, 2.0], [0.0, 0.0, 1.5]])
CLOUD_RADIUS = Exercise(
    Example(
        "three passes, at 60, 90 and 180 degrees from the clean vector: distances 1, 2^0.5 and 2",
        (at(60.0, 90.0, 180.0), at(0.0)[0]),
        math.sqrt((1 + 2 + 4) / 3),
    ),
    Example(
        "five passes, of any length",
        (_LENGTHS * at(10.0, -30.0, 40.0, 80.0, 25.0), at(0.0)[0]),
        _spread(10, 30, 40, 80, 25),
    ),
    Example(
        "the length of the clean vector does not matter",
        (at(10.0, -30.0, 40.0, 80.0), 4 * at(20.0)[0]),
        _spread(10, 50, 20, 60),
    ),
    Example(
        "three dimensions: cosines 5/9, 8/9, 4/9 and 2/3",
        (_ON_A_BALL, torch.tensor([2.0, 2.0, 1.0])),
        math.sqrt((2 - 2 * 8 / 9 + 2 - 2 * 8 / 9 + 2 - 2 * 4 / 9 + 2 - 2 / 3) / 4),
    ),
    solution=Solution("05_dropout_noise", "my_radius"),
    mistakes={
        "Measure the distance to the clean vector, not to the mean of the passes.": (
            "clean / clean.norm() -> passes.mean(dim=0)"
        ),
        "Each pass has its own length.": "passes.norm(dim=1, keepdim=True) -> clean.norm()",
        "The distance of each pass counts, not the distance of their mean.": (
            "(passes - clean).square().sum(dim=1) -> (passes.mean(dim=0) - clean).square().sum()"
        ),
        "Compute the mean of the squared distances, then the root; not the mean of the distances.": (
            "squared.mean().sqrt() -> squared.sqrt().mean()"
        ),
        "The squared distance is 2 - 2 times the cosine.": (
            "(passes - clean).square().sum(dim=1) -> 1 - (passes * clean).sum(dim=1)",
            "squared.mean().sqrt() -> squared.mean() / 2",
        ),
        "That is a cosine; the radius is a distance.": ("squared.mean().sqrt() -> (passes * clean).sum(dim=1).mean()"),
        "Divide by K, the number of passes, not by K - 1.": (
            "squared.mean().sqrt() -> (squared.sum() / (len(squared) - 1)).sqrt()"
        ),
        "A distance is the root of a sum of squares, not a sum of absolute values.": (
            ".square().sum(dim=1) -> .abs().sum(dim=1); squared.mean().sqrt() -> squared.mean()",
            ".square().sum(dim=1) -> .abs().sum(dim=1).square()",
        ),
        "The radius is the root of the mean square, not the largest distance and not their deviation.": (
            "squared.mean().sqrt() -> squared.max().sqrt()",
            "squared.mean().sqrt() -> squared.sqrt().std()",
            "squared.mean().sqrt() -> squared.sqrt().std(correction=0)",
        ),
    },
)

# ---- 2 and further: InfoNCE whose negatives come from other vectors than its positives --------------------------
# my_contrast(anchor, positive, left, right, temperature=0.05), the mean over i; and off-dropout negatives (ImSimCSE
# Eq. 3): my_off_dropout(anchor, positive, clean, temperature=0.05, m=1.0).


_contrast = Solution("05_dropout_noise", "my_contrast")
_off_dropout = Solution("05_dropout_noise", "my_off_dropout")
_ANGLES = (0.0, 60.0, 130.0), (20.0, 50.0, 160.0), (10.0, 80.0, 170.0), (35.0, 130.0, 220.0)  # degrees
_VIEWS = tuple(at(*degrees) for degrees in _ANGLES)  # anchor, positive, left (or clean), right
_SCALED = tuple(length * view for length, view in zip((0.5, 0.8, 0.7, 0.6), _VIEWS, strict=True))
_RIGHT_ANGLES = torch.eye(3)[:2]


def _two_pairs(anchor: Any, positive: Any, left: Any, right: Any, temperature: float = 0.05) -> Any:
    cosines = normalize(left) @ normalize(right).T
    return cosines.diagonal_scatter(torch.cosine_similarity(anchor, positive)) / temperature


def _by_angles(temperature: float, m: float, right: int = 2) -> float:
    """From the cosine of the angle between, with log m added to the logits of the negatives."""
    first, second, third, fourth = np.radians([*_ANGLES[:3], _ANGLES[right]])
    logits = np.cos(third[:, None] - fourth) / temperature + math.log(m)
    np.fill_diagonal(logits, np.cos(first - second) / temperature)
    return by_hand(logits)


TWO_PAIRS = Exercise(
    Example(
        "two sentences at a right angle, all views alike, temperature 1: log(1 + exp(-1)) = 0.313",
        (_RIGHT_ANGLES,) * 4 + (1.0,),
        math.log1p(math.exp(-1)),
    ),
    Example("positives from the first two, negatives from the rest", (*_VIEWS, 0.5), _by_angles(0.5, 1.0, right=3)),
    Example("the lengths of the vectors do not matter", (*_SCALED, 0.5), _by_angles(0.5, 1.0, right=3)),
    Example("a temperature of 0.005 does not overflow", (*_VIEWS, 0.005), _by_angles(0.005, 1.0, right=3)),
    right_gradient(_contrast, *_VIEWS, 0.5, for_training=True),
    solution=_contrast,
    trained=True,
    mistakes=choice_mistakes(_two_pairs)
    | {
        "Your negatives are of anchor and positive; they must be of left and right.": (
            "normalize(left) @ normalize(right) -> normalize(anchor) @ normalize(positive)"
        ),
        "Your positives are of left and right; they must be of anchor and positive.": ".diagonal_scatter(own) -> ",
        "The two pairs are exchanged: positives are of anchor and positive.": (
            lambda anchor, positive, left, right, *t: _contrast(left, right, anchor, positive, *t)
        ),
        "j = i is no negative: cos(left[i], right[i]) does not count.": (
            "cross_entropy(logits, answers) -> "
            "(torch.cat([own[:, None], cosines / temperature], dim=1).logsumexp(1) - own).mean()",
            "logits.diagonal_scatter(own) -> logits + torch.diag(own)",
            "cross_entropy(logits, answers) -> "
            "(torch.cat([own[:, None], logits.fill_diagonal_(0)], dim=1).logsumexp(1) - own).mean()",
        ),
        "In numerator and denominator the positive is the same, that of anchor and positive.": (
            "cross_entropy(logits, answers) -> ((cosines / temperature).logsumexp(1) - own).mean()"
        ),
        "Scale `anchor` and `positive` to length 1, too.": (
            "cosine_similarity(anchor, positive) -> (anchor * positive).sum(dim=1)"
        ),
        "A negative is a row of `left` with a row of `right`.": (
            "normalize(left) @ normalize(right).T -> normalize(anchor) @ normalize(right).T",
            "normalize(left) @ normalize(right).T -> normalize(left) @ normalize(positive).T",
            "normalize(left) @ normalize(right).T -> normalize(left) @ normalize(left).T",
            "normalize(left) @ normalize(right).T -> normalize(right) @ normalize(right).T",
        ),
    },
)

OFF_DROPOUT = Exercise(
    Example(
        "two sentences at a right angle, no noise, temperature 1: log(1 + exp(-1)) = 0.313",
        (_RIGHT_ANGLES, _RIGHT_ANGLES, _RIGHT_ANGLES, 1.0),
        math.log1p(math.exp(-1)),
    ),
    Example("positives are noisy, negatives clean on both sides", (*_VIEWS[:3], 0.5), _by_angles(0.5, 1.0)),
    Example("m = 3 counts each negative three times", (*_VIEWS[:3], 0.5, 3.0), _by_angles(0.5, 3.0)),
    Example("the lengths of the vectors do not matter", (*_SCALED[:3], 0.5), _by_angles(0.5, 1.0)),
    Example("a temperature of 0.005 does not overflow", (*_VIEWS[:3], 0.005), _by_angles(0.005, 1.0)),
    right_gradient(
        _off_dropout, *_VIEWS[:3], 0.5, hint=f"Off-dropout turns off the noise, not the learning. {AS_IT_IS}"
    ),
    solution=_off_dropout,
    mistakes={
        "These negatives are noisy, as in SimCSE: each side of a negative must be clean.": (
            "clean @ clean.T -> normalize(anchor) @ normalize(positive).T",
            "clean @ clean.T -> normalize(anchor) @ normalize(positive).T; math.log(m) -> 0",
        ),
        "Use the natural logarithm of m.": ("math.log(m) -> math.log10(m)", "math.log(m) -> math.log2(m)"),
        "One side of your negatives is still noisy.": "clean @ clean.T -> normalize(anchor) @ clean.T",
        "A positive has two noisy sides, `anchor` and `positive`; yours has a clean one.": (
            "(anchor, positive) -> (clean, clean)",
            "(anchor, positive) -> (anchor, clean)",
        ),
        "Add up over the negatives; do not average.": "math.log(m) -> math.log(m / (len(clean) - 1))",
        "m multiplies the exponentials: add log m to the logits, after the division by the temperature.": (
            "math.log(m) -> m",
            "others + math.log(m) -> others * m",
            "math.log(m) -> math.log(m) / temperature",
            "return cross -> return m * cross; math.log(m) -> 0",
        ),
        "j = i is not a negative: leave out the diagonal of the clean cosines, which is 1.": (
            "cross_entropy(logits, answers) -> (torch.cat([own[:, None], weighed], dim=1).logsumexp(1) - own).mean()",
            "weighed.diagonal_scatter(own) -> weighed",
        ),
        "m multiplies the negatives: it does not divide them, and the positive has no m.": (
            "return cross -> return math.log(m) + cross; weighed.diagonal -> others.diagonal",
            "weighed.diagonal_scatter(own) -> others.diagonal_scatter(own + math.log(m))",
        ),
    },
)
