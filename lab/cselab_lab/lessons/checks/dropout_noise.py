"""The exercises of lesson 05: a cloud's radius, InfoNCE with separate negatives, noise, off-dropout."""

import math
from typing import Any

import torch
from torch.nn.functional import normalize

from cselab_lab.lessons.exercises import Check, Example, Exercise, Solution

from .answers import AS_IT_IS, choice_mistakes, right_gradient, why_not_drawn, wrong_shapes


def _at(*degrees: float) -> torch.Tensor:
    """Unit vectors in the plane, at these angles."""
    radians = torch.tensor(degrees).deg2rad()
    return torch.stack([radians.cos(), radians.sin()], dim=1)


# ---- 1: the radius of a cloud of passes: my_radius(passes, clean) -----------------------------------------


def _spread(*degrees: float) -> float:
    """By the chord: two unit vectors at an angle are 2 sin(angle / 2) apart."""
    return math.sqrt(sum((2 * math.sin(math.radians(a) / 2)) ** 2 for a in degrees) / len(degrees))


_LENGTHS = torch.tensor([[1.0], [2.0], [0.5], [3.0], [1.5]])
_ON_A_BALL = torch.tensor([[1.0, 2.0, 2.0], [2.0, 1.0, 2.0], [2.0, -1.0, 2.0], [0.0, 0.0, 1.5]])
CLOUD_RADIUS = Exercise(
    Example(
        "three passes, at 60, 90 and 180 degrees from the clean vector: distances 1, 2^0.5 and 2",
        (_at(60.0, 90.0, 180.0), _at(0.0)[0]),
        math.sqrt((1 + 2 + 4) / 3),
    ),
    Example(
        "five passes, of any length",
        (_LENGTHS * _at(10.0, -30.0, 40.0, 80.0, 25.0), _at(0.0)[0]),
        _spread(10, 30, 40, 80, 25),
    ),
    Example(
        "the length of the clean vector does not matter",
        (_at(10.0, -30.0, 40.0, 80.0), 4 * _at(20.0)[0]),
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
        "Compute the mean of the squared distances, then the root; not the mean of the distances.": (
            "squared.mean().sqrt() -> squared.sqrt().mean()"
        ),
        "The squared distance is 2 - 2 times the cosine.": (
            "(passes - clean).square().sum(dim=1) -> 1 - (passes * clean).sum(dim=1)",
            "squared.mean().sqrt() -> squared.mean() / 2",
        ),
    },
)

# ---- 2 and 6: InfoNCE whose negatives come from other vectors than its positives --------------------------
# my_contrast(anchor, positive, left, right, temperature=0.05), the mean over i; and off-dropout negatives (ImSimCSE
# Eq. 3): my_off_dropout(anchor, positive, clean, temperature=0.05, m=1.0).


_contrast = Solution("05_dropout_noise", "my_contrast")
_off_dropout = Solution("05_dropout_noise", "my_off_dropout")
_ANGLES = (0.0, 60.0, 130.0), (20.0, 50.0, 160.0), (10.0, 80.0, 170.0), (35.0, 130.0, 220.0)  # degrees
_VIEWS = tuple(_at(*degrees) for degrees in _ANGLES)  # anchor, positive, left (or clean), right
_RIGHT_ANGLES = _at(0.0, 90.0)


def _two_pairs(anchor: Any, positive: Any, left: Any, right: Any, temperature: float = 0.05) -> Any:
    cosines = normalize(left) @ normalize(right).T
    return cosines.diagonal_scatter(torch.cosine_similarity(anchor, positive)) / temperature


def _by_hand(temperature: float, m: float, right: int = 2) -> float:
    """With the cosine of the angle between, sentence by sentence."""
    total = 0.0
    for i, (a, p, c) in enumerate(zip(*_ANGLES[:3], strict=True)):
        own = math.cos(math.radians(a - p)) / temperature
        negatives = [math.cos(math.radians(c - d)) / temperature for j, d in enumerate(_ANGLES[right]) if j != i]
        total += math.log1p(m * sum(math.exp(negative - own) for negative in negatives))
    return total / 3


TWO_PAIRS = Exercise(
    Example(
        "two sentences at a right angle, all views alike, temperature 1: log(1 + exp(-1)) = 0.313",
        (_RIGHT_ANGLES,) * 4 + (1.0,),
        math.log1p(math.exp(-1)),
    ),
    Example("positives from the first two, negatives from the rest", (*_VIEWS, 0.5), _by_hand(0.5, 1.0, right=3)),
    Example(
        "the lengths of the vectors do not matter",
        (0.5 * _VIEWS[0], 0.8 * _VIEWS[1], 0.7 * _VIEWS[2], 0.6 * _VIEWS[3], 0.5),
        _by_hand(0.5, 1.0, right=3),
    ),
    Example("a temperature of 0.005 does not overflow", (*_VIEWS, 0.005), _by_hand(0.005, 1.0, right=3)),
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
            "(torch.cat([own[:, None], cosines / temperature], dim=1).logsumexp(1) - own).mean()"
        ),
    },
)

OFF_DROPOUT = Exercise(
    Example(
        "two sentences at a right angle, no noise, temperature 1: log(1 + exp(-1)) = 0.313",
        (_RIGHT_ANGLES, _RIGHT_ANGLES, _RIGHT_ANGLES, 1.0),
        math.log1p(math.exp(-1)),
    ),
    Example("positives are noisy, negatives clean on both sides", (*_VIEWS[:3], 0.5), _by_hand(0.5, 1.0)),
    Example("m = 3 counts each negative three times", (*_VIEWS[:3], 0.5, 3.0), _by_hand(0.5, 3.0)),
    Example(
        "the lengths of the vectors do not matter",
        (0.5 * _VIEWS[0], 0.8 * _VIEWS[1], 0.7 * _VIEWS[2], 0.5),
        _by_hand(0.5, 1.0),
    ),
    Example("a temperature of 0.005 does not overflow", (*_VIEWS[:3], 0.005), _by_hand(0.005, 1.0)),
    right_gradient(
        _off_dropout, *_VIEWS[:3], 0.5, hint=f"Off-dropout turns off the noise, not the learning. {AS_IT_IS}"
    ),
    solution=_off_dropout,
    mistakes={
        "These negatives are noisy, as in SimCSE: each side of a negative must be clean.": (
            "clean @ clean.T -> normalize(anchor) @ normalize(positive).T"
        ),
        "One side of your negatives is still noisy.": "clean @ clean.T -> normalize(anchor) @ clean.T",
        "Your positive is clean and so always at cosine 1: keep its noise.": "(anchor, positive) -> (clean, clean)",
        "m multiplies the exponentials, so add log m to the exponents, not m.": (
            "math.log(m) -> m",
            "others + math.log(m) -> others * m",
            "math.log(m) -> math.log(m) / temperature",
            "return cross -> return m * cross; math.log(m) -> 0",
        ),
        "j = i is not a negative: leave out the diagonal of the clean cosines, which is 1.": (
            "cross_entropy(logits, answers) -> (torch.cat([own[:, None], weighed], dim=1).logsumexp(1) - own).mean()"
        ),
        "m multiplies only the negatives, not the whole denominator.": (
            "return cross -> return math.log(m) + cross; weighed.diagonal -> others.diagonal"
        ),
    },
)

# ---- 3: +noise: my_noise(views, variance, generator) -> as many views, each with noise of its own ---------


_ASKED = 0.09  # a variance: its root is 0.3, its square 0.0081


def _noisy(answer: Any, rows: int = 3, width: int = 4, size: float = 1.0, train: bool = False) -> tuple[list[Any], Any]:
    """Two views, which require gradients in training, and what is returned for them."""
    first = size * torch.arange(float(rows * width)).reshape(rows, width)
    views = [first, -2 * first]
    copies = [1 * view.clone().requires_grad_(train) for view in views]
    return views, answer(copies, _ASKED, torch.Generator().manual_seed(0))


def _rows(matrix: Any) -> torch.Tensor:
    return torch.as_tensor(matrix).detach().cpu().double()


def _added(answer: Any, **views: Any) -> list[torch.Tensor]:
    before, noisy = _noisy(answer, **views)
    return [_rows(after) - view.double() for view, after in zip(before, noisy, strict=True)]


ALIKE = "Several numbers of a view have the same noise: draw for each, torch.randn(view.shape)."


def _centred_on_the_views(answer: Any) -> str:
    added = _added(answer, rows=50, width=50, size=0.004)  # to views of 0 to 10, and 0 to -20
    if all(abs(float(noise.mean())) < 0.2 for noise in added):
        return ""
    alike = all(float(noise.std()) < 1e-4 for noise in added)
    return (
        ALIKE
        if alike
        else "Add the noise to each view unchanged, and return the views in their order; torch.randn has mean 0."
    )


def _of_mean_zero(answer: Any) -> str:
    means = [float(noise.mean()) for noise in _added(answer, rows=50, width=50, size=0.0)]
    worst = max(means, key=abs)
    return "" if abs(worst) < 5 * _ASKED**0.5 / 50 else f"Your noise has mean {worst:.2f}. torch.randn has mean 0."


def _as_wide_as_asked(answer: Any) -> str:
    of_each = _added(answer, rows=50, width=50, size=0.0)
    if without := [f"view {at}" for at, noise in enumerate(of_each, start=1) if not noise.any()]:
        if all(noise.any() for noise in _added(answer)):
            return "The noise is added to the view, and not multiplied."
        return f"Without noise: {' and '.join(without)}. Each view gets its own."
    drawn = torch.cat(of_each).flatten()
    variance = float(drawn.var())
    is_normal = 2.5 * variance**2 < float((drawn - drawn.mean()).pow(4).mean()) < 3.6 * variance**2
    if not is_normal:
        return "That is not Gaussian: torch.randn draws normal numbers."
    if abs(variance / _ASKED - 1) < 0.08:
        return ""
    known = {
        _ASKED**2: "Multiply by the root of the variance, the standard deviation.",
        1.0: "torch.randn has variance 1: multiply by the root of the variance.",
    }
    reasons = [reason for wrong, reason in known.items() if abs(variance - wrong) <= 0.1 * wrong]
    return " ".join([f"Your noise has variance {variance:.3g}; the given one is {_ASKED:g}.", *reasons])


def _whatever_the_vector(answer: Any) -> bool:
    small, large = (torch.cat(_added(answer, rows=50, width=50, size=size)).std() for size in (0.0, 1.0))
    return bool(abs(large / small - 1) < 0.1)


def _drawn_anew(answer: Any) -> str:
    if reason := why_not_drawn(lambda generator: answer(list(torch.zeros(2, 3, 4)), _ASKED, generator)[0]):
        return reason
    first, second = _added(answer)
    if torch.allclose(first, second, atol=1e-4):
        return "Your noise is the same in all views: draw for each."
    of_zeros = _added(answer, size=0.0)
    if min(float(noise.std(dim).min()) for noise in of_zeros for dim in (0, 1)) < 1e-6:
        return ALIKE
    return ""


def _left_as_they_were(answer: Any) -> bool:
    views = [torch.ones(3, 4), torch.ones(3, 4)]
    answer(views, _ASKED, torch.Generator().manual_seed(0))
    return all(torch.equal(view, torch.ones(3, 4)) for view in views)


GAUSSIAN = Exercise(
    Check(
        "two views of 3 sentences come back as two",
        lambda answer: wrong_shapes(_noisy(answer)[1], 2, (3, 4)),
        "Loop over the views, and collect a noisy view for each.",
    ),
    Check("the views are returned with an addition of mean 0", _centred_on_the_views),
    Check("the addition is Gaussian, with the given variance", _as_wide_as_asked),
    Check(
        "equally large for long and short vectors",
        _whatever_the_vector,
        "The noise is added to the view, and not multiplied.",
    ),
    Check("each view has its own noise, drawn at each call from the generator", _drawn_anew),
    Check("the mean of the noise is 0", _of_mean_zero),
    Check(
        "the given views stay unchanged",
        _left_as_they_were,
        "view += noise changes the given view; view + noise is a new one.",
    ),
    Check(
        "gradients go through to the views",
        lambda answer: all(getattr(view, "requires_grad", False) for view in _noisy(answer, train=True)[1]),
        for_training=True,
    ),
    solution=Solution("05_dropout_noise", "my_noise"),
)
