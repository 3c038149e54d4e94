"""Switch-case: the first letter of a word changes its case, and its sub-words with it (CARDS, Wang et al. 2022)."""

import re

import torch

from cselab._util.arguments import Texts, UnitInterval, checked

WORD = re.compile(r"(?<![\w'])[^\W\d_][\w']*")


@checked
def switch_case(texts: Texts, share: UnitInterval, generator: torch.Generator) -> list[str]:
    """The texts with the case of the first letter of some words switched.

    For a model with case the word is often divided otherwise afterwards: the survey's Table 3 shows substitution,
    division, fusion and regrouping of sub-words. A model without case sees no change.

    Args:
        texts: sentences.
        share: the probability for each word; 0.05 to 0.15 in CARDS.
        generator: draws the random numbers, on the CPU.

    >>> switch_case(["Rain fell on Paris."], 1.0, torch.Generator())
    ['rain Fell On paris.']
    """

    def switch(word: re.Match) -> str:
        drawn = torch.rand((), generator=generator) < share
        return word[0][0].swapcase() + word[0][1:] if drawn else word[0]

    return [WORD.sub(switch, text) for text in texts]
