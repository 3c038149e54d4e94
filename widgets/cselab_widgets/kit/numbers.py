"""What a panel whose figure the page computes needs: arrays as text, sliders of many values, and its modules."""

from base64 import b64encode
from typing import Any

import numpy as np

from .scripts import KIT

COMPUTED = tuple(KIT / f"{name}.js" for name in ("numbers", "linear", "draws", "sliced", "changed_figure"))
"""The modules that a lab's own imports; see `Panel.page_modules`."""


def finely(low: float, high: float, now: float) -> list[float]:
    """Values a hand hardly tells apart, each 8 % above the one before; and the one that is shown now."""
    count = round(np.log(high / low) / np.log(1.08)) + 1
    return sorted({*(float(f"{value:.3g}") for value in np.geomspace(low, high, count)), now})


def evenly(low: float, high: float, step: float, now: float) -> list[float]:
    """Values one step apart, and the one that is shown now."""
    return sorted({*(round(low + number * step, 6) for number in range(round((high - low) / step) + 1)), now})


def as_text(value: Any) -> Any:
    """JSON of numbers, lists and dictionaries in which each array is its shape and its bytes in single precision."""
    if isinstance(value, dict):
        return {key: as_text(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        return {"shape": list(value.shape), "float32": b64encode(value.astype("<f4").tobytes()).decode()}
    return [as_text(part) for part in value] if isinstance(value, list | tuple) else value
