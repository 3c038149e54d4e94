"""The exercises of lesson 02: accuracy and rank of the positive, the gradient of InfoNCE, a batch of hard negatives."""

import math
from typing import Any

import torch

from cselab_lab.lessons.checks.answers import are_texts
from cselab_lab.lessons.checks.encoders import mini_views
from cselab_lab.lessons.checks.mistakes import gradient_mistakes, slopes, temperature_mistakes
from cselab_lab.lessons.checks.sentences import words
from cselab_lab.lessons.exercises import Example, Exercise, Stage, numbers_of

# ---- 1: who finds its own second view: my_ranks(cosines) -> accuracy, mean rank of the positive -----------


def _places(cosines: Any) -> Any:
    """1 + how many others are at least as near."""
    return (cosines >= cosines.diagonal()[:, None]).sum(1).double()


def _ranks(
    places: Any = _places, accuracy: Any = lambda r: (r == 1).double().mean(), rank: Any = lambda r: r.mean()
) -> Any:
    """Accuracy and mean rank with one mistake: in the ranks, or in one of the two numbers."""

    def of(cosines: Any) -> tuple[float, float]:
        found = places(cosines).double()
        return float(accuracy(found)), float(rank(found))

    return of


def _argmax(cosines: Any) -> tuple[float, float]:
    found = cosines.argmax(1) == torch.arange(len(cosines))
    return float(found.double().mean()), float(_places(cosines).mean())


# two sentences that mean the same to the encoder: rows 0 and 1 are equally near to both columns
_TWO_ALIKE = torch.tensor([[0.8, 0.8, 0.1], [0.8, 0.8, 0.2], [0.3, 0.4, 0.9]])
RANKS = Exercise(
    # by hand: row 0 finds itself; in row 1 column 2 is nearer; in row 2 columns 0 and 1; in row 3 all
    Example(
        "four sentences of ranks 1, 2, 3 and 4 have accuracy 0.25 and mean rank 2.5",
        (torch.tensor([[0.9, 0.1, 0.3, 0.2], [0.0, 0.6, 0.8, 0.5], [0.7, 0.9, 0.4, 0.1], [0.5, 0.6, 0.7, 0.3]]),),
        (0.25, 2.5),
    ),
    Example("all find themselves: accuracy 1, mean rank 1", (2 * torch.eye(3) - 1,), (1, 1)),
    Example("of three, two cannot be told apart: accuracy 1/3, ranks 2, 2, 1", (_TWO_ALIKE,), (1 / 3, 5 / 3)),
    Example("an encoder that gives all the same vector finds nobody", (torch.ones(4, 4),), (0, 4)),
    mistakes={
        "Look along the rows: an anchor chooses among the columns.": _ranks(lambda c: (c >= c.diagonal()).sum(0)),
        "A tie is not found: count those at least as near (>=).": _ranks(
            lambda c: (c > c.diagonal()[:, None]).sum(1) + 1
        ),
        "argmax takes the first of several equal cosines: where all are equal, nobody is found.": _argmax,
        "The nearest has rank 1, not 0.": _ranks(rank=lambda r: r.mean() - 1),
        "The nearest has rank 1, not 0: nobody has rank 1 by your count.": _ranks(lambda c: _places(c) - 1),
        "The second view itself was counted twice: the nearest has rank 1.": _ranks(rank=lambda r: r.mean() + 1),
        "Rank 1 is the nearest; yours counts from the farthest.": _ranks(lambda c: (c <= c.diagonal()[:, None]).sum(1)),
        "The right column for row i is i, not 0.": _ranks(lambda c: (c >= c[:, :1]).sum(1)),
        "argsort gives a column; wanted is the place of column i.": _ranks(
            lambda c: c.argsort(1, descending=True).diagonal() + 1
        ),
        "The accuracy is a share: divide by the number of sentences.": _ranks(accuracy=lambda r: (r == 1).sum()),
        "The accuracy is a share, not per cent.": _ranks(accuracy=lambda r: 100 * (r == 1).double().mean()),
        "The share that is found; yours is the share that is not.": _ranks(accuracy=lambda r: (r > 1).double().mean()),
        "The mean of the ranks, not their sum.": _ranks(rank=torch.sum),
        "The mean of the ranks, not their median.": _ranks(rank=torch.median),
        "The mean of the ranks, not of their reciprocals.": _ranks(rank=lambda r: (1 / r).mean()),
        "First the accuracy, then the mean rank.": lambda c: _ranks()(c)[::-1],
    },
)

# ---- 2: what InfoNCE wants of each cosine: my_gradient(cosines, temperature=0.05), [N, N] -----------------


def _gradient(
    shares: Any = lambda logits: logits.softmax(1),
    own: Any = lambda eye: eye,
    outside: Any = lambda t: t,
    inside: Any = lambda t: t,
    end: Any = lambda found, eye: found,
) -> Any:
    """A gradient with one mistake: in the shares, on the diagonal, in the temperature `inside` or `outside` of them."""

    def of(cosines: Any, t: Any = 0.05) -> Any:
        eye = torch.eye(len(cosines), dtype=torch.float64)
        return end((shares(cosines.double() / inside(t)) - own(eye)) / outside(t), eye)

    return of


def _loss(row: list[float], own: int, temperature: float) -> float:
    highest = max(row)
    return math.log(sum(math.exp((c - highest) / temperature) for c in row)) + (highest - row[own]) / temperature


def differences(cosines: list[list[float]], temperature: float, step: float = 1e-5) -> list[list[float]]:
    """d l_i / d cos_ij as finite differences give it: no formula of the gradient is used."""
    return slopes(lambda row, own: _loss(row, own, temperature), cosines, step)


_UNEQUAL = [[1.0, 0.5, 0.0], [0.8, 0.1, 0.9], [0.7, 0.3, 0.6]]
_SHARP = [[0.9, 0.89, -0.5, 0.0], [0.2, 0.95, 0.94, 0.0], [0.3, 0.1, 0.9, 0.0], [0.0, 0.2, 0.5, 0.8]]


def _rows_cancel(answer: Any) -> bool:
    return abs(numbers_of(answer(torch.tensor(_SHARP), 0.05)).sum(1)).max() < 5e-3


GRADIENT = Exercise(
    Example(
        "where all cosines are the same, a third for each of 3, and a whole for the positive",
        (torch.zeros(3, 3), 1.0),
        torch.full((3, 3), 1 / 3) - torch.eye(3),
    ),
    Example(
        "unequal cosines at temperature 0.5, as finite differences give it",
        (torch.tensor(_UNEQUAL), 0.5),
        differences(_UNEQUAL, 0.5),
    ),
    Stage("in each row the pull on the positive is as strong as all pushes together", _rows_cancel, "a row sums to 0"),
    Example(
        "a temperature of 0.005 does not overflow",
        (torch.tensor(_SHARP), 0.005),
        differences(_SHARP, 0.005, 1e-6),
        tolerance=1e-2,
    ),
    mistakes={
        "The softmax runs over all columns, the positive among them.": _gradient(
            lambda logits: logits.fill_diagonal_(-math.inf).softmax(1)
        ),
        "This is the loss of each sentence; wanted is its derivative by each cosine, a matrix.": lambda c, t=0.05: (
            (c / t).logsumexp(1) - c.diagonal() / t
        ),
    }
    | gradient_mistakes(_gradient)
    | temperature_mistakes(_gradient(), usual=0.05),
)

# ---- 3: eight different sentences of which the encoder hardly finds any again -----------------------------

SIZE, MOST, TRIES = 8, 0.25, 5  # sentences; the largest share that may find itself; draws of dropout


def found(sentences: list[str]) -> float:
    """The share of sentences whose second dropout view is nearer than all others', mean over `TRIES` draws."""
    views = mini_views(sentences, 2 * TRIES)
    places = [_places(first @ second.T) for first, second in zip(views[::2], views[1::2], strict=True)]
    return sum(float((place == 1).float().mean()) for place in places) / TRIES


def _few_found(answer: Any) -> str:
    share = found([str(text) for text in answer])
    return "" if share <= MOST else f"{share * SIZE:.1f} of {SIZE} find themselves."


HARD_BATCH = Exercise(
    Stage(
        f"it is a list of {SIZE} texts",
        lambda b: are_texts(b, SIZE),
        'write ["...", "...", ...], each sentence in quotes',
    ),
    Stage("each has at least three words", lambda b: all(len(words(text)) > 2 for text in b), "write sentences"),
    Stage(
        "they all differ in their words",
        lambda b: len({tuple(words(text)) for text in b}) == SIZE,
        "a capital or a full stop is no difference",
    ),
    Stage(
        f"at most {MOST * SIZE:.0f} of {SIZE} find themselves",
        _few_found,
        "Keep the words of one sentence and exchange who does it, or change one number.",
    ),
)
