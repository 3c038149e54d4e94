"""Stages for an exercise that puts two methods together and predicts what the result does: (class, prediction)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from cselab.encoders.encoding import Encode
from cselab.methods import Method, Views
from cselab_lab.lessons.checks.plain import plain, rows
from cselab_lab.lessons.exercises import Stage

ROWS = 8


class _Counting(Encode):
    texts = 0

    def __call__(self, *views: Any, **options: Any) -> Any:
        self.texts += sum(len(view) for view in views)
        return super().__call__(*views, **options)


def _step(answer: Any) -> tuple[Any, Views, dict[str, float], int]:
    """The method, its views of a batch of `ROWS`, the terms of its loss, and how many texts were encoded."""
    method, encoder = answer[0](), plain("micro").copy()
    batch = rows(method.columns, ROWS)
    method.prepare(encoder)
    encoder.attach_head(method.build(encoder, batch, torch.Generator().manual_seed(0)))
    encode = _Counting(encoder, 32)
    with torch.random.fork_rng(devices=[]):
        v = method.views(encode, batch)
    return method, v, method.loss(v).floats(), encode.texts


def _candidates(v: Views) -> int:
    """Among how many vectors the first sentence chooses: its positive, and the negatives of weight above 0."""
    cells = len(v.positive) + (0 if v.negatives is None else len(v.negatives))
    return cells if v.log_weights is None else int(v.log_weights[0].isfinite().sum())


def _has_both(answer: Any) -> bool:
    _, v, terms, _ = _step(answer)
    return set(terms) == {"info_nce", "bidirectional_margin"} and v.negatives is not None and hasattr(v, "denial")


@dataclass(frozen=True)
class Predicted:
    """One entry of the prediction must be what a step shows."""

    name: str
    mistakes: Mapping[object, str]

    @property
    def what(self) -> str:
        return f"you predicted the {self.name}"

    def finding(self, answer: Any) -> str:
        said = answer[1][self.name]
        method, v, _, texts = _step(answer)
        seen = {"columns": method.columns, "texts": texts, "candidates": _candidates(v)}[self.name]
        said = tuple(said) if isinstance(said, list) else said
        return "" if said == seen else f"You said {said!r}. {self.mistakes.get(said, 'Count again, view by view.')}"

    def after_error(self, answer: object, error: Exception) -> str:
        return 'The prediction is a dictionary: {"columns": ..., "texts": ..., "candidates": ...}.'


STAGES = [
    Stage(
        "the first of the two is a method: a class, not called",
        lambda answer: isinstance(answer[0], type) and issubclass(answer[0], Method),
        "write `class Mine(One, Other):` with a docstring as its body, and give the class itself, without brackets.",
    ),
    Stage(
        "it has MixCSE's negatives and SNCSE-Dropout's margin",
        _has_both,
        "inherit from both, `class Mine(MixCSE, SNCSEDropout)`; one part alone, or a `views` of your own without "
        "`super()`, loses the other.",
    ),
    Predicted(
        "columns",
        {
            ("sentence",): "One of the parts reads more than a sentence; the other does not mind.",
            ("sentence", "entailment", "contradiction"): "That is SupervisedSimCSE; here a row brings one denial.",
        },
    ),
    Predicted(
        "texts",
        {
            8: "Each sentence is encoded twice, with two dropout masks.",
            16: "The denials are encoded, too.",
            32: "MixCSE's negatives are made of vectors: nothing is encoded for them.",
        },
    ),
    Predicted(
        "candidates",
        {
            8: "The mixed negative stands in the denominator as well.",
            10: "The denial stands in the margin alone: it is no negative of the InfoNCE.",
            16: 'All eight mixed vectors are there, but with `appended="own"` only its own counts for a sentence.',
            17: 'The denial is no negative, and with `appended="own"` one mixed vector of the eight counts.',
            24: 'Denials are no negatives, and with `appended="own"` one mixed vector of the eight counts.',
        },
    ),
]
