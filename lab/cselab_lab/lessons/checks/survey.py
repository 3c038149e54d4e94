"""The exercise of lesson 11: two methods in one."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch

from cselab.encoders.encoding import Encode
from cselab.methods import Method, Setup, Views
from cselab_lab.lessons.exercises import Check, Exercise

from .encoders import plain, rows

ROWS = 8


class _Counting(Encode):
    texts = 0

    def __call__(self, *views: Any, **options: Any) -> Any:
        self.texts += sum(len(view) for view in views)
        return super().__call__(*views, **options)


# ---- 1: two methods put together, and a prediction of what the result does: (class, prediction) -----------


def _observed(answer: Any) -> tuple[Views, dict[str, float], dict[str, Any]]:
    """The views of a batch of `ROWS`, the terms of the loss, and what was to be predicted."""
    method = answer[0]()
    batch, encoder = rows(method.columns, ROWS), plain("micro").copy()
    method.prepare(encoder)
    encoder.attach_head(method.build(Setup(encoder, batch)))
    encode = _Counting(encoder, 32)
    with torch.random.fork_rng(devices=[]):
        method.seed(0)
        encoder.backbone.train()
        v = method.views(encode, batch)
    candidates = len(v.positive) + (0 if v.negatives is None else len(v.negatives))
    if v.log_weights is not None:  # its positive, and the negatives of weight above 0
        candidates = int(v.log_weights[0].isfinite().sum())
    return v, method.loss(v).floats(), {"columns": method.columns, "texts": encode.texts, "candidates": candidates}


def _has_both(answer: Any) -> bool:
    v, terms, _ = _observed(answer)
    return set(terms) == {"info_nce", "bidirectional_margin"} and v.negatives is not None and hasattr(v, "denial")


def _predicted(name: str, mistakes: Mapping[Any, str], answer: Any) -> str:
    if not isinstance(answer[1], Mapping) or name not in answer[1]:
        return 'The prediction is a dictionary: {"columns": ..., "texts": ..., "candidates": ...}.'
    predicted, observed = answer[1][name], _observed(answer)[2][name]
    if name == "columns":  # in any order
        predicted = (predicted,) if isinstance(predicted, str) else tuple(sorted(map(str, predicted), reverse=True))
    reason = mistakes.get(predicted, "Count again, view by view.")
    return "" if predicted == observed else f"Your prediction is {predicted!r}. {reason}"


PREDICTED: Mapping[str, Mapping[Any, str]] = {
    "columns": {
        ("sentence",): "One of the parts reads more than a sentence.",
        ("sentence", "entailment", "contradiction"): "That is SupervisedSimCSE; here a row brings one denial.",
    },
    "texts": {
        8: "Each sentence is encoded twice, with two dropout masks.",
        16: "The denials are encoded, too.",
        32: "MixCSE's negatives are made of vectors: nothing is encoded for them.",
    },
    "candidates": {
        8: "The mixed negative is in the denominator, too.",
        10: "The denial is only in the margin: the InfoNCE has no such negative.",
        16: "With `appended='own'`, only a sentence's own mixed vector counts, not all eight.",
        17: 'The denial is not a negative, and with `appended="own"` one mixed vector of the eight counts.',
        24: 'Denials are not negatives, and with `appended="own"` one mixed vector of the eight counts.',
    },
}
COMPOSED_METHOD = Exercise(
    Check(
        "the first of the two is a method: a class, not called",
        lambda answer: isinstance(answer[0], type) and issubclass(answer[0], Method),
        "write `class Mine(One, Other):` with a docstring as its body, and give the class itself, without brackets.",
    ),
    Check(
        "it has MixCSE's negatives and SNCSE-Dropout's margin",
        _has_both,
        "inherit from both, `class Mine(MixCSE, SNCSEDropout)`; one part by itself, or your own `views` without "
        "`super()`, loses the second part.",
    ),
    *(Check(f"you predicted the {name}", partial(_predicted, name, mistakes)) for name, mistakes in PREDICTED.items()),
)
