"""Arrays of numbers in a page: single precision, as text, which numbers.js reads."""

from base64 import b64encode
from typing import Any

import numpy as np


def as_text(value: Any) -> Any:
    """JSON of numbers, lists and dictionaries in which each array is its shape and its bytes."""
    if isinstance(value, dict):
        return {key: as_text(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        return {"shape": list(value.shape), "float32": b64encode(value.astype("<f4").tobytes()).decode()}
    return [as_text(part) for part in value] if isinstance(value, list | tuple) else value
