"""The exercises of lesson 12: weights of hard negatives, an encoder above the control."""

import math
from functools import cache
from typing import Any

import numpy as np
import torch
from scipy.special import logsumexp

from cselab.evaluators import Encoder, PairsEvaluator, TransformedEncoder
from cselab_lab.lessons.exercises import Check, Example, Exercise, Solution, kind_of, numbers_of

from .encoders import plain, sentences

# ---- 1: hard negatives weighed: my_log_weights(cosines, beta), [N, N] of logarithms -----------------------
#     w_ij = exp(beta c_ij) / mean over k != i of exp(beta c_ik) for j != i,   w_ii = 1
# the importance weights of Robinson et al. (2021, "Contrastive Learning with Hard Negative Samples") within a batch.


def _by_hand(beta: float) -> list[list[float]]:
    rows = []
    for i, row in enumerate(_ROWS):
        log_mean = logsumexp(beta * np.delete(row, i)) - math.log(len(row) - 1)
        rows.append([0.0 if j == i else beta * c - log_mean for j, c in enumerate(row)])
    return rows


_ROWS = [[0.9, 0.5, 0.0, 0.2], [0.7, 0.8, 0.1, -0.3], [0.0, 0.6, 1.0, 0.4], [0.3, 0.2, -0.1, 0.7]]
_COSINES = torch.tensor(_ROWS)


def _constant(weights: Any) -> bool:
    """Whether no gradient flows through them; NumPy takes no tensor that wants one, and gives none."""
    try:
        return not getattr(weights(_COSINES.clone().requires_grad_(), 2.0), "requires_grad", False)
    except RuntimeError:
        return True


LOG_WEIGHTS = Exercise(
    Example(
        "four sentences, beta 1, by hand: in row 0 the negatives have the log weights 0.245, -0.255 and -0.055",
        (_COSINES, 1.0),
        _by_hand(1.0),
    ),
    Example("with beta 0 all negatives weigh the same", (_COSINES[:3, :3], 0.0), [[0.0] * 3] * 3),
    Example("with beta 5 the hardest negative weighs far more", (_COSINES, 5.0), _by_hand(5.0)),
    Example(
        "with beta 1000 only one negative of each row has a weight, and nothing overflows",
        (_COSINES, 1000.0),
        _by_hand(1000.0),  # the hardest has the weight 3
        0.05,
    ),
    Check("no gradient flows through the weights", _constant, "weights are constants: .detach()"),
    solution=Solution("12_your_own_method", "my_log_weights"),
    mistakes={
        "The logarithm is missing: info_nce adds log weights to the logits.": "(own, 0.0) -> (own, 0.0).exp()",
        "The positive is not a negative: leave the diagonal out of the mean.": (
            ".masked_fill(own, -torch.inf) -> ; - 1.0 -> + 0.0",
            ".masked_fill(own, -torch.inf) -> ",
            "-torch.inf -> 0.0",
            "-torch.inf -> -beta",
        ),
        "Divide by the mean, not by the sum: they have the mean 1.": " + torch.tensor(len(cosines) - 1.0).log() -> ",
        "A row has N - 1 negatives: log(N - 1), not log N.": "len(cosines) - 1.0 -> float(len(cosines))",
        "Each row has its own mean.": (
            ".log_softmax(dim=1) -> .flatten().log_softmax(0).view_as(cosines); "
            "len(cosines) - 1.0 -> len(cosines) * (len(cosines) - 1.0)"
        ),
        "Harder is more similar: the weight grows with the cosine.": "(beta * -> (-beta *",
        "Divide by the mean over the row, so that only the share of each negative changes.": (
            ".log_softmax(dim=1) -> ;  + torch.tensor(len(cosines) - 1.0).log() -> "
        ),
    },
)

# ---- 2: an encoder above the control, the mean-centred plain `mini`, on dev -------------------------------

PAIRS = 200  # of the world's dev split
POINTS = 6.0  # above the control; about the gain of a minute of SimCSE


@cache
def _dev() -> PairsEvaluator:
    from cselab.world import World

    return PairsEvaluator(World(0).sts(PAIRS, split="dev"))


@cache
def control() -> float:
    """The dev score of plain `mini` at [CLS], with the mean over sentences of the train split subtracted."""
    from cselab.transforms import fit

    vectors = plain().encode(sentences(200, "train"))
    return score(TransformedEncoder(plain(), fit("centred", np.asarray(vectors))))


def score(encoder: Encoder) -> float:
    """The dev score of an encoder."""
    return float(_dev()(encoder)["score"])


def _rows(encoder: Encoder) -> str:
    """Why an encoder gives no row of finite numbers for each sentence; empty if it does."""
    returned = encoder.encode(["A dog runs.", "She sings."])
    numbers = numbers_of(returned)
    if numbers is not None and numbers.ndim == 2 and len(numbers) == 2 and np.isfinite(numbers).all():
        return ""
    return f"For two sentences, encode returned {kind_of(returned)}; expected two rows of finite numbers."


def _too_low(encoder: Encoder) -> str:
    found, least = score(encoder), control() + POINTS
    return "" if found >= least else f"The score is {found:.2f}, too low; {least:.2f} is needed."


def _not_alone(encoder: Encoder) -> str:
    """Why the vector of a sentence is not its own: chance, or the batch, on which nothing may be fitted."""
    texts = ["A dog runs.", "The bank closed early.", "She sings.", "A cook is peeling an onion."]
    together, again = (numbers_of(encoder.encode(texts)) for _ in range(2))
    apart = np.vstack([numbers_of(encoder.encode([text])) for text in texts])
    tolerance = 2e-3 * np.abs(together).max() + 1e-3
    if not np.allclose(together, again, atol=tolerance):
        return "The same sentences get different vectors at the next call: is dropout on?"
    return "" if np.allclose(together, apart, atol=tolerance) else "Fit on training sentences, not on scored ones."


BEAT_CONTROL = Exercise(
    Check("it encodes sentences", _rows, "an encoder is anything with .encode(list)."),
    Check("the vector of a sentence does not depend on the batch", _not_alone),
    Check(
        "its dev score is six points above the control",
        _too_low,
        "Compare your_own_method.score(mine) with your_own_method.control(), or try a different pooling or transform.",
    ),
    piece="best",
)
