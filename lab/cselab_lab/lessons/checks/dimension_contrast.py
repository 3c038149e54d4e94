"""Stages for an exercise that writes the dimension-wise contrast (ImSimCSE Eq. 5, with the scale of the released code).

my_dimension_contrast(anchor, positive, temperature=5.0), the mean over the dimensions.
"""

import math
from typing import Any

import torch
import torch.nn.functional as F

from cselab_lab.lessons.exercises import Example


def _standard(view: Any, correction: Any = 0) -> Any:
    return (view - view.mean(0)) / view.std(0, correction=correction)


def _terms(logits: Any, dim: Any = 1) -> Any:
    return logits.logsumexp(dim) - logits.diagonal()


def _wrong(
    standard: Any = _standard,
    dots: Any = lambda a, p: a.T @ p / len(a),
    scale: Any = lambda t: 1 / t,
    end: Any = lambda logits: _terms(logits).mean(),
) -> Any:
    """The loss with one mistake."""
    return lambda anchor, positive, temperature=5.0: end(
        dots(standard(anchor), standard(positive)) * scale(temperature)
    )


def _by_cross_entropy(labels: Any, softmax: Any = False) -> Any:
    def end(logits: Any) -> Any:
        return F.cross_entropy(logits.softmax(1) if softmax else logits, labels(len(logits)))

    return end


MISTAKES = {
    "These are the sentences: transpose, so that dimensions are contrasted.": _wrong(
        dots=lambda a, p: a @ p.T / len(a)
    ),
    "These are the rows of InfoNCE, cosines of sentences: contrast the columns.": _wrong(
        standard=lambda v: F.normalize(v, dim=1), dots=lambda a, p: a @ p.T
    ),
    "Standardise each dimension first: mean 0 and variance 1 over the batch.": _wrong(standard=lambda v: v),
    "Divide each dimension by its standard deviation, too.": _wrong(standard=lambda v: v - v.mean(0)),
    "Subtract each dimension's mean, too.": _wrong(standard=lambda v: v / v.std(0, correction=0)),
    "Subtract the mean, too: this is the cosine of two columns as they are.": _wrong(
        standard=lambda v: F.normalize(v, dim=0), dots=lambda a, p: a.T @ p
    ),
    "Standardise over the batch (dim=0), not each row.": _wrong(standard=lambda v: _standard(v.T).T),
    "Divide the variance by N, not N - 1: correction=0.": _wrong(standard=lambda v: _standard(v, 1)),
    "Divide the dot product by N.": _wrong(dots=lambda a, p: a.T @ p),
    "Divide the dot product by N, the rows, not by the number of dimensions.": _wrong(
        dots=lambda a, p: a.T @ p / a.shape[1]
    ),
    "The temperature is not used.": _wrong(scale=lambda t: 1.0),
    "Divide by the temperature, do not multiply.": _wrong(scale=lambda t: t),
    "The temperature is 5 in your code, whatever is asked for.": _wrong(scale=lambda t: 0.2),
    "The sum runs over d, the dimensions of positive: dim=1.": _wrong(end=lambda s: _terms(s, 0).mean()),
    "Only anchor's dimensions choose among positive's; this is the mean of both directions.": _wrong(
        end=lambda s: (_terms(s).mean() + _terms(s, 0).mean()) / 2
    ),
    "The mean over the dimensions, not the sum (that is the paper's scale).": _wrong(end=lambda s: _terms(s).sum()),
    "cross_entropy takes the softmax by itself: give it the logits.": _wrong(
        end=_by_cross_entropy(torch.arange, softmax=True)
    ),
    "The right answer for dimension c is c, not 0.": _wrong(
        end=_by_cross_entropy(lambda n: torch.zeros(n, dtype=torch.long))
    ),
    "The log comes first, then the mean over the dimensions.": _wrong(
        end=lambda s: -s.softmax(1).diagonal().mean().log()
    ),
    "The loss is minus the log.": _wrong(end=lambda s: -_terms(s).mean()),
    "A row with one value has no variance: standardise over the batch (dim=0), not each row.": math.nan,
    "The log is missing.": _wrong(end=lambda s: s.softmax(1).diagonal().mean()),
}

UNCORRELATED = torch.tensor([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])
ANCHOR = torch.tensor([[2.0, 0.0, 1.0], [4.0, 1.0, -1.0], [9.0, 5.0, 0.0], [1.0, 2.0, 3.0], [3.0, 0.5, 1.5]])
POSITIVE = torch.tensor([[1.0, 0.5, 1.0], [5.0, 0.0, -2.0], [7.0, 4.0, 1.0], [2.0, 3.0, 2.0], [3.0, 2.0, -1.0]])


def _by_hand(temperature: float) -> float:
    """With Pearson's correlation, dimension by dimension, in plain Python."""
    one, other = ANCHOR.T.tolist(), POSITIVE.T.tolist()

    def correlation(x: list[float], y: list[float]) -> float:
        mx, my = sum(x) / len(x), sum(y) / len(y)
        both = sum((a - mx) * (b - my) for a, b in zip(x, y, strict=True))
        return both / math.sqrt(sum((a - mx) ** 2 for a in x) * sum((b - my) ** 2 for b in y))

    terms = [
        math.log(sum(math.exp((correlation(x, y) - correlation(x, other[c])) / temperature) for y in other))
        for c, x in enumerate(one)
    ]
    return sum(terms) / len(terms)


STAGES = [
    Example(
        "three uncorrelated dimensions at temperature 1: log(1 + 2 / e) = 0.551",
        (UNCORRELATED, UNCORRELATED, 1.0),
        math.log1p(2 * math.exp(-1)),
        MISTAKES,
    ),
    Example("five sentences, three dimensions", (ANCHOR, POSITIVE, 0.5), _by_hand(0.5), MISTAKES),
    Example(
        "neither the scale nor the mean of a dimension matters",
        (ANCHOR * torch.tensor([3.0, 1.0, 0.2]) + torch.tensor([4.0, 0.0, -7.0]), POSITIVE, 0.5),
        _by_hand(0.5),
        MISTAKES,
    ),
    Example("a lower temperature is sharper", (ANCHOR, POSITIVE, 0.1), _by_hand(0.1), MISTAKES),
]
