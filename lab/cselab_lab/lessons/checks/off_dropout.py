"""Stages for an exercise that writes the InfoNCE with off-dropout negatives (ImSimCSE Eq. 3).

my_off_dropout(anchor, positive, clean, temperature=0.05, m=1.0), the mean over the rows.
"""

import math
from typing import Any

import torch
import torch.nn.functional as F

from cselab_lab.lessons.exercises import Example, Stage


def _cosines(x: Any, y: Any) -> Any:
    return F.normalize(x, dim=1) @ F.normalize(y, dim=1).T


def _wrong(
    positive: Any = lambda a, p, c: (a, p),
    negative: Any = lambda a, p, c: (c, c),
    diagonal: Any = False,
    own: Any = True,
    scale: Any = lambda t: 1 / t,
    m_on: Any = "sum",
    cosine: Any = _cosines,
    end: Any = lambda terms: terms.mean(),
) -> Any:
    """The loss with one mistake."""

    def of(a: Any, p: Any, c: Any, temperature: Any = 0.05, m: Any = 1.0) -> Any:
        s = cosine(*positive(a, p, c)).diagonal() * scale(temperature)
        n = cosine(*negative(a, p, c)) * scale(temperature)
        s = s * m if m_on == "positive" else s
        n = n * m if m_on == "cosine" else n
        e = n.exp() if diagonal else n.exp().masked_fill(torch.eye(len(n), dtype=torch.bool), 0)
        others = e.sum(1) * (m if m_on in ("sum", "all") else 1)
        return end(-(s.exp() / (others + s.exp() * own * (m if m_on == "all" else 1))).log())

    return of


MISTAKES = {
    "These negatives are noisy, as in SimCSE: take the cosine of clean[i] and clean[j].": _wrong(
        negative=lambda a, p, c: (a, p)
    ),
    "One side of your negatives is noisy: both sides are clean.": _wrong(negative=lambda a, p, c: (a, c)),
    "One side of your negatives is noisy: both sides are clean, not the positive's.": _wrong(
        negative=lambda a, p, c: (c, p)
    ),
    "Your positive is clean and so always at cosine 1: it keeps its noise, anchor[i] with positive[i].": _wrong(
        positive=lambda a, p, c: (c, c)
    ),
    "One side of your positive is clean: both keep their noise.": _wrong(positive=lambda a, p, c: (a, c)),
    "Both sides of your positive keep their noise: anchor and positive.": _wrong(positive=lambda a, p, c: (c, p)),
    "The clean and the noisy vectors are exchanged.": _wrong(
        positive=lambda a, p, c: (c, c), negative=lambda a, p, c: (a, p)
    ),
    "j = i is no negative: leave the diagonal of the clean cosines out, it is 1.": _wrong(diagonal=True),
    "The positive belongs in the denominator, too.": _wrong(own=False),
    "Divide by the temperature, do not multiply.": _wrong(scale=lambda t: t),
    "The temperature is not used.": _wrong(scale=lambda t: 1.0),
    "The temperature is 0.05 in your code, whatever is asked for.": _wrong(scale=lambda t: 20.0),
    "m is not used: it multiplies the sum of the negatives.": _wrong(m_on=""),
    "m multiplies the positive's logit: that is the released code, not Eq. 3.": _wrong(m_on="positive"),
    "m multiplies the sum of the exponentials, not the cosines within them.": _wrong(m_on="cosine"),
    "m multiplies the negatives alone, not the whole denominator.": _wrong(m_on="all"),
    "Take cosines, not dot products: scale each row to length 1 first.": _wrong(cosine=lambda x, y: x @ y.T),
    "Scale each row to length 1, not each column: dim=1.": _wrong(
        cosine=lambda x, y: F.normalize(x, dim=0) @ F.normalize(y, dim=0).T
    ),
    "Take the mean over the sentences, not the sum.": _wrong(end=lambda terms: terms.sum()),
    "The loss is minus the log.": _wrong(end=lambda terms: -terms.mean()),
    "The log is missing.": _wrong(end=lambda terms: (-terms).exp().mean()),
    "The log comes first, then the mean over the sentences.": _wrong(end=lambda terms: -(-terms).exp().mean().log()),
    "An overflow: exp(200) is too large for a float; torch.logsumexp does not overflow.": math.inf,
    "An overflow, inf - inf: exp(200) is too large for a float; torch.logsumexp does not overflow.": math.nan,
}


def _at(*degrees: float) -> torch.Tensor:
    """Unit vectors in the plane, at these angles."""
    radians = torch.tensor(degrees).deg2rad()
    return torch.stack([radians.cos(), radians.sin()], dim=1)


ANCHOR, POSITIVE, CLEAN = (0.0, 60.0, 130.0), (20.0, 50.0, 160.0), (10.0, 80.0, 170.0)  # degrees


def _by_hand(temperature: float, m: float) -> float:
    """With the cosine of the angle between, sentence by sentence."""
    total = 0.0
    for i, (a, p, c) in enumerate(zip(ANCHOR, POSITIVE, CLEAN, strict=True)):
        own = math.cos(math.radians(a - p)) / temperature
        others = [math.cos(math.radians(c - d)) / temperature for j, d in enumerate(CLEAN) if j != i]
        total += math.log1p(m * sum(math.exp(other - own) for other in others))
    return total / len(ANCHOR)


def _reaches_clean(answer: Any) -> bool:
    views = [_at(*degrees).requires_grad_() for degrees in (ANCHOR, POSITIVE, CLEAN)]
    answer(*views, 0.5).backward()
    return all(view.grad is not None and bool(view.grad.abs().sum() > 1e-6) for view in views)


VIEWS = (_at(*ANCHOR), _at(*POSITIVE), _at(*CLEAN))
RIGHT_ANGLES = _at(0.0, 90.0)
STAGES = [
    Example(
        "two sentences at a right angle, no noise, temperature 1: log(1 + exp(-1)) = 0.313",
        (RIGHT_ANGLES, RIGHT_ANGLES, RIGHT_ANGLES, 1.0),
        math.log1p(math.exp(-1)),
        MISTAKES,
    ),
    Example("positives are noisy, negatives clean on both sides", (*VIEWS, 0.5), _by_hand(0.5, 1.0), MISTAKES),
    Example("m = 3 counts each negative three times", (*VIEWS, 0.5, 3.0), _by_hand(0.5, 3.0), MISTAKES),
    Example(
        "the lengths of the vectors do not matter",
        (0.5 * VIEWS[0], 0.8 * VIEWS[1], 0.7 * VIEWS[2], 0.5),
        _by_hand(0.5, 1.0),
        MISTAKES,
    ),
    Example("a temperature of 0.005 does not overflow", (*VIEWS, 0.005), _by_hand(0.005, 1.0), MISTAKES),
    Stage(
        "the gradient reaches all three views",
        _reaches_clean,
        "off-dropout turns off the noise, not the learning: no detach, no no_grad, no float() on the way.",
    ),
]
