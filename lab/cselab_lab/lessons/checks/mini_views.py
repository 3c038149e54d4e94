"""Dropout views by the bundled `mini`, for checks that ask an encoder and must not need the lesson's kernel."""

from collections.abc import Sequence
from typing import Any

from cselab_lab.lessons.checks.plain import plain


def mini_views(sentences: Sequence[str], times: int, seed: int = 0) -> list[Any]:
    """`times` vectors of each sentence, [CLS] of length 1, each with dropout masks of its own.

    The same for the same seed; the caller's random numbers are left as they were.
    """
    import torch
    from torch.nn.functional import normalize

    encoder = plain().copy()  # the other checks' encoder stays in eval mode
    features = encoder.tokenize(list(sentences))
    with torch.no_grad(), torch.random.fork_rng():
        torch.manual_seed(seed)
        encoder.train()
        return [normalize(encoder.pooled(features)) for _ in range(times)]
