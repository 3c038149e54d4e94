"""Signs in the texts: copies and false negatives in the corpus, and truncated sentences."""

from .evidence import BATCH, Evidence
from .signs import sign

NEAR = 0.8


@sign(
    "duplicates in the corpus",
    "the share of sentences with a copy of themselves in their batch",
    "A copy in the batch is a negative with the same meaning, so the loss pushes a sentence away from itself. Keep "
    "each sentence once (sort -u).",
    above=0.05,
)
def duplicates(seen: Evidence) -> float | None:
    """In a random batch: the sum over texts of count (count - 1) / (n (n - 1)), times the remaining rows."""
    n = len(seen.corpus)
    if n < 2:
        return None
    meetings = sum(count * (count - 1) for count in seen.copies.values()) / (n * (n - 1))
    return min(1.0, meetings * (_batch(seen) - 1))


@sign(
    "test pairs in the corpus",
    "the share of test pairs with both sentences in the training corpus",
    "The score of such a pair may be memorised. Remove its sentences from the corpus and train again, or report the "
    "score of the remaining pairs.",
    above=0,
)
def leaked_pairs(seen: Evidence) -> float | None:
    """The share of test pairs that have both sentences in the corpus, in either order."""
    return seen.leaks.count(2) / len(seen.leaks) if seen.leaks and seen.corpus else None


@sign(
    "false negatives",
    "the number of near copies of a sentence in its batch (four of five words in common)",
    "Sentences with the same meaning are pushed apart. Remove near copies from the corpus, or use a method that spares "
    "such negatives (dclr, sncse).",
    above=0.1,
)
def false_negatives(seen: Evidence) -> float | None:
    """The share of pairs of different sentences with a Jaccard overlap of 0.8, times the other rows of a batch."""
    overlaps = seen.overlaps
    if not len(overlaps):
        return None
    return float((overlaps >= NEAR).mean()) * (_batch(seen) - 1)


@sign(
    "truncated sentences",
    "the share of the tokens beyond the longest input, which are never read",
    "Open the encoder with a larger max_length (SentenceEncoder(..., max_length=N)), train with --max-length N, or cut "
    "long texts into sentences.",
    above=0.25,
)
def truncated(seen: Evidence) -> float | None:
    """The larger loss: texts at the encoder's limit, or corpus at the limit of training."""
    if seen.own is None:
        return None
    lost = [_lost(seen.tokens(seen.texts), seen.own.max_length)]
    if seen.training is not None and seen.corpus:
        lost.append(_lost(seen.tokens(seen.texts), seen.training.config.max_length))
    return max(lost)


def _batch(seen: Evidence) -> int:
    size = BATCH if seen.training is None else seen.training.config.batch_size
    return min(size, len(seen.corpus))


def _lost(lengths: list[int], limit: int) -> float:
    return sum(max(0, length - limit) for length in lengths) / sum(lengths)
