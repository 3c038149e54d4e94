"""The exercises of lesson 00: sentences that fool the encoder, InfoNCE."""

import math
from collections.abc import Sequence

import torch

from cselab_lab.lessons.exercises import Check, Example, Exercise, Solution

from .answers import FAR, LOST, are_texts, by_hand, choice_mistakes
from .encoders import cosine
from .sentences import JUDGE, KNOWN_WORDS, LITTLE, are_known, say_the_same, why_no_sentence, words_of

# ---- 1: two sentences with different meanings and a high cosine under `mini` -----------------------------

COOKS = ("A cook is peeling an onion.", "The chef peels some onions.")  # one meaning: the pair to beat


def _closer_than_the_cooks(pair: Sequence[str]) -> str:
    mine, cooks = cosine(pair), cosine(COOKS)
    return "" if mine > cooks + 1e-4 else f"Your sentences have the cosine {mine:.3f}, the two cooks {cooks:.3f}."


FOOLED = Exercise(
    Check(
        "it is a pair of texts", lambda p: are_texts(p, 2), 'write two sentences in brackets: fooled = ("...", "...").'
    ),
    Check(
        "both have three to a hundred words, with a meaning",
        lambda p: all(set(words_of(text)) - LITTLE and 2 < len(words_of(text)) <= 100 for text in p),
        "one sentence is too short or too long, or has no word with a meaning.",
    ),
    Check("both are sentences", lambda p: " ".join({*map(why_no_sentence, p)}).strip()),
    Check("their words are English", lambda p: all(map(are_known, p)), KNOWN_WORDS),
    Check(f"they have different meanings ({JUDGE})", lambda p: say_the_same(*p), "Change the meaning."),
    Check(
        "the encoder finds them closer than the two cooks",
        _closer_than_the_cooks,
        "Keep most words: negate one sentence, exchange who acts on whom, or change one number.",
    ),
    piece="fooled",
)

# ---- 2: InfoNCE: my_info_nce(cosines, temperature=0.05), the mean over the rows --------------------------

_UNEQUAL = [[1.0, 0.5, 0.0], [0.8, 0.1, 0.9], [0.7, 0.3, 0.6]]
_LARGE = torch.tensor([[0.9985, 0.997, -1.0], [0.0, 0.9985, 0.9975], [-0.5, 0.0, 1.0]])  # too fine for float16
INFO_NCE = Exercise(
    Example("equal cosines for all 4 sentences give log 4 = 1.386", (torch.zeros(4, 4),), math.log(4)),
    Example(
        "positive at cosine 1, negative at 0, temperature 0.5: log(1 + exp(-2)) = 0.127",
        (torch.eye(2), 0.5),
        math.log1p(math.exp(-2)),
    ),
    Example(
        "each anchor (a row) chooses among the positives (the columns)",
        (torch.tensor(_UNEQUAL), 1.0),
        by_hand(_UNEQUAL),
    ),
    Example(
        "a temperature of 0.005 does not overflow",
        (_LARGE, 0.005),
        (math.log1p(math.exp(-0.3)) + math.log1p(math.exp(-0.2))) / 3,
    ),
    Example(LOST, (torch.tensor([[-1.0, 1.0], [1.0, -1.0]]), 0.005), math.log1p(math.exp(400))),
    Example(FAR, (torch.tensor([[1.0, 0.9], [-0.9, -1.0]]), 0.005), 10.0),
    solution=Solution("00_tour", "my_info_nce"),
    mistakes=choice_mistakes(lambda cosines, temperature=0.05: cosines / temperature)
    | {
        "Divide the cosine of the positive by the temperature, too.": "logits.diagonal() -> cosines.diagonal()",
        "The temperature divides inside the exponential, not the loss.": (
            "cosines / temperature -> cosines; .mean() -> .mean() / temperature"
        ),
        "The right answer of row i is column i, not its largest cosine.": "logits.diagonal() -> logits.amax(dim=1)",
        "The loss is not multiplied by the temperature.": ".mean() -> .mean() * temperature",
    },
)
