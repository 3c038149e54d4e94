"""Where a model begins to count positions, and how many it has."""

from typing import Any

WITHOUT_POSITIONS = 2**20
"""The longest input of a model that adds distances to its attention (T5): memory ends before it."""


def first_position(backbone: Any) -> int:
    """The position of the first token: 0, or behind that of padding where the model has such (RoBERTa: 2)."""
    table = getattr(getattr(backbone, "embeddings", None), "position_embeddings", None)
    padding = getattr(table, "padding_idx", None)
    return 0 if padding is None else padding + 1


def position_count(backbone: Any) -> int:
    """How many tokens the model has positions for."""
    count = getattr(backbone.config, "max_position_embeddings", None) or WITHOUT_POSITIONS
    return count - first_position(backbone)
