"""Signs in the vectors."""

import numpy as np
from jaxtyping import Float

from cselab.metrics import effective_rank, mean_cosine

from .evidence import ArrayOfVectors, Evidence
from .signs import sign

COLLAPSED = 0.985
ROWS_NAMED = 5


def broken_rows(seen: Evidence) -> str:
    """The rows without a direction by reason, in words."""
    parts = []
    for reason, rows in seen.broken.items():
        more = f" and {len(rows) - ROWS_NAMED} more" if len(rows) > ROWS_NAMED else ""
        parts.append(f"{reason}: row {', '.join(map(str, rows[:ROWS_NAMED]))}{more}")
    return f" ({'; '.join(parts)}, counted from 0)"


@sign(
    "vectors without a direction",
    "the number of vectors that are zero, NaN or infinite",
    "They have no cosine, and the remaining signs are judged without them. Look at the texts of these rows. A vector "
    "is often zero if no word of the text is known, and NaN or infinite after an overflow in half precision.",
    above=0,
    where=broken_rows,
)
def without_direction(seen: Evidence) -> float:
    """Counts the rows."""
    return len(seen.all_vectors) - len(seen.sound)


@sign(
    "complete collapse",
    "the mean cosine of different texts",
    "All texts have nearly one vector. Train again from the start with a tenth of the learning rate; if the encoder is "
    "like this before training, check the pooling, and subtract the mean vector.",
    above=COLLAPSED,
)
def complete_collapse(seen: Evidence) -> float | None:
    """1 if all vectors point the same way."""
    return mean_cosine(seen.vectors) if len(seen.vectors) > 1 else None


@sign(
    "dimensional collapse",
    "the effective rank, as a share of the largest possible rank",
    "The vectors vary in few directions. Give the loss something that spreads them (whitening, ImSimCSE's or Barlow "
    "Twins' dimension-wise term), a larger batch, or whiten the finished vectors (--posthoc whitening).",
    below=0.16,
)
def dimensional_collapse(seen: Evidence) -> float | None:
    """Roy and Vetterli's effective rank over min(n - 1, d)."""
    if cone(seen) is None:
        return None
    return effective_rank(seen.vectors) / min(len(seen.vectors) - 1, seen.vectors.shape[1])


@sign(
    "cone",
    "the mean cosine of different texts",
    "All vectors share one large direction, which is typical for plain language models. Ranks by cosine suffer, and "
    "thresholds fail. Train longer or at a lower temperature, or subtract the mean vector, or whiten.",
    above=0.85,
)
def cone(seen: Evidence) -> float | None:
    """The mean cosine, unless the collapse is complete."""
    value = complete_collapse(seen)
    return value if value is not None and value <= COLLAPSED else None


@sign(
    "norms that depend on length",
    "ratio of the mean norms for the longest and the shortest quarter of the texts (or the inverse)",
    "Dot products and Euclidean distances then follow the length of a text. Divide by the number of tokens in the "
    "pooling (a mean, not a sum), or normalise the vectors and compare by cosine.",
    above=1.6,
)
def norms_by_length(seen: Evidence) -> float | None:
    """Ratio of mean norms, at least 1."""
    if len(seen.texts_of_vectors) < 20:
        return None
    lengths = np.array(seen.tokens(seen.texts_of_vectors))
    order = np.argsort(lengths, kind="stable")
    norms, quarter = norms_of(seen.vectors)[order], len(order) // 4
    short, long = float(norms[:quarter].mean()), float(norms[-quarter:].mean())
    if lengths[order[0]] == lengths[order[-1]] or not min(short, long):
        return None
    return max(long / short, short / long)


def norms_of(vectors: ArrayOfVectors) -> Float[np.ndarray, " n"]:
    """The length of each vector, in float64."""
    return np.linalg.norm(vectors.astype(np.float64), axis=1)
