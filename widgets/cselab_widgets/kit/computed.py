"""A panel whose figure a page computes: what it carries, and sliders of many values.

Such a panel has a JavaScript module beside it with a function `figureOf(state, carried, again)`:

    class NoiseLab(Computed):
        page_modules = (*COMPUTED, Path(__file__).with_suffix(".js"))
        for_page = staticmethod(for_page)  # of a state, what its figures are computed from

`carried` is what `for_page` gives, as numbers.js reads it, and the `figure` that changed_figure.js changes. A part that
takes long is worked at in slices (sliced.js); `again()` says that it is there.
"""

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .panel import Panel
from .plot import as_json
from .scripts import KIT

COMPUTED = tuple(KIT / f"{name}.js" for name in ("numbers", "linear", "draws", "sliced", "changed_figure"))
"""The modules that a lab's own imports; see `Panel.page_modules`."""


class Computed(Panel):
    """A panel that answers on a page by computing."""

    for_page: Callable[[Any], Mapping[str, Any]]

    def carried(self) -> dict[str, Any]:
        return as_text({**self.for_page(self.state), "figure": as_json(self.figure())})


def finely(low: float, high: float, now: float) -> list[float]:
    """Values a hand hardly tells apart, each 8 % above the one before; and the one that is shown now."""
    count = round(np.log(high / low) / np.log(1.08)) + 1
    return sorted({*(float(f"{value:.3g}") for value in np.geomspace(low, high, count)), now})


def evenly(low: float, high: float, step: float, now: float) -> list[float]:
    """Values one step apart, and the one that is shown now."""
    return sorted({*(round(low + number * step, 6) for number in range(round((high - low) / step) + 1)), now})


def coarse(array: np.ndarray, unit: float | None = None) -> dict[str, Any]:
    """An array in half the room: whole multiples of `unit`, by default the power of two that 16 bits are enough for."""
    unit = unit or 2.0 ** np.ceil(np.log2(max(np.abs(array).max(), 1e-30) / 32767))
    whole = np.round(array / unit).astype("<i2")
    return {"shape": list(array.shape), "int16": b64encode(whole.tobytes()).decode(), "unit": float(unit)}


def as_text(value: Any) -> Any:
    """JSON of numbers, lists and dictionaries in which each array is its shape and its bytes in single precision."""
    if isinstance(value, dict):
        return {key: as_text(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        return {"shape": list(value.shape), "float32": b64encode(value.astype("<f4").tobytes()).decode()}
    return [as_text(part) for part in value] if isinstance(value, list | tuple) else value
