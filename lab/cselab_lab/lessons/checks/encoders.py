"""The bundled encoders before training, and rows of their world, so that a check works after a kernel restart."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from cselab.world import World
from cselab_lab.experiments.plan import RECIPES

if TYPE_CHECKING:
    from cselab.encoders.encoder import SentenceEncoder


@cache
def plain(name: str = "mini") -> SentenceEncoder:
    """A bundled encoder with its recipe's pooling, loaded once. Code that changes it must work on a copy."""
    from cselab.encoders.encoder import SentenceEncoder

    return SentenceEncoder.from_pretrained(name, pooling=RECIPES[name].pooling)


@cache
def rows(columns: tuple[str, ...], count: int) -> list[Any]:
    """Rows of the world with these columns."""
    return World(0).rows(columns, count)


@cache
def sentences(count: int, split: str) -> list[str]:
    """Sentences of the world."""
    return [sentence.text for sentence in World(0).sentences(count, split=split)]


def cosine(pair: Sequence[str]) -> float:
    """The cosine of two sentences for the plain `mini`, pooled at [CLS]."""
    first, second = plain().encode([str(text) for text in pair])
    return float(plain().similarity(first[None], second[None]))
