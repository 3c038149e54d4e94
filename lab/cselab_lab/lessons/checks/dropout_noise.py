"""The exercises of lesson 05: a cloud's radius, InfoNCE with negatives of their own, noise, means of passes, what noise
leaves of a cosine, pull and push, off-dropout; and two sentences whose dropout clouds overlap.

Each piece has a right version here, which stands in (`cselab_lab.lessons.exercises.yours`) until the student's passes.
"""

import math
from typing import Any

import numpy as np
import torch

from cselab_lab.lessons.checks.answers import AS_IT_IS, right_gradient, wrong_shapes
from cselab_lab.lessons.checks.mistakes import LENGTHS, choice_mistakes, temperature_mistakes, unit
from cselab_lab.lessons.exercises import Example, Exercise, Stage, numbers_of


def _at(*degrees: float) -> torch.Tensor:
    """Unit vectors in the plane, at these angles."""
    radians = torch.tensor(degrees).deg2rad()
    return torch.stack([radians.cos(), radians.sin()], dim=1)


# ---- 1: the radius of a cloud of passes: my_radius(passes, clean) -----------------------------------------


def _radius(passes: Any, clean: Any) -> Any:
    gaps = unit(passes) - clean / clean.norm()
    return gaps.square().sum(1).mean().sqrt()


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
    mistakes=LENGTHS
    | {
        "Scale the clean vector to length 1, too.": "clean / clean.norm() -> clean",
        "Nothing is scaled: passes and clean vector to length 1 first.": "unit( -> (; clean / clean.norm() -> clean",
        "The distance is that to the clean vector, not to the mean of the passes.": (
            "clean / clean.norm() -> unit(passes).mean(0)"
        ),
        "Take the mean of the squared distances, then the root; not the mean of the distances.": (
            ".mean().sqrt() -> .sqrt().mean()"
        ),
        "This is the farthest pass; take the root of the mean square.": ".mean() -> .max()",
        "Sum the squares over the coordinates; the mean is over the passes alone.": "sum(1) -> mean(1)",
        "Take the mean over the passes, not the sum, before the root.": ".mean() -> .sum()",
        "Square the differences before they are added up.": "square().sum(1) -> abs().sum(1).square()",
    },
    right=_radius,
)

# ---- 2 and 7: InfoNCE whose negatives come from other vectors than its positives --------------------------
# my_contrast(anchor, positive, left, right, temperature=0.05), the mean over i; and off-dropout negatives (ImSimCSE
# Eq. 3): my_off_dropout(anchor, positive, clean, temperature=0.05, m=1.0).


def _contrast(anchor: Any, positive: Any, left: Any, right: Any, t: Any = 0.05) -> Any:
    s = (unit(anchor) @ unit(positive).T).diagonal().double() / t
    n = (unit(left) @ unit(right).T).double() / t
    n = n.masked_fill(torch.eye(len(n), dtype=torch.bool), -math.inf)
    return (torch.cat([s[:, None], n], dim=1).logsumexp(1) - s).mean()


def _off_dropout(anchor: Any, positive: Any, clean: Any, t: Any = 0.05, m: Any = 1.0) -> Any:
    s = (unit(anchor) @ unit(positive).T).diagonal().double() / t
    n = (unit(clean) @ unit(clean).T).double() / t + math.log(m)
    n = n.masked_fill(torch.eye(len(n), dtype=torch.bool), -math.inf)
    return (torch.cat([s[:, None], n], dim=1).logsumexp(1) - s).mean()


def _logits(a: Any, p: Any, x: Any, y: Any, t: Any = 0.05, m: Any = 1.0) -> Any:
    others = unit(x) @ unit(y).T / t + math.log(m)
    return others.diagonal_scatter((unit(a) @ unit(p).T).diagonal() / t)


_ANGLES = (0.0, 60.0, 130.0), (20.0, 50.0, 160.0), (10.0, 80.0, 170.0), (35.0, 130.0, 220.0)  # degrees
_VIEWS = tuple(_at(*degrees) for degrees in _ANGLES)  # anchor, positive, left (or clean), right
_RIGHT_ANGLES = _at(0.0, 90.0)


def _by_hand(temperature: float, m: float, right: int = 2) -> float:
    """With the cosine of the angle between, sentence by sentence."""
    total = 0.0
    for i, (a, p, c) in enumerate(zip(*_ANGLES[:3], strict=True)):
        own = math.cos(math.radians(a - p)) / temperature
        others = [math.cos(math.radians(c - d)) / temperature for j, d in enumerate(_ANGLES[right]) if j != i]
        total += math.log1p(m * sum(math.exp(other - own) for other in others))
    return total / 3


_ONE_PART = {
    "The cosine of a positive is divided by the temperature, too.": "diagonal().double() / t -> diagonal().double()",
    "The cosines of the negatives are divided by the temperature, too.": ".T).double() / t -> .T).double()",
    "Scale the vectors of the positives to length 1, too.": "unit(anchor) @ unit(positive) -> anchor @ positive",
}
DIAGONAL = "n.masked_fill(torch.eye(len(n), dtype=torch.bool), -math.inf) -> n"

TWO_PAIRS = Exercise(
    Example(
        "two sentences at a right angle, all views alike, temperature 1: log(1 + exp(-1)) = 0.313",
        (_RIGHT_ANGLES,) * 4 + (1.0,),
        math.log1p(math.exp(-1)),
    ),
    Example("positives from the first two, negatives from the others", (*_VIEWS, 0.5), _by_hand(0.5, 1.0, right=3)),
    Example(
        "the lengths of the vectors do not matter",
        (0.5 * _VIEWS[0], 0.8 * _VIEWS[1], 0.7 * _VIEWS[2], 0.6 * _VIEWS[3], 0.5),
        _by_hand(0.5, 1.0, right=3),
    ),
    Example("a temperature of 0.005 does not overflow", (*_VIEWS, 0.005), _by_hand(0.005, 1.0, right=3)),
    right_gradient(_contrast, *_VIEWS, 0.5),
    mistakes=LENGTHS
    | {
        "Your negatives are of anchor and positive; wanted are left and right.": (
            "(left) -> (anchor); (right) -> (positive)"
        ),
        "Your positives are of left and right; wanted are anchor and positive.": (
            "(anchor) -> (left); (positive) -> (right)"
        ),
        "The two pairs are exchanged: positives are of anchor and positive.": lambda a, p, x, y, *t: _contrast(
            x, y, a, p, *t
        ),
        "Your negatives are of anchor and right; the first of them is left.": "(left) -> (anchor)",
        "Your negatives are of left and positive; the second of them is right.": "(right) -> (positive)",
        "Both sides of your negatives are left: left and right.": "(right) -> (left)",
        "Both sides of your negatives are right: left and right.": "(left) -> (right)",
        "Scale the vectors of the negatives to length 1, too.": "unit(left) @ unit(right) -> left @ right",
        "left[i] chooses among right, and nothing the other way round; this is the mean of both.": (
            lambda a, p, x, y, *t: (_contrast(a, p, x, y, *t) + _contrast(a, p, y, x, *t)) / 2
        ),
        **_ONE_PART,
        "j = i is no negative: cos(left[i], right[i]) does not count.": DIAGONAL,
        "Row i holds the negatives of left[i]; yours are those of right[i] (dim=1).": "None], n] -> None], n.T]",
    }
    | choice_mistakes(_logits)
    | temperature_mistakes(_contrast, usual=0.05, at=4),
    right=_contrast,
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
    mistakes=LENGTHS
    | {
        "These negatives are noisy, as in SimCSE: both sides are clean.": (
            "(clean) @ unit(clean) -> (anchor) @ unit(positive)"
        ),
        "One side of your negatives is noisy: both sides are clean.": "(clean) @ -> (anchor) @",
        "One side of your negatives is the positive's: both sides are clean.": "@ unit(clean) -> @ unit(positive)",
        "Your positive is clean and so always at cosine 1: it keeps its noise.": (
            "(anchor) @ unit(positive) -> (clean) @ unit(clean)"
        ),
        "One side of your positive is clean: both keep their noise.": "(positive) -> (clean)",
        "Both sides of your positive keep their noise: anchor and positive.": "(anchor) -> (clean)",
        **_ONE_PART,
        "Scale the clean vectors to length 1, too.": "unit(clean) @ unit(clean) -> clean @ clean",
        "m multiplies the exponentials: to the exponents log m is added, not m.": "math.log(m) -> m",
        "The clean and the noisy vectors are exchanged.": (
            "(clean) @ unit(clean) -> (a) @ unit(p); (anchor) @ unit(positive) -> (clean) @ unit(clean); "
            "(a) @ unit(p) -> (anchor) @ unit(positive)"
        ),
        "j = i is no negative: leave the diagonal of the clean cosines out, it is 1.": DIAGONAL,
        "m is not used: it multiplies the sum of the negatives.": " + math.log(m) -> ",
        "m multiplies the positive's logit: that is the released code, not Eq. 3.": (
            " + math.log(m) -> ; diagonal().double() -> diagonal().double() * m"
        ),
        "m multiplies the exponentials, not the cosines within.": " + math.log(m) -> * m",
        "m multiplies the negatives alone, not the whole denominator.": "[s[:, None] -> [s[:, None] + math.log(m)",
    }
    | choice_mistakes(lambda a, p, c, *more: _logits(a, p, c, c, *more))
    | temperature_mistakes(_off_dropout, usual=0.05, at=3),
    right=_off_dropout,
)

# ---- 3: +noise: my_noise(views, variance, generator) -> as many views, each with noise of its own ---------


def _noise(views: Any, variance: float, generator: Any) -> list[Any]:
    return [view + variance**0.5 * torch.randn(view.shape, generator=generator).to(view) for view in views]


_ASKED = 0.09  # a variance: its root is 0.3, its square 0.0081


def _noisy(answer: Any, rows: int = 3, width: int = 4, size: float = 1.0, train: bool = False) -> tuple[list[Any], Any]:
    """Two views, which want gradients in training, and what comes back."""
    first = size * torch.arange(float(rows * width)).reshape(rows, width)
    views = [first, -first]
    given = [1 * view.clone().requires_grad_(train) for view in views]
    return views, answer(given, _ASKED, torch.Generator().manual_seed(0))


def _rows(matrix: Any) -> torch.Tensor:
    return torch.as_tensor(matrix).detach().cpu().double()


def _added(answer: Any, **views: Any) -> list[torch.Tensor]:
    given, found = _noisy(answer, **views)
    return [_rows(one) - view.detach().double() for view, one in zip(given, found, strict=True)]


def _centred_on_the_views(answer: Any) -> str:
    given, found = _noisy(answer, rows=50, width=50, size=0.004)  # 0 to 10, and 0 to -10
    added = [_rows(one) - view.detach().double() for view, one in zip(given, found, strict=True)]
    if all(abs(float(one.mean())) < 0.2 for one in added):
        return ""
    along = [
        float((_rows(one) * unit(view.detach().double())).sum()) / 50 for view, one in zip(given, found, strict=True)
    ]
    if all(abs(length) < 0.3 for length in along):
        return "This is the noise alone: add it to the view."
    if all(abs(length - 1) < 0.3 for length in along):
        return "Your views were scaled to length 1: add the noise to them as they are."
    return "Noise with mean 0 leaves the mean as it is."


def _as_wide_as_asked(answer: Any) -> str:
    drawn = torch.cat(_added(answer, rows=50, width=50, size=0.0)).flatten()
    found = float(drawn.var())
    normal = 2.5 * found**2 < float((drawn - drawn.mean()).pow(4).mean()) < 3.6 * found**2
    if abs(found / _ASKED - 1) < 0.08:
        return "" if normal else "That is not Gaussian: torch.randn draws normal numbers."
    known = {
        _ASKED**2: "Multiply by the root of the variance, the standard deviation.",
        _ASKED**4: "Multiply by the root of the variance, not by its square.",
        1.0: "torch.randn has variance 1: multiply by the root of the variance.",
        0.0: "Added to zeros, it is nothing: noise does not depend on how large the view is.",
    }
    told = [said for wrong, said in known.items() if abs(found - wrong) <= 0.1 * wrong]
    told = told if normal or not found else ["It is not Gaussian either: torch.randn draws normal numbers."]
    return " ".join([f"Yours has variance {found:.3g}; asked for is {_ASKED:g}.", *told])


def _whatever_the_vector(answer: Any) -> bool:
    small, large = (torch.cat(_added(answer, rows=50, width=50, size=size)).std() for size in (0.0, 1.0))
    return bool(abs(large / small - 1) < 0.1)


def _drawn_anew(answer: Any) -> str:
    state = torch.get_rng_state()
    one, again = (_added(answer) for _ in range(2))
    if not torch.equal(state, torch.get_rng_state()) or not torch.equal(one[0], again[0]):
        torch.set_rng_state(state)
        return "Give the generator to torch.randn: generator=generator."
    if torch.allclose(one[0], one[1], atol=1e-4):
        return "Your noise is the same in both views: draw for each."
    alone = _added(answer, size=0.0)
    if min(float(one.std(dim).min()) for one in alone for dim in (0, 1)) < 1e-6:
        return "Several numbers of a view have the same noise: draw for each, torch.randn(view.shape)."
    generator, still = torch.Generator().manual_seed(0), torch.zeros(3, 4)
    alike = torch.equal(*(_rows(answer([still, still], _ASKED, generator)[0]) for _ in range(2)))
    return "Yours is the same at each call: do not seed anything yourself." if alike else ""


def _left_as_they_were(answer: Any) -> bool:
    views = [torch.ones(3, 4), torch.ones(3, 4)]
    answer(views, _ASKED, torch.Generator().manual_seed(0))
    return all(torch.equal(view, torch.ones(3, 4)) for view in views)


GAUSSIAN = Exercise(
    Stage(
        "two views of 3 sentences come back as two",
        lambda answer: wrong_shapes(_noisy(answer)[1], 2, (3, 4)),
        "Go through the views, and collect what you make of each.",
    ),
    Stage("the views are still there, with something added", _centred_on_the_views),
    Stage("what is added is Gaussian, with the variance that was asked for", _as_wide_as_asked),
    Stage(
        "it is as large for a long vector as for a short one",
        _whatever_the_vector,
        "The noise is added to the view as it is; it is not multiplied with it.",
    ),
    Stage("each view has noise of its own, drawn anew at each call, from the generator", _drawn_anew),
    Stage(
        "the views that were given are left as they were",
        _left_as_they_were,
        "view += noise writes into the view that positives are made of; view + noise is a new one.",
    ),
    Stage(
        "gradients go through to the views",
        lambda answer: all(getattr(view, "requires_grad", False) for view in _noisy(answer, train=True)[1]),
        for_training=True,
    ),
    right=_noise,
)

# ---- 4: -noise: my_means(passes) -> two views, each the mean of half of the passes -------------------------


def _means(passes: Any) -> Any:
    return [torch.stack(list(passes[half::2])).mean(0) for half in (0, 1)]


def _of_passes(answer: Any, train: bool = False) -> Any:
    """What is made of passes of which the k-th is 1 at place k: in a mean each place shows the share of a pass."""
    return answer([1 * torch.eye(6)[[k] * 4].requires_grad_(train) for k in range(6)])


def _each_pass_once(answer: Any) -> str:
    one, other = (_rows(view)[0] for view in _of_passes(answer))
    third = torch.full((6,), 1 / 3, dtype=torch.float64)
    if all(bool(torch.isclose(view, third * (view > 0), atol=1e-3).all()) for view in (one, other)):
        both = int(((one > 0) & (other > 0)).sum())
        if both:
            return f"{both} passes are in both means: no pass may be, or their noise is the same."
        if bool(((one > 0) | (other > 0)).all()):
            mine = [at + 1 for at in range(6) if one[at] > 0]
            told = f"Your first view is made of the passes {', '.join(map(str, mine))}"
            return "" if mine == [1, 3, 5] else f"{told}: they take turns, and the first belongs to the first view."
    if bool(torch.isclose(one, other).all()) and abs(float(one.sum()) - 1) < 1e-3:
        return "Both are the mean of all passes: half of them belongs to each."
    if abs(float(one.sum()) - 3) < 1e-3:
        return "Take the mean of the passes, not the sum."
    if sorted(one.tolist())[-1] > 0.999:
        return "These are single passes: take the mean of three for each view."
    shares = ", ".join(f"{share:.2f}" for share in one.tolist())
    return f"In your first view the six passes have the shares {shares}; three of them should have a third each."


MEANS_OF_PASSES = Exercise(
    Stage(
        "six passes of 4 sentences make two views",
        lambda answer: wrong_shapes(_of_passes(answer), 2, (4, 6)),
        "torch.stack puts matrices on top of each other; mean(dim=0) is the mean over them.",
    ),
    Stage("each view is the mean of three passes, which take turns", _each_pass_once),
    Stage(
        "of two passes each is a view as it is",
        lambda answer: all(
            float((_rows(view) - 1).abs().min()) < 1e-6 for view in answer([torch.ones(2, 3), torch.ones(2, 3)])
        ),
        "nothing is scaled: the mean of one pass is that pass.",
    ),
    Stage(
        "gradients go through to the passes",
        lambda answer: all(getattr(view, "requires_grad", False) for view in _of_passes(answer, train=True)),
        for_training=True,
    ),
    right=_means,
)

# ---- 6: pull and push: my_forces(contrast, views, others, weights) -> two lists of gradients --------------


def _forces(contrast: Any, views: Any, others: Any, weights: Any) -> Any:
    def still(pair: Any) -> Any:
        return [view.detach() for view in pair]

    losses = contrast(*views, *still(others)), contrast(*still(views), *others)
    return [torch.autograd.grad(loss, weights, retain_graph=True) for loss in losses]


def _small() -> tuple[Any, ...]:
    """A loss a p (x + y) of four numbers that are 2, 3, 2 + 1 and 3 + 2, made with two weights, 1 and 3."""
    weights = [torch.tensor([[1.0]], requires_grad=True), torch.tensor([[3.0]], requires_grad=True)]
    views = [2 * weights[0], 1 * weights[1]]
    return lambda a, p, x, y: (a * p * (x + y)).sum(), views, [views[0] + 1, views[1] + 2], weights


_PULL, _PUSH = [48.0, 16.0], [12.0, 6.0]  # 2 * 3 * 8 and 2 * 8; 6 * 2 and 6
_WHOLE = [60.0, 22.0]
_MISTAKEN = {
    (*_PUSH, *_PULL): "The two are exchanged: first the gradient through the positives, others held still.",
    (*_WHOLE, *_WHOLE): "Nothing is held still: detach the pair through which no gradient should go.",
    (*_PULL, *_WHOLE): "In the second the positives are to be held still: detach the views.",
    (*_WHOLE, *_PUSH): "In the first the negatives are to be held still: detach the others.",
    (*_PULL, *_PULL): "Both are the pull: for the push, detach the views and not the others.",
    (*_PUSH, *_PUSH): "Both are the push: for the pull, detach the others and not the views.",
    (30.0, 15.0, 50.0, 15.0): "contrast takes the views first, for the positives, and then the others.",
    (48.0, 12.0, 16.0, 6.0): "Yours go weight by weight: first all gradients of the pull, then all of the push.",
    (24.0, 16.0, 6.0, 6.0): "These are the gradients by the vectors: ask for those by the weights.",
    tuple(-number for number in (*_PULL, *_PUSH)): "The sign is the other way round: return the gradients as they are.",
}


_ADD_UP = "Gradients add up in weight.grad: torch.autograd.grad returns those of one loss alone."


def _pulled_and_pushed(answer: Any) -> str:
    given = _small()
    result = answer(*given)
    both = list(result) if isinstance(result, list | tuple) and len(result) == 2 else []
    shapes = [[np.shape(numbers_of(one)) for one in kind] for kind in both if isinstance(kind, list | tuple)]
    if shapes != [[(1, 1)] * 2] * 2:
        told = f"two, with the shapes {shapes}" if shapes and len(str(shapes)) < 200 else f"one {type(result).__name__}"
        return (
            "Wanted are two lists, each with a gradient for each weight, shaped as the weight; "
            f"your function returned {told}."
        )
    numbers = [numbers_of(list(kind)) for kind in both]
    values = [float(number) for one in numbers for number in one.ravel()]
    if np.allclose(values, [*_PULL, *_PUSH], atol=1e-2):
        return ""
    known = [said for wrong, said in _MISTAKEN.items() if np.allclose(values, wrong, atol=1e-2)]
    if values[2:] == _WHOLE and any(weight.grad is not None for weight in given[3]):
        known = [_ADD_UP]
    return " ".join([f"Yours are {values[:2]} and {values[2:]}; expected are {_PULL} and {_PUSH}.", *known])


def _used_again(answer: Any) -> bool:
    contrast, *rest = _small()
    answer(contrast, *rest)
    return _pulled_and_pushed(lambda *given: answer(contrast, *rest)) == ""


PULL_AND_PUSH = Exercise(
    Stage(
        "a loss of 2 * 3 * (2 + 1 + 3 + 2): pull and push, by both weights",
        _pulled_and_pushed,
        "view.detach() is the same vector, through which no gradient goes.",
    ),
    Stage("the same views can be asked again", _used_again, "retain_graph=True keeps what the next gradient needs"),
    right=_forces,
)
