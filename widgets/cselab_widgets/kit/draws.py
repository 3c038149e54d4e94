"""Random numbers that a page draws again: those of draws.js, number by number."""

import numpy as np
from jaxtyping import Float

STEP = 0x6D2B79F5


def uniforms(seed: int, count: int) -> Float[np.ndarray, " count"]:
    """So many numbers in (0, 1), the same for the same seed (mulberry32, which numbers its draws: any of them at once).

    >>> uniforms(0, 2).round(4)
    array([0.2664, 0.0003])
    """
    state = (np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(STEP)).astype(np.uint32)
    mixed = (state ^ state >> 15) * (state | 1)
    mixed ^= mixed + (mixed ^ mixed >> 7) * (mixed | 61)
    return ((mixed ^ mixed >> 14) + 0.5) / 2**32


def normals(seed: int, count: int) -> Float[np.ndarray, " count"]:
    """So many standard normal numbers, each of two uniform ones (Box and Muller).

    >>> normals(0, 200_000).std().round(2)
    np.float64(1.0)
    """
    one, other = uniforms(seed, 2 * count).reshape(-1, 2).T
    return np.sqrt(-2 * np.log(one)) * np.cos(2 * np.pi * other)
