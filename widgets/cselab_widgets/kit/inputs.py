"""Checks of the sentences, vectors, snapshots and frames of users. Errors name the argument."""

from collections.abc import Mapping, Sequence
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from cselab.encoders.any_encoder import as_encoder, encode

if TYPE_CHECKING:
    import pandas


def texts(given: Sequence[str], name: str, at_least: int = 1) -> tuple[str, ...]:
    """A list of strings, not too few.

    Raises:
        TypeError: a single string, or an entry that is none.
        ValueError: too few.
    """
    if isinstance(given, str):
        raise TypeError(f"{name} is one string; give a list of them.")
    given = tuple(given)
    for row, text in enumerate(given):
        if not isinstance(text, str):
            raise TypeError(f"{name}[{row}] is {text!r}; expected text.")
    if len(given) < at_least:
        raise ValueError(f"{name} has {len(given)} entries; expected at least {at_least}.")
    return given


def vectors(given: Any, name: str, rows: int | None = None) -> Float[np.ndarray, "n d"]:
    """Rows of finite numbers, as many as there are sentences. Double precision stays, all else is single.

    Raises:
        ValueError: a different shape, a different number of rows, NaN or infinity.
    """
    array = np.asarray(given)
    array = array if array.dtype == np.float64 else array.astype(np.float32)
    if array.ndim != 2 or array.shape[1] < 2:
        raise ValueError(f"{name} has shape {array.shape}; expected [sentences, at least 2].")
    if rows is not None and len(array) != rows:
        raise ValueError(f"{name} has {len(array)} rows for {rows} sentences.")
    finite = np.isfinite(array).all(axis=1)
    if not finite.all():
        raise ValueError(f"{name} holds NaN or infinity, first in row {int(np.argmin(finite))}.")
    return array


def snapshots(given: Any, name: str, sentences: Sequence[str]) -> dict[int | None, Float[np.ndarray, "n d"]]:
    """One encoder's vectors of the sentences: an array, {step: array}, or whatever `as_encoder` takes.

    Returns:
        {step: array}, or {None: array} of an encoder that was looked at once.

    Raises:
        ValueError: as `vectors`; no snapshot; snapshots of different widths.
    """
    by_step = isinstance(given, Mapping) and not any(isinstance(key, str) for key in given)
    rows = hasattr(given, "__array__") or (isinstance(given, Sequence) and not isinstance(given, str))
    if not by_step and not rows:
        given = encode(as_encoder(given), list(sentences))
    if not isinstance(given, Mapping):
        return {None: vectors(given, name, len(sentences))}
    if not given:
        raise ValueError(f"{name} has no snapshot; give {{step: array}}.")
    taken: dict[int | None, np.ndarray] = {
        index(step): vectors(array, f"{name}[{step}]", len(sentences)) for step, array in given.items()
    }
    widths = {step: array.shape[1] for step, array in taken.items()}
    if len(set(widths.values())) > 1:
        raise ValueError(f"{name} changes its width over the steps: {widths}; one plane cannot hold several widths.")
    return taken


def filled_frame(frame: "pandas.DataFrame", needed: Sequence[str], known: Mapping[str, Any]) -> "pandas.DataFrame":
    """A frame of our own, lines numbered from 0, with every known column: what stands for it where it is not there.

    Raises:
        ValueError: a needed column is missing.
    """
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise ValueError(
            f"the frame has no column {missing[0]!r}; it needs {', '.join(needed)}, and has {', '.join(frame.columns)}."
        )
    others = {name: otherwise for name, otherwise in known.items() if name not in frame.columns}
    return frame.reset_index(drop=True).assign(**others)


def unit_rows(rows: Float[np.ndarray, "n d"], name: str = "rows") -> Float[np.ndarray, "n d"]:
    """Rows scaled to length 1.

    Raises:
        ValueError: a row of zeros, which has no direction.
    """
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not lengths.all():
        raise ValueError(f"{name}[{int(np.argmin(lengths))}] is all zeros and has no direction.")
    return rows / lengths
