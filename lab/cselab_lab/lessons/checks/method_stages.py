"""Stages for an exercise that sorts six methods by where they touch the pipeline: {"name": "data" | ... | "loss"}."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from cselab_lab.lessons.exercises import Stage
from cselab_lab.lessons.touches import STAGES as PIPELINE
from cselab_lab.lessons.touches import method_cards

SIX = {
    "bt_bert": "its second view is a sentence that the corpus brought along: encoder and loss see two texts as ever",
    "sr_bert": "the words change before anything is encoded",
    "consert": "input vectors and positions change: what goes into the encoder, not the encoder itself",
    "dcpcse": "the vectors of the prefix are weights inside each layer; texts and loss stay as they are",
    "mixcse": "the mixed vectors are made of encoded ones, and count only in the denominator",
    "focal": "the same vectors are contrasted, with other weights",
}
"""Methods that touch one stage only, and what gives each away."""


@cache
def _seen() -> dict[str, str]:
    """Where each is seen to touch the pipeline, in a step on the spot."""
    return {card.name: next(iter(card.stages)) for card in method_cards(SIX)}


@dataclass(frozen=True)
class Placed:
    """One method must stand at its stage; the answer holds all six."""

    name: str

    @property
    def what(self) -> str:
        return f"{self.name} is at its stage"

    def finding(self, answer: object) -> str:
        said = answer[self.name] if isinstance(answer, Mapping) else None
        if said == _seen()[self.name]:
            return ""
        hint = SIX[self.name]
        if said == "loss":
            hint = f"Its loss is plain InfoNCE; {hint}"
        elif said == "head":
            hint = f"Linear + tanh stands there, as in SimCSE; {hint}"
        elif said == "data" and _seen()[self.name] != "data":
            hint = f"Its rows hold a sentence and nothing else; {hint}"
        elif said == "encoder":
            hint = f"One network with the usual weights encodes all views; {hint}"
        return f"You said {said!r}. {hint[0].upper()}{hint[1:]}."

    def after_error(self, answer: object, error: Exception) -> str:
        return f"{type(error).__name__}: {error}"


STAGES = [
    Stage(
        f"all six have a place: {', '.join(SIX)}",
        lambda answer: isinstance(answer, Mapping) and set(answer) == set(SIX),
        f'a dictionary, {{"bt_bert": "...", ...}}, with these six names and no others: {", ".join(SIX)}.',
    ),
    Stage(
        f"the places are stages: {', '.join(PIPELINE)}",
        lambda answer: set(answer.values()) <= set(PIPELINE),
        f"write one of {', '.join(PIPELINE)} for each, as text.",
    ),
    *map(Placed, SIX),
]
