"""Stages for an exercise that writes Focal-InfoNCE: my_focal(cosines, temperature=0.07, m=0.3), mean over the rows."""

import math
from typing import Any

import torch
import torch.nn.functional as F

from cselab_lab.lessons.exercises import Example


def _wrong(
    negative: Any = lambda s, m: s * (s + m),
    positive: Any = lambda s, m: s * s,
    temperature: Any = lambda t: t,
    terms: Any = lambda logits: logits.logsumexp(1) - logits.diagonal(),
    over: Any = torch.mean,
) -> Any:
    """Focal-InfoNCE with one mistake: in a factor, in the temperature, or in what is made of the logits."""

    def of(cosines: Any, t: Any = 0.07, m: Any = 0.3) -> Any:
        s = cosines.double()
        logits = negative(s, m).diagonal_scatter(positive(s, m).diagonal()) / temperature(t)
        return over(terms(logits))

    return of


def _without_positive(logits: Any) -> Any:
    own = torch.eye(len(logits), dtype=torch.bool)
    return logits.masked_fill(own, -math.inf).logsumexp(1) - logits.diagonal()


def _softmax_twice(logits: Any) -> Any:
    return F.cross_entropy(logits.softmax(1), torch.arange(len(logits)), reduction="none")


def _log_of_mean(cosines: Any, t: Any = 0.07, m: Any = 0.3) -> Any:
    return -_wrong(terms=lambda logits: logits.softmax(1).diagonal())(cosines, t, m).log()


MISTAKES = {
    "m belongs to the negatives alone: the positive's cosine is squared, s * s.": _wrong(
        positive=lambda s, m: s * (s + m)
    ),
    "m is on the wrong side: s (s + m) is the negatives' logit, s * s the positive's.": _wrong(
        negative=lambda s, m: s * s, positive=lambda s, m: s * (s + m)
    ),
    "The positive has a factor, too: its cosine is multiplied by itself.": _wrong(positive=lambda s, m: s),
    "The negatives have a factor, too: s (s + m).": _wrong(negative=lambda s, m: s),
    "This is InfoNCE: no cosine is multiplied by its factor.": _wrong(lambda s, m: s, lambda s, m: s),
    "m is not used: a negative's factor is s + m.": _wrong(negative=lambda s, m: s * s),
    "m is added to the factor, not multiplied.": _wrong(negative=lambda s, m: s * s * m),
    "m is added inside the factor, before it multiplies: s (s + m), not s * s + m.": _wrong(
        negative=lambda s, m: s * s + m
    ),
    "The factor is s + m, not s - m.": _wrong(negative=lambda s, m: s * (s - m)),
    "The factor multiplies the cosine itself, s (s + m); it is not squared.": _wrong(
        negative=lambda s, m: (s + m) ** 2
    ),
    "m is 0.3 in your code, whatever is asked for.": _wrong(negative=lambda s, m: s * (s + 0.3)),
    "The sum below holds the positive, too.": _wrong(terms=_without_positive),
    "The sum runs over j, along a row: dim=1.": _wrong(terms=lambda logits: logits.logsumexp(0) - logits.diagonal()),
    "Take the mean over the sentences, not the sum.": _wrong(over=torch.sum),
    "cross_entropy takes the softmax by itself: give it the logits.": _wrong(terms=_softmax_twice),
    "The log comes first, then the mean over the sentences.": _log_of_mean,
    "The loss is minus the log.": _wrong(terms=lambda logits: logits.diagonal() - logits.logsumexp(1)),
    "Divide by the temperature, do not multiply.": _wrong(temperature=lambda t: 1 / t),
    "The temperature is not used.": _wrong(temperature=lambda t: 1),
    "The temperature is 0.07 in your code, whatever is asked for.": _wrong(temperature=lambda t: 0.07),
    "exp(200) is too large for a float: torch.logsumexp does not overflow.": math.inf,
    "An overflow: exp(200) is too large for a float; torch.logsumexp does not overflow.": math.nan,
}

UNEQUAL = [[0.9, 0.5, 0.2], [0.8, 0.6, 0.9], [0.1, 0.4, 0.7]]


def by_hand(cosines: list[list[float]], temperature: float, m: float) -> float:
    """The mean of the losses, written with loops."""
    losses = []
    for i, row in enumerate(cosines):
        logits = [s * s / temperature if j == i else s * (s + m) / temperature for j, s in enumerate(row)]
        highest = max(logits)
        losses.append(highest + math.log(sum(math.exp(logit - highest) for logit in logits)) - logits[i])
    return sum(losses) / len(losses)


STAGES = [
    Example(
        "positive 0.8, negative 0.5, m 0.3, temperature 1: 0.64 against 0.40, so log(1 + exp(-0.24)) = 0.580",
        (torch.tensor([[0.8, 0.5], [0.5, 0.8]]), 1.0, 0.3),
        math.log1p(math.exp(-0.24)),
        MISTAKES,
    ),
    Example(
        "a negative at 1 - m keeps its logit: positive 1, negative 0.5, m 0.5, temperature 0.25: log(1 + exp(-2))",
        (torch.tensor([[1.0, 0.5], [0.5, 1.0]]), 0.25, 0.5),
        math.log1p(math.exp(-2)),
        MISTAKES,
    ),
    Example(
        "unequal rows at temperature 0.5 and m 0.2, by hand",
        (torch.tensor(UNEQUAL), 0.5, 0.2),
        by_hand(UNEQUAL, 0.5, 0.2),
        MISTAKES,
    ),
    Example(
        "a temperature of 0.004 does not overflow",
        (torch.tensor(UNEQUAL), 0.004, 0.2),
        by_hand(UNEQUAL, 0.004, 0.2),
        MISTAKES,
        tolerance=1e-2,
    ),
]
