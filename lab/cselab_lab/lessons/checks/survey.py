"""The exercise of lesson 11: two methods in one."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import torch

from cselab.encoders.training_forward import Encode
from cselab.losses import Loss
from cselab.methods import Method, Setup, Views
from cselab_lab.lessons.exercises import Check, Exercise, kind_of, numbers_of

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
    terms = [term for term, value in loss.terms.items() if value]  # those of weight 0 are missing
    if (set(terms), set(method.columns)) != wanted or v.negatives is None:
        raise ValueError(
            f"{name} reads {', '.join(method.columns)}, has a loss of {', '.join(terms)}, "
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


def _predicted(name: str, question: str, answer: Any) -> str:
    if not isinstance(answer[1], Mapping) or name not in answer[1]:
        return 'The prediction is a dictionary: {"columns": ..., "texts": ..., "candidates": ...}.'
    predicted, observed = answer[1][name], _observed(answer)[name]
    if name == "columns":  # in any order
        is_right = sorted(re.findall(r"\w+", str(predicted))) == sorted(observed)
    else:
        is_right = (number := numbers_of(predicted)) is not None and number.ravel().tolist() == [observed]
    return "" if is_right else f"Your prediction is {predicted!r}. {question}"


QUESTIONS = {
    "columns": "Which columns does each of the parts read?",
    "texts": "Which views are texts, and how many times is each text encoded?",
    "candidates": "Which vectors are in the denominator of one sentence, and which vectors only in the margin?",
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
        "inherit from both, `class Mine(MixCSE, SNCSEDropout)`; one part by itself, or your own `views` or `loss` "
        "without `super()`, loses the second part.",
    ),
    *(Check(f"you predicted the {name}", partial(_predicted, name, question)) for name, question in QUESTIONS.items()),
    piece="my_method",
)
