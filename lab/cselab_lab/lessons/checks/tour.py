"""The exercises of lesson 00: sentences that fool the encoder, uniformity, InfoNCE."""

import math
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F

from cselab_lab.lessons.checks.answers import pair_of_texts
from cselab_lab.lessons.checks.encoders import cosine
from cselab_lab.lessons.checks.mistakes import (
    LENGTHS,
    choice_mistakes,
    direction_mistakes,
    temperature_mistakes,
    terms,
    unit,
)
from cselab_lab.lessons.checks.sentences import JUDGE, KNOWN_WORDS, LITTLE, are_known, say_the_same, words
from cselab_lab.lessons.exercises import Example, Exercise, Stage

# ---- 1: two sentences that `mini` takes for nearly the same although they are not ------------------------

COOKS = ("A cook is peeling an onion.", "The chef peels some onions.")  # one meaning: the pair to beat


def _closer_than_the_cooks(pair: Sequence[str]) -> str:
    mine, cooks = cosine(pair), cosine(COOKS)
    return "" if mine > cooks + 1e-4 else f"Yours have the cosine {mine:.3f}, the two cooks {cooks:.3f}."


FOOLED = Exercise(
    pair_of_texts("fooled"),
    Stage(
        "both say something, in three words or more",
        lambda p: all(set(words(text)) - LITTLE and len(words(text)) > 2 for text in p),
        "one of the two is too short, or has no word in it that means something.",
    ),
    Stage("their words are English", lambda p: all(map(are_known, p)), KNOWN_WORDS),
    Stage(f"they say different things ({JUDGE})", lambda p: say_the_same(*p), "Change what is said."),
    Stage(
        "the encoder finds them closer than the two cooks",
        _closer_than_the_cooks,
        "Keep most words: deny it, exchange who does it and whom it is done to, or change one number.",
    ),
)

# ---- 2: the uniformity of Wang and Isola (2020): my_uniformity(vectors, t=2) -----------------------------


def _uniformity(vectors: Any, t: Any = 2) -> Any:
    u = unit(vectors)
    distances = torch.pdist(u)
    return (-t * distances.square()).exp().mean().log()


_CORNER = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])  # squared distances 2, 2 and 4
_OF_CORNER = math.log((2 * math.exp(-4) + math.exp(-8)) / 3)
UNIFORMITY = Exercise(
    Example("two opposite vectors have uniformity -2 * 2**2 = -8", (torch.tensor([[0.6, 0.8], [-0.6, -0.8]]),), -8),
    Example("three vectors, two right angles between them, have -4.40", (_CORNER,), _OF_CORNER),
    Example("the lengths of the vectors do not matter", (_CORNER * torch.tensor([[5.0], [1.0], [0.1]]),), _OF_CORNER),
    Example(
        "at t = 1 the same three have log((2 exp(-2) + exp(-4)) / 3) = -2.34",
        (_CORNER, 1),
        math.log((2 * math.exp(-2) + math.exp(-4)) / 3),
    ),
    right=_uniformity,
    mistakes=LENGTHS
    | {
        "Square the distances.": "distances.square() -> distances",
        "Each row is paired with itself, too: only pairs i < j.": "pdist(u) -> cdist(u, u)",
        "The mean of the exponentials comes first, the log last.": ".exp().mean().log() -> .mean()",
        "The log is missing.": ".mean().log() -> .mean()",
        "Take the mean over the pairs inside the log, not the sum.": ".mean() -> .sum()",
        "The exponent is negative: -t times the squared distance.": "-t -> t",
        "Is there a 2 in your code where t should be?": "-t -> -2",
        "t is not used.": "-t -> -1",
        "Distances, not cosines: |u - v|^2.": "distances.square() -> (1 - distances.square() / 2)",
        "n (n - 1) / 2 pairs: divide by their number, not by n * n.": ".mean() -> .sum().div(len(vectors) ** 2)",
        "Add the squares over the coordinates, do not average them.": ".square() -> .square() / vectors.shape[1]",
        "The mean over the pairs: divide by their number, not by that of the rows.": ".mean() -> .sum().div(len(u))",
        "Do not subtract the mean: u is the row as it is, scaled.": "unit(vectors) -> unit(vectors - vectors.mean(0))",
        "All pairs i < j, not only neighbours.": "torch.pdist(u) -> (u[1:] - u[:-1]).norm(dim=1)",
    },
)

# ---- 3: InfoNCE: my_info_nce(cosines, temperature=0.05), the mean over the rows --------------------------


def _logits(cosines: Any, temperature: Any = 0.05) -> Any:
    return cosines / temperature


_UNEQUAL = [[1.0, 0.5, 0.0], [0.8, 0.1, 0.9], [0.7, 0.3, 0.6]]
_LARGE = torch.tensor([[1.0, 0.99, -1.0], [0.0, 1.0, 0.995], [-0.5, 0.0, 1.0]])
INFO_NCE = Exercise(
    Example("who cannot tell 4 sentences apart has log 4 = 1.386", (torch.zeros(4, 4),), math.log(4)),
    Example(
        "positive at cosine 1, negative at 0, temperature 0.5: log(1 + exp(-2)) = 0.127",
        (torch.eye(2), 0.5),
        math.log1p(math.exp(-2)),
    ),
    Example(
        "each anchor (a row) chooses among the positives (the columns)",
        (torch.tensor(_UNEQUAL), 1.0),
        sum(math.log(sum(math.exp(c) for c in row)) - row[i] for i, row in enumerate(_UNEQUAL)) / 3,
    ),
    Example(
        "a temperature of 0.005 does not overflow",
        (_LARGE, 0.005),
        (math.log1p(math.exp(-2)) + math.log1p(math.exp(-1))) / 3,
    ),
    mistakes=choice_mistakes(_logits)
    | direction_mistakes(_logits)
    | temperature_mistakes(lambda c, t=0.05: terms(_logits(c, t)).mean(), usual=0.05)
    | {
        "These are cosines already: do not scale their rows.": lambda c, t=0.05: terms(
            _logits(F.normalize(c + 1e-9), t)
        ).mean(),
        "The temperature divides inside the exponential, not the loss.": lambda c, t=0.05: terms(c).mean() / t,
        "The loss is not multiplied by the temperature.": lambda c, t=0.05: terms(c / t).mean() * t,
        "Divide the positive by the temperature, too.": lambda c, t=0.05: ((c / t).logsumexp(1) - c.diagonal()).mean(),
        "Divide what is summed by the temperature, too.": lambda c, t=0.05: (c.logsumexp(1) - c.diagonal() / t).mean(),
    },
)
