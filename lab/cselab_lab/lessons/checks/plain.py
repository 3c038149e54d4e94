"""The bundled encoders as they are before training, and rows of their world, for checks after a kernel restart."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from cselab_lab.experiments.recipes import recipe

if TYPE_CHECKING:
    from cselab.encoders.encoder import SentenceEncoder


@cache
def plain(name: str = "mini") -> SentenceEncoder:
    """A bundled encoder with its recipe's pooling, loaded once. What changes it works on a copy."""
    from cselab.encoders.encoder import SentenceEncoder

    return SentenceEncoder.from_pretrained(name, pooling=recipe(name).pooling)


@cache
def rows(columns: tuple[str, ...], count: int) -> list[Any]:
    """Rows of the world with these columns."""
    from cselab.world import World

    return World(0).rows(columns, count)
