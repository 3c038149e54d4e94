"""Signs in an encoder: its head, its pooling, its padding."""

from collections.abc import Iterator
from contextlib import suppress
from math import sqrt
from typing import Any

import numpy as np

from .evidence import Evidence
from .signs import sign

COMMON = ("cls", "mean", "last_token")
SHORT = 8


@sign(
    "untrained head or pooler",
    "the share of the layers after the pooling that still have their initial weights",
    "The vectors pass through random weights. Evaluate without them: representation='backbone', a pooling other than "
    "cls_pooler; or train them.",
    above=0.0,
)
def untrained_layers(seen: Evidence) -> float | None:
    """Examines the pooler, and the head if it is evaluated."""
    if seen.own is None:
        return None
    fresh = [looks_fresh(layer) for layer in _after_pooling(seen.own)]
    return sum(fresh) / len(fresh) if fresh else None


def _after_pooling(encoder: Any) -> Iterator[Any]:
    if encoder.pooling == "cls_pooler":
        yield encoder.backbone.pooler.dense
    if encoder.representation == "head":
        yield from (layer for layer, _ in encoder.head.dense_layers())


def looks_fresh(layer: Any) -> bool:
    """Whether a linear layer is initialised as in BERT (biases 0) or torch (all within 1 / sqrt(inputs))."""
    weight = layer.weight.detach().double().cpu().numpy().ravel()
    bias = None if layer.bias is None else layer.bias.detach().double().cpu().numpy()
    if bias is not None and not bias.any():
        return True
    bound = 1 / sqrt(layer.in_features)
    within = np.abs(weight).max() <= bound * (1 + 1e-6) and (bias is None or np.abs(bias).max() <= bound * (1 + 1e-6))
    return bool(within and abs(weight.std() * sqrt(3) / bound - 1) < 0.02)


@sign(
    "wrong pooling",
    "points that a different pooling gains at finding a sentence from half of its words",
    "Open the encoder with the pooling used in training: --pooling cls, mean or last_token. See the model card or the "
    "run.",
    above=16.0,
)
def wrong_pooling(seen: Evidence) -> float | None:
    """The score of the best common pooling minus that of the encoder's pooling, by `UnlabelledEvaluator`."""
    from cselab.evaluators import UnlabelledEvaluator
    from cselab.metrics import DegenerateEmbeddings

    encoder = seen.own
    if encoder is None or encoder.pooling not in COMMON or len(seen.texts_of_vectors) < 20:
        return None
    score, scores = UnlabelledEvaluator(seen.texts_of_vectors), {}
    other = encoder.copy()
    for other.pooling in COMMON:
        with suppress(DegenerateEmbeddings):  # for example NaN, which is a sign of its own
            scores[other.pooling] = score(other)["score"]
    return max(scores.values()) - scores[encoder.pooling] if encoder.pooling in scores else None


@sign(
    "padding that leaks",
    "the change of a vector when the batch has a longer text, as a share of the vector's length",
    "The vector of a text depends on its neighbours. Give the pooling the attention mask, and compute means over the "
    "marked tokens, not over the padding.",
    above=0.05,
)
def padding_leaks(seen: Evidence) -> float | None:
    """Compares the shortest texts encoded one by one and in a batch with a long text."""
    from cselab.evaluators.vectors import encode

    if not hasattr(seen.encoder, "encode") or len(seen.texts) < 2 * SHORT:
        return None
    short = sorted(dict.fromkeys(seen.texts), key=len)[:SHORT]
    long = " ".join(" ".join(seen.texts).split()[:25])
    alone = np.concatenate([encode(seen.encoder, [text]) for text in short])
    beside = encode(seen.encoder, [*short, long])[:-1]
    apart, length = (np.linalg.norm(rows.astype(np.float64), axis=1) for rows in (beside - alone, alone))
    known = np.isfinite(apart) & (length > 0)
    return float((apart[known] / length[known]).max()) if known.any() else None
