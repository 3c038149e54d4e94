"""The evidence of a diagnosis: vectors, an encoder, the history and settings of a run, its corpus, more seeds.

Each piece is computed once, on first use; missing pieces are None.
"""

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

    from cselab.data import Pairs
    from cselab.encoders.encoder import SentenceEncoder
    from cselab.methods import Method, Views

ArrayOfVectors = Float[np.ndarray, "n d"]
"""A row a sentence."""

MOST_SENTENCES = 300
"""Number of encoded texts: enough for every measure, and seconds on a laptop."""

BATCH = 64


@dataclass(frozen=True)
class Training:
    """The training of an encoder: method, settings, a row per step, and the initial encoder."""

    method: "Method"
    config: Any
    history: Sequence[Mapping[str, Any]]
    start: Mapping[str, Any] = field(default_factory=dict)


class Evidence:
    """The evidence about a subject.

    Args:
        encoder: an object with `encode`, or None for vectors.
        texts: texts to encode, or the texts of the vectors; default: the natural sentences of Classroom STS.
        vectors: `[n, d]`, instead of an encoder.
        corpus: the training sentences, if known.
        training: the training of a run.
        others: encoders, or vectors of the same texts, from more seeds.

    Attributes:
        test: the pairs of a test, if known.
    """

    test: "Pairs | None" = None

    def __init__(
        self,
        encoder: Any = None,
        texts: Sequence[str] = (),
        vectors: ArrayOfVectors | None = None,
        corpus: Sequence[str] = (),
        training: Training | None = None,
        others: Sequence[Any] = (),
    ) -> None:
        if vectors is not None and texts and len(texts) != len(vectors):
            raise ValueError(f"{len(texts)} texts for {len(vectors)} vectors: each vector needs one text")
        self.encoder, self.given, self.corpus, self.training, self.others = encoder, vectors, corpus, training, others
        self.texts = list(texts) if vectors is not None else sample(texts or corpus or _natural())

    @cached_property
    def all_vectors(self) -> ArrayOfVectors:
        """A row per text."""
        return self.given if self.given is not None else self.encoded(self.encoder)

    @cached_property
    def broken(self) -> dict[str, list[int]]:
        """The rows without a direction, from 0, by the reason."""
        rows = self.all_vectors
        unknown, endless = np.isnan(rows).any(axis=1), np.isinf(rows).any(axis=1)
        reasons = {"NaN": unknown, "infinite": endless & ~unknown, "zero": ~rows.any(axis=1)}
        return {reason: where.nonzero()[0].tolist() for reason, where in reasons.items() if where.any()}

    @cached_property
    def sound(self) -> list[int]:
        """The rows with a direction."""
        broken = {row for rows in self.broken.values() for row in rows}
        return [row for row in range(len(self.all_vectors)) if row not in broken]

    @property
    def vectors(self) -> ArrayOfVectors:
        """The vectors with a direction, which every other sign judges."""
        return self.all_vectors[self.sound] if self.broken else self.all_vectors

    @property
    def texts_of_vectors(self) -> list[str]:
        """The texts of `vectors`; none if they are not known."""
        return [self.texts[row] for row in self.sound] if self.texts else []

    def encoded(self, other: Any) -> ArrayOfVectors:
        """The texts encoded by an encoder; vectors are returned unchanged."""
        from cselab.evaluators.vectors import encode

        return encode(other, self.texts) if hasattr(other, "encode") else other

    @cached_property
    def own(self) -> "SentenceEncoder | None":
        """The encoder, if its parts can be examined."""
        from cselab.encoders.encoder import SentenceEncoder

        return self.encoder if isinstance(self.encoder, SentenceEncoder) else None

    def tokens(self, texts: Sequence[str]) -> list[int]:
        """The full length of each text, in tokens, or in words without a tokenizer."""
        if self.own is None:
            return [len(text.split()) for text in texts]
        return [len(ids) for ids in self.own.tokenizer(list(texts), verbose=False)["input_ids"]]

    @cached_property
    def views(self) -> "Views | None":
        """The views of a batch, as in a training step."""
        if self.own is None or self.training is None or len(self.training.method.columns) > 1:
            return None
        return views_of(self.own, self.training, sample(self.corpus or self.texts)[:BATCH])

    @cached_property
    def repulsion(self) -> 'Float[Tensor, "n m"] | None':
        """The share of each negative in the gradient that pushes its anchor; rows sum to 1."""
        import torch

        from cselab.losses import info_nce
        from cselab.metrics import cosine_gradients

        temperature = None if self.training is None else self.training.method.settings().get("temperature")
        if self.views is None or not isinstance(temperature, float | int):
            return None

        def loss(rows: "Tensor", columns: "Tensor") -> "Tensor":
            return info_nce(rows, columns, temperature).total

        pushed = cosine_gradients(loss, self.views.anchor, self.views.positive)
        n = len(pushed)
        negatives = pushed[~torch.eye(n, dtype=torch.bool)].view(n, n - 1)
        return negatives / negatives.sum(dim=1, keepdim=True).clamp(min=1e-300)

    @cached_property
    def copies(self) -> Counter[str]:
        """The number of copies of each text in the corpus, ignoring case and white space."""
        return Counter(map(_plain, self.corpus))

    @cached_property
    def leaks(self) -> list[int]:
        """How many sentences of each test pair are in the corpus, ignoring case, white space and their order."""
        if self.test is None:
            return []
        sides = zip(self.test.sentences1, self.test.sentences2, strict=True)
        return [sum(_plain(sentence) in self.copies for sentence in pair) for pair in sides]

    @cached_property
    def overlaps(self) -> Float[np.ndarray, " k"]:
        """The word overlap (Jaccard) of all pairs in a sample of the corpus."""
        from cselab.evaluators import word_overlap

        texts = [re.sub(r"[^\w\s]", " ", text.lower()) for text in sample(self.corpus)]
        pairs = list(combinations((text for text in texts if text.strip()), 2))
        return word_overlap(*map(list, zip(*pairs, strict=True))) if pairs else np.zeros(0)

    @cached_property
    def start(self) -> "SentenceEncoder | None":
        """The initial encoder of the run, if it exists unchanged on this machine."""
        from cselab.encoders.encoder import SentenceEncoder
        from cselab.encoders.open import BUNDLED

        about = {} if self.training is None else self.training.start
        name = str(about.get("name", ""))
        if name not in BUNDLED and not (name and Path(name).is_dir()):
            return None
        start = SentenceEncoder.from_pretrained(name)
        return start if about.get("weights") in (None, start.weights_hash()) else None

    def losses(self) -> list[float]:
        """The contrastive term of the loss at each step, which is log N for uninformative vectors."""
        rows = [] if self.training is None else [row for row in self.training.history if "loss" in row]
        terms = [name for name in (rows[0] if rows else {}) if name.endswith("info_nce")]
        return [row[terms[0]] for row in rows] if terms else []


def views_of(encoder: "SentenceEncoder", training: Training, batch: Sequence[str]) -> "Views":
    """The views of a batch, from copies, so that encoder, method and random state do not change."""
    import copy

    import torch

    from cselab.encoders.training_forward import Encode
    from cselab.methods import Setup

    method, learner = copy.deepcopy(training.method).train(), encoder.copy().train()
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        method.prepare(learner)
        head = method.build(Setup(learner, list(batch)))
        learner.attach_head(head if learner.head is None else learner.head)
        return method.views(Encode(learner.train(), training.config.max_length), list(batch))


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _natural() -> list[str]:
    from cselab.evaluators.world import classroom_sts

    return classroom_sts("test").sentences


def sample(texts: Sequence[str]) -> list[str]:
    """Distinct texts; a random sample if there are many."""
    distinct = list(dict.fromkeys(texts))
    return random.Random(0).sample(distinct, MOST_SENTENCES) if len(distinct) > MOST_SENTENCES else distinct
