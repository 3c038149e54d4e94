"""Signs in the texts: copies and false negatives among those trained on, and what the encoder never reads."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import torch.nn.functional as F

from cselab_lab.diagnosis import pictures
from cselab_lab.diagnosis.evidence import BATCH
from cselab_lab.diagnosis.signs import sign

if TYPE_CHECKING:
    from cselab_lab.diagnosis.evidence import Evidence


def counted(seen: Evidence) -> Counter[str]:
    """How often each text stands in the corpus, whatever its case and white space."""
    return Counter(" ".join(text.lower().split()) for text in seen.corpus)


@sign(
    "duplicates in the corpus",
    "the share of sentences that meet a copy of themselves in their batch",
    "A copy in the batch is a negative that means the same: the loss pushes a sentence from itself. Keep each sentence "
    "once (sort -u).",
    pictures.copies,
    above=0.02,
)
def duplicates(seen: Evidence) -> float | None:
    """Of a random batch: sum over texts of count (count - 1) / (n (n - 1)), times the other rows of the batch."""
    n = len(seen.corpus)
    if n < 2:
        return None
    size = BATCH if seen.training is None else min(seen.training.config.batch_size, n)
    meetings = sum(count * (count - 1) for count in counted(seen).values()) / (n * (n - 1))
    return min(1.0, meetings * (size - 1))


@sign(
    "false negatives",
    "the share of sentences with a negative in the batch that is nearer than their own second view",
    "Sentences that mean the same are pushed apart. Take near copies out of the corpus, or a method that spares such "
    "negatives (dclr, mixcse with a threshold, sncse).",
    pictures.views,
    above=0.2,
)
def false_negatives(seen: Evidence) -> float | None:
    """Anchor i has one where max over j != i of cos(anchor_i, positive_j) exceeds cos(anchor_i, positive_i)."""
    if seen.views is None:
        return None
    anchor, positive = (F.normalize(view, dim=1) for view in (seen.views.anchor, seen.views.positive))
    cosines = anchor @ positive.T
    nearest = cosines.clone().fill_diagonal_(-1).max(dim=1).values
    return float((nearest > cosines.diagonal()).float().mean())


@sign(
    "truncated sentences",
    "the share of the tokens that lie beyond the longest input and are never read",
    "Open the encoder with a larger max_length (SentenceEncoder(..., max_length=N)), train with --max-length N, or cut "
    "long texts into sentences.",
    pictures.lengths,
    above=0.15,
)
def truncated(seen: Evidence) -> float | None:
    """Of the texts at the encoder's limit, or of the corpus at the limit of training, whichever loses more."""
    if seen.own is None:
        return None
    lost = [_lost(seen.tokens(seen.texts), seen.own.max_length)]
    if seen.training is not None and seen.corpus:
        lost.append(_lost(seen.tokens(seen.texts), seen.training.config.max_length))
    return max(lost)


def _lost(lengths: list[int], limit: int) -> float:
    return sum(max(0, length - limit) for length in lengths) / sum(lengths)
