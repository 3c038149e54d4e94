"""What a diagnosis can look at: vectors, an encoder, the history and settings of a run, its corpus, its other seeds.

Each piece is computed when a sign first asks for it, and once; what is not there is None.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

if TYPE_CHECKING:
    from torch import Tensor

    from cselab.encoders.encoder import SentenceEncoder
    from cselab.methods import Method, Views

MOST = 300
"""Texts that are encoded: enough for every measure here, and seconds on a laptop."""

BATCH = 64


@dataclass(frozen=True)
class Training:
    """What is known of how an encoder came about: the method, the settings, a row a step, the encoder it began as."""

    method: Method
    config: Any
    history: Sequence[Mapping[str, Any]]
    start: Mapping[str, Any] = field(default_factory=dict)


class Evidence:
    """All that is known of one subject.

    Args:
        encoder: anything with `encode`, or None where there are vectors alone.
        texts: what to encode, or what the vectors are of; without any, the natural sentences of Classroom STS.
        vectors: `[n, d]`, in the place of an encoder.
        corpus: the sentences that it was trained on, where they are known.
        training: of a run.
        others: the encoders, or the vectors of the same texts, of the other seeds.
    """

    def __init__(
        self,
        encoder: Any = None,
        texts: Sequence[str] = (),
        vectors: Float[np.ndarray, "n d"] | None = None,
        corpus: Sequence[str] = (),
        training: Training | None = None,
        others: Sequence[Any] = (),
    ) -> None:
        if vectors is not None and texts and len(texts) != len(vectors):
            raise ValueError(f"{len(texts)} texts for {len(vectors)} vectors: one text a vector is needed")
        self.encoder, self.given, self.corpus, self.training, self.others = encoder, vectors, corpus, training, others
        self.texts = list(texts) if vectors is not None else sample(texts or corpus or _natural())

    @cached_property
    def vectors(self) -> Float[np.ndarray, "n d"]:
        """A row a text."""
        return self.given if self.given is not None else self.encoded(self.encoder)

    def encoded(self, other: Any) -> Float[np.ndarray, "n d"]:
        """The texts as another encoder gives them; vectors are taken as they are."""
        from cselab.evaluators.vectors import encode

        return encode(other, self.texts) if hasattr(other, "encode") else other

    @cached_property
    def own(self) -> SentenceEncoder | None:
        """The encoder, where it is one whose parts can be looked at."""
        from cselab.encoders.encoder import SentenceEncoder

        return self.encoder if isinstance(self.encoder, SentenceEncoder) else None

    def tokens(self, texts: Sequence[str]) -> list[int]:
        """The length of each text, uncut: in tokens, or in words where there is no tokenizer."""
        if self.own is None:
            return [len(text.split()) for text in texts]
        return [len(ids) for ids in self.own.tokenizer(list(texts), verbose=False)["input_ids"]]

    @cached_property
    def views(self) -> Views | None:
        """A batch of the run's own views, as in a step of training."""
        if self.own is None or self.training is None or len(self.training.method.columns) > 1:
            return None
        return views_of(self.own, self.training, sample(self.corpus or self.texts)[:BATCH])

    @cached_property
    def repulsion(self) -> Float[Tensor, "n m"] | None:
        """What each negative has of the gradient that pushes its anchor, at the run's temperature; rows sum to 1."""
        import torch

        from cselab.losses import info_nce
        from cselab.metrics import cosine_gradients

        temperature = None if self.training is None else self.training.method.settings().get("temperature")
        if self.views is None or not isinstance(temperature, float | int):
            return None

        def loss(rows: Tensor, columns: Tensor) -> Tensor:
            return info_nce(rows, columns, temperature).total

        pushed = cosine_gradients(loss, self.views.anchor, self.views.positive)
        n = len(pushed)
        negatives = pushed[~torch.eye(n, dtype=torch.bool)].view(n, n - 1)
        return negatives / negatives.sum(dim=1, keepdim=True).clamp(min=1e-300)

    @cached_property
    def copies(self) -> Counter[str]:
        """How often each text stands in the corpus, whatever its case and white space."""
        return Counter(" ".join(text.lower().split()) for text in self.corpus)

    @cached_property
    def overlaps(self) -> Float[np.ndarray, " k"]:
        """The words that two sentences share over those of either, for all pairs of a sample of the corpus."""
        from cselab.evaluators import word_overlap

        texts = [re.sub(r"[^\w\s]", " ", text.lower()) for text in sample(self.corpus)]
        pairs = list(combinations((text for text in texts if text.strip()), 2))
        return word_overlap(*map(list, zip(*pairs, strict=True))) if pairs else np.zeros(0)

    @cached_property
    def start(self) -> SentenceEncoder | None:
        """The encoder that the run began as, where it is on this machine and still the same."""
        from cselab.encoders.encoder import SentenceEncoder
        from cselab.encoders.open import BUNDLED

        about = {} if self.training is None else self.training.start
        name = str(about.get("name", ""))
        if name not in BUNDLED and not (name and Path(name).is_dir()):
            return None
        start = SentenceEncoder.from_pretrained(name)
        return start if about.get("weights") in (None, start.weights_hash()) else None

    def losses(self) -> list[float]:
        """The contrastive term of the loss, step by step: the one that starts at log N for vectors that say nothing."""
        rows = [] if self.training is None else [row for row in self.training.history if "loss" in row]
        terms = [name for name in (rows[0] if rows else {}) if name.endswith("info_nce")]
        return [row[terms[0]] for row in rows] if terms else []


def views_of(encoder: SentenceEncoder, training: Training, batch: Sequence[str]) -> Views:
    """The views of a batch, drawn on copies: encoder, method and random numbers are left as they were."""
    import copy

    import torch

    from cselab.encoders.encoding import Encode

    method, learner = copy.deepcopy(training.method).train(), encoder.copy().train()
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        method.prepare(learner)
        head = method.build(learner, list(batch), torch.Generator().manual_seed(0))
        learner.attach_head(head if learner.head is None else learner.head)
        return method.views(Encode(learner.train(), training.config.max_length), list(batch))


def _natural() -> list[str]:
    from cselab.evaluators.world import classroom_sts

    return classroom_sts("test").sentences


def sample(texts: Sequence[str]) -> list[str]:
    """Different texts, drawn from all where there are many."""
    distinct = list(dict.fromkeys(texts))
    return random.Random(0).sample(distinct, MOST) if len(distinct) > MOST else distinct
