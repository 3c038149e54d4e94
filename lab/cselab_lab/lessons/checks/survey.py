"""The exercise of lesson 11: two methods in one."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import torch

from cselab.encoders.training_forward import Encode
from cselab.losses import Loss
from cselab.methods import Method, Setup, Views
from cselab_lab.lessons.exercises import Check, Exercise, kind_of

from .encoders import plain, rows

BATCH_ROWS = 8


class _Counting(Encode):
    texts = 0

    def __call__(self, *views: Any, **options: Any) -> Any:
        self.texts += sum(len(view) for view in views)
        return super().__call__(*views, **options)


# ---- 1: two methods put together, and a prediction of what the result does: (class, prediction) -----------


def _observed(answer: Any) -> dict[str, Any]:
    """What is to be predicted, of a batch of `BATCH_ROWS`.

    Raises:
        ValueError: the method does not work, or lacks a part; says which.
    """
    name, method = answer[0].__name__, answer[0]()
    batch, encoder = rows(method.columns, BATCH_ROWS), plain("micro").copy()
    method.prepare(encoder)
    encoder.attach_head(method.build(Setup(encoder, batch)))
    encode = _Counting(encoder, 32)
    with torch.random.fork_rng(devices=[]):
        method.seed(0)
        encoder.backbone.train()
        v = method.views(encode, batch)
    loss: Any = method.loss(v) if isinstance(v, Views) else None
    for part, returned, kind in (("views", v, Views), ("loss", loss, Loss)):
        if not isinstance(returned, kind):
            raise ValueError(f"`{part}` of {name} returned {kind_of(returned)}, not that of `super().{part}(...)`.")
    wanted = {"info_nce", "bidirectional_margin"}, {"sentence", "negation"}
    if (set(loss.terms), set(method.columns)) != wanted or v.negatives is None:
        raise ValueError(
            f"{name} reads {', '.join(method.columns)}, has a loss of {', '.join(loss.terms)}, "
            f"and mixed negatives: {v.negatives is not None}."
        )
    candidates = len(v.positive) + len(v.negatives)
    if v.log_weights is not None:  # its positive, and the negatives of weight above 0
        candidates = int(v.log_weights[0].isfinite().sum())
    return {"columns": method.columns, "texts": encode.texts, "candidates": candidates}


def _has_both(answer: Any) -> str:
    try:
        _observed(answer)
    except ValueError as error:
        return str(error)
    except Exception as error:
        return f"A step of {answer[0].__name__} raised {error!r}."
    return ""


def _predicted(name: str, mistakes: Mapping[Any, str], answer: Any) -> str:
    if not isinstance(answer[1], Mapping) or name not in answer[1]:
        return 'The prediction is a dictionary: {"columns": ..., "texts": ..., "candidates": ...}.'
    predicted, observed = answer[1][name], _observed(answer)[name]
    text = str(predicted)  # of a number or names of any type
    names = tuple(sorted(re.findall(r"\w+", text), reverse=True))  # in any order
    found = names if name == "columns" else float(re.sub(r"[^\d.]", "", text) or "nan")
    reason = mistakes.get(found, "Count again, view by view.")
    return "" if found == observed else f"Your prediction is {predicted!r}. {reason}"


PREDICTED: Mapping[str, Mapping[Any, str]] = {
    "columns": {
        ("sentence",): "One of the parts reads more than a sentence.",
        ("sentence", "entailment", "contradiction"): "That is SupervisedSimCSE; here a row brings one denial.",
    },
    "texts": {
        8: "Each sentence is encoded twice, with two dropout masks.",
        16: "The denials are encoded, too.",
        32: "MixCSE mixes vectors into negatives, so the encoder reads no further text.",
    },
    "candidates": {
        8: "The mixed negative is in the denominator, too.",
        10: "The denial appears only in the margin; InfoNCE does not use it as a negative.",
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
    piece="my_method",
)
