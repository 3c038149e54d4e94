"""The exercises of lesson 05: InfoNCE with off-dropout negatives, and two sentences whose dropout clouds overlap."""

import math
from functools import cache
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from cselab_lab.lessons.checks.answers import is_whole
from cselab_lab.lessons.checks.encoders import mini_views, plain
from cselab_lab.lessons.checks.mistakes import choice_mistakes, length_mistakes, temperature_mistakes
from cselab_lab.lessons.checks.sentences import JUDGE, say_the_same, words
from cselab_lab.lessons.exercises import Example, Exercise, Stage

# ---- 1: off-dropout negatives (ImSimCSE Eq. 3): my_off_dropout(anchor, positive, clean, temperature, m) ----


def _cosines(x: Any, y: Any) -> Any:
    return F.normalize(x, dim=1) @ F.normalize(y, dim=1).T


def _off_dropout(
    positive: Any = lambda a, p, c: (a, p),
    negative: Any = lambda a, p, c: (c, c),
    cosine: Any = _cosines,
    own: Any = lambda s, m: s,
    others: Any = lambda n, m: n + math.log(m),
    diagonal: bool = False,
    numerator: Any = lambda s, m: s,
) -> Any:
    """The loss with one mistake: in its pairs, in its cosines, in where m stands, in the diagonal of the clean ones."""

    def of(a: Any, p: Any, c: Any, t: Any = 0.05, m: Any = 1.0) -> Any:
        s = cosine(*positive(a, p, c)).diagonal().double() / t
        n = others(cosine(*negative(a, p, c)).double() / t, m)
        n = n if diagonal else n.masked_fill(torch.eye(len(n), dtype=torch.bool), -math.inf)
        below = torch.cat([own(s, m)[:, None], n], dim=1)
        return (below.logsumexp(1) - numerator(s, m)).mean()

    return of


def _logits(a: Any, p: Any, c: Any, t: Any = 0.05, m: Any = 1.0) -> Any:
    return (_cosines(c, c) / t + math.log(m)).diagonal_scatter(_cosines(a, p).diagonal() / t)


def _at(*degrees: float) -> torch.Tensor:
    """Unit vectors in the plane, at these angles."""
    radians = torch.tensor(degrees).deg2rad()
    return torch.stack([radians.cos(), radians.sin()], dim=1)


_ANGLES = (0.0, 60.0, 130.0), (20.0, 50.0, 160.0), (10.0, 80.0, 170.0)  # anchor, positive, clean; degrees
_VIEWS = tuple(_at(*degrees) for degrees in _ANGLES)
_RIGHT_ANGLES = _at(0.0, 90.0)


def _by_hand(temperature: float, m: float) -> float:
    """With the cosine of the angle between, sentence by sentence."""
    total = 0.0
    for i, (a, p, c) in enumerate(zip(*_ANGLES, strict=True)):
        own = math.cos(math.radians(a - p)) / temperature
        others = [math.cos(math.radians(c - d)) / temperature for j, d in enumerate(_ANGLES[2]) if j != i]
        total += math.log1p(m * sum(math.exp(other - own) for other in others))
    return total / 3


def _reaches_clean(answer: Any) -> bool:
    """Whether all views get a gradient; of an answer in plain numbers nothing is asked."""
    views = [view.clone().requires_grad_() for view in _VIEWS]
    try:
        loss = answer(*views, 0.5)
    except RuntimeError:  # NumPy takes no tensor that wants a gradient
        return True
    if not getattr(loss, "requires_grad", False):
        return True
    loss.backward()
    return all(view.grad is not None and bool(view.grad.abs().sum() > 1e-6) for view in views)


OFF_DROPOUT = Exercise(
    Example(
        "two sentences at a right angle, no noise, temperature 1: log(1 + exp(-1)) = 0.313",
        (_RIGHT_ANGLES, _RIGHT_ANGLES, _RIGHT_ANGLES, 1.0),
        math.log1p(math.exp(-1)),
    ),
    Example("positives are noisy, negatives clean on both sides", (*_VIEWS, 0.5), _by_hand(0.5, 1.0)),
    Example("m = 3 counts each negative three times", (*_VIEWS, 0.5, 3.0), _by_hand(0.5, 3.0)),
    Example(
        "the lengths of the vectors do not matter",
        (0.5 * _VIEWS[0], 0.8 * _VIEWS[1], 0.7 * _VIEWS[2], 0.5),
        _by_hand(0.5, 1.0),
    ),
    Example("a temperature of 0.005 does not overflow", (*_VIEWS, 0.005), _by_hand(0.005, 1.0)),
    Stage(
        "the gradient, where there is one, reaches all three views",
        _reaches_clean,
        "off-dropout turns off the noise, not the learning: no detach, no no_grad on the way.",
    ),
    mistakes={
        "These negatives are noisy, as in SimCSE: both sides are clean.": _off_dropout(negative=lambda a, p, c: (a, p)),
        "One side of your negatives is noisy: both sides are clean.": _off_dropout(negative=lambda a, p, c: (a, c)),
        "One side of your negatives is the positive's: both sides are clean.": _off_dropout(
            negative=lambda a, p, c: (c, p)
        ),
        "Your positive is clean and so always at cosine 1: it keeps its noise.": (_off_dropout(lambda a, p, c: (c, c))),
        "One side of your positive is clean: both keep their noise.": _off_dropout(lambda a, p, c: (a, c)),
        "Both sides of your positive keep their noise: anchor and positive.": _off_dropout(lambda a, p, c: (c, p)),
        "The clean and the noisy vectors are exchanged.": _off_dropout(lambda a, p, c: (c, c), lambda a, p, c: (a, p)),
        "j = i is no negative: leave the diagonal of the clean cosines out, it is 1.": _off_dropout(diagonal=True),
        "m is not used: it multiplies the sum of the negatives.": _off_dropout(others=lambda n, m: n),
        "m multiplies the positive's logit: that is the released code, not Eq. 3.": _off_dropout(
            own=lambda s, m: m * s, others=lambda n, m: n, numerator=lambda s, m: m * s
        ),
        "m multiplies the exponentials, not the cosines within.": _off_dropout(others=lambda n, m: m * n),
        "m multiplies the negatives alone, not the whole denominator.": _off_dropout(own=lambda s, m: s + math.log(m)),
    }
    | length_mistakes(lambda scale: _off_dropout(cosine=lambda x, y: scale(x) @ scale(y).T))
    | choice_mistakes(_logits)
    | temperature_mistakes(_off_dropout(), usual=0.05, at=3),
)

# ---- 2: two sentences whose dropout clouds overlap, and K passes whose mean keeps them apart: (first, second, K)

PASSES = 480
MOST = 60  # the largest K: at least 8 means of so many passes can be taken
NEAR = 0.03  # a share of the radius: what so many passes leave to chance


@cache
def _passes(sentence: str) -> np.ndarray:
    """Unit vectors [PASSES, d] of a sentence, each with a dropout mask of its own; always the same ones."""
    return mini_views([sentence] * PASSES, 1)[0].cpu().numpy()


def radius(sentence: str, k: int = 1) -> float:
    """How wide the cloud of a sentence is when each dot is the mean of k dropout passes: `mini`, [CLS], length 1.

    The root mean square distance of the means to their own centre, of 480 passes.

    Raises:
        ValueError: k is not between 1 and 60.
    """
    if not 1 <= k <= MOST:
        raise ValueError(f"k is {k!r}; of {PASSES} passes means of 1 to {MOST} can be taken.")
    means = _passes(sentence)[: PASSES // k * k].reshape(-1, k, plain().embedding_dimension).mean(1)
    return float(np.sqrt(means.var(0, ddof=1).sum()))


def distance(first: str, second: str) -> float:
    """How far two sentences lie apart on the unit sphere without dropout."""
    one, other = plain().encode([first, second], normalize_embeddings=True)
    return float(np.linalg.norm(one - other))


def _parts(answer: Any) -> tuple[str, str, int]:
    first, second, k = answer
    return str(first), str(second), int(k)


def _form(answer: Any) -> str:
    if isinstance(answer, str | dict) or not hasattr(answer, "__len__") or len(answer) != 3:
        return 'Write three things: ("one sentence", "another one", K).'
    *texts, k = answer
    if not all(isinstance(text, str) and words(text) for text in texts):
        return "The first two are sentences, in quotation marks."
    if not is_whole(k):
        return f"K is a whole number of passes; yours is {k!r}."
    return "" if 1 <= k <= MOST else f"K is {k}; the check can try 1 to {MOST}."


def _tangled(answer: Any) -> str:
    first, second, _ = _parts(answer)
    wide, apart = radius(first), distance(first, second)
    if wide <= apart:
        return (
            f"The cloud of {first!r} has radius {wide:.3f}, the second lies {apart:.3f} away. Come nearer: which words "
            "can change places, or be exchanged, so that the vector hardly notices?"
        )
    if radius(first, MOST) * (1 - NEAR) > apart / 2:
        return f"They lie only {apart:.3f} apart, and more than {MOST} passes would be needed: choose two less alike."
    return ""


def _enough(answer: Any) -> str:
    first, second, k = _parts(answer)
    wide, half = radius(first, k), distance(first, second) / 2
    if wide * (1 - NEAR) <= half:
        return ""
    told = f"The means of {k} have radius {wide:.3f}; half the distance is {half:.3f}."
    once = radius(first)
    if k == math.ceil(once / half):
        return f"{told} The variance falls with K, and so the radius with the root of K."
    if k == math.ceil((once / half / 2) ** 2):
        return f"{told} Half the distance is asked for, not the whole."
    return f"{told} More passes are needed."


def _fewest(answer: Any) -> str:
    first, second, k = _parts(answer)
    if k == 1 or (wide := radius(first, k - 1)) * (1 + NEAR) > (half := distance(first, second) / 2):
        return ""
    return f"The means of {k - 1} already have radius {wide:.3f}, and half the distance is {half:.3f}."


DROPOUT_CLOUDS = Exercise(
    Stage("two sentences and a number", _form),
    Stage(
        f"the sentences do not say the same ({JUDGE})", lambda a: say_the_same(*_parts(a)[:2]), "Change what is said."
    ),
    Stage("the first sentence's cloud has a radius larger than the distance to the second", _tangled),
    Stage("the mean of K passes brings it under half that distance", _enough),
    Stage("no smaller K does", _fewest),
)
