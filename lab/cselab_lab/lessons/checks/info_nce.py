"""Stages for an exercise that writes InfoNCE: my_info_nce(cosines, temperature=0.05), the mean over the rows."""

import math
from typing import Any

import torch
import torch.nn.functional as F

from cselab_lab.lessons.exercises import Example


def _terms(logits: Any, dim: Any = 1) -> Any:
    return logits.logsumexp(dim) - logits.diagonal()


def _symmetric(cosines: Any, temperature: Any = 0.05) -> Any:
    logits = cosines / temperature
    return (_terms(logits).mean() + _terms(logits, 0).mean()) / 2


def _without_positive(cosines: Any, temperature: Any = 0.05) -> Any:
    e = (cosines / temperature).exp()
    return -(e.diagonal() / (e.sum(1) - e.diagonal())).log().mean()


def _softmax_twice(cosines: Any, temperature: Any = 0.05) -> Any:
    return F.cross_entropy((cosines / temperature).softmax(1), torch.arange(len(cosines)))


def _log_of_mean(cosines: Any, temperature: Any = 0.05) -> Any:
    return -(cosines / temperature).softmax(1).diagonal().mean().log()


MISTAKES = {
    "Take the mean over the sentences, not the sum.": lambda c, t=0.05: _terms(c / t).sum(),
    "The sum holds the positive, too: j runs over all columns.": _without_positive,
    "Divide by the temperature, do not multiply.": lambda c, t=0.05: _terms(c * t).mean(),
    "The temperature is not used.": lambda c, t=0.05: _terms(c).mean(),
    "The temperature is 0.05 in your code, whatever is asked for.": lambda c, t=0.05: _terms(c / 0.05).mean(),
    "The sum runs over j, along a row: dim=1.": lambda c, t=0.05: _terms(c / t, 0).mean(),
    "Only rows choose among columns; this is the mean of both directions.": _symmetric,
    "cross_entropy takes the softmax by itself: give it the logits.": _softmax_twice,
    "The log comes first, then the mean over the sentences.": _log_of_mean,
    "The right answer for row i is column i, not column 0.": lambda c, t=0.05: (
        (c / t).logsumexp(1) - (c / t)[:, 0]
    ).mean(),
    "The loss is minus the log.": lambda c, t=0.05: -_terms(c / t).mean(),
    "The log is missing.": lambda c, t=0.05: (c / t).softmax(1).diagonal().mean(),
    "exp(200) is too large for a float: torch.logsumexp does not overflow.": math.inf,
    "An overflow: exp(200) is too large for a float; torch.logsumexp does not overflow.": math.nan,
}

UNEQUAL = torch.tensor([[1.0, 0.5, 0.0], [0.8, 0.1, 0.9], [0.7, 0.3, 0.6]])
# by hand at temperature 1: row 0: log(e^1 + e^0.5 + 1) - 1, and so on
OF_UNEQUAL = sum(math.log(sum(math.exp(c) for c in row)) - row[i] for i, row in enumerate(UNEQUAL.tolist())) / 3
LARGE = torch.tensor([[1.0, 0.99, -1.0], [0.0, 1.0, 0.995], [-0.5, 0.0, 1.0]])
OF_LARGE = (math.log1p(math.exp(-2)) + math.log1p(math.exp(-1))) / 3

STAGES = [
    Example("who cannot tell 4 sentences apart has log 4 = 1.386", (torch.zeros(4, 4),), math.log(4), MISTAKES),
    Example(
        "positive at cosine 1, negative at 0, temperature 0.5: log(1 + exp(-2)) = 0.127",
        (torch.eye(2), 0.5),
        math.log1p(math.exp(-2)),
        MISTAKES,
    ),
    Example("each anchor (a row) chooses among the positives (the columns)", (UNEQUAL, 1.0), OF_UNEQUAL, MISTAKES),
    Example("a temperature of 0.005 does not overflow", (LARGE, 0.005), OF_LARGE, MISTAKES),
]
