"""Evaluators for the training loop: called with the encoder, they say how good it is and how it looks.

Each returns {"score", "alignment", "uniformity", "mean_cosine", "effective_rank"}; a higher score is better.
Each distinct sentence is encoded once a call, and only sentences for development are touched.
"""

import random
from collections.abc import Sequence
from typing import Any

import torch

from cselab.data import Pairs
from cselab.evaluators import geometry
from cselab.evaluators.geometry import Vectors
from cselab.evaluators.geometry_suite import ALIGNMENT_THRESHOLD, positives
from cselab.evaluators.significance import stratified_correlation
from cselab.evaluators.sts import StsTask
from cselab.evaluators.vectors import encode_distinct


class PairsEvaluator:
    """Spearman correlation x100 on scored pairs, such as STS-B dev; alignment on those above the threshold.

    Raises:
        ValueError: no pair has a score above the threshold, so that there is nothing to align.

    See also: `UnlabelledEvaluator` for a corpus without scored pairs.
    """

    def __init__(self, pairs: Pairs, threshold: float | int = ALIGNMENT_THRESHOLD):
        self.pairs, self.positives = pairs, positives(pairs, threshold)
        if not len(self.positives):
            highest = max(pairs.scores, default=None)
            raise ValueError(
                f"no pair of {pairs.name} has a score above {threshold:g} (the highest is {highest}); "
                "give a threshold below it"
            )

    def __call__(self, encoder: Any) -> dict[str, float]:
        """Raises DegenerateEmbeddings when the encoder's vectors are not finite or all the same."""
        encoded = encode_distinct(encoder, self.pairs.sentences)
        outcome = StsTask(self.pairs, self.pairs.name).outcome(encoded)
        return {
            "score": 100 * stratified_correlation(outcome),
            "alignment": geometry.alignment(
                encoded(self.positives.sentences1), encoded(self.positives.sentences2)
            ),
            **shape_of(encoded(self.pairs.sentences)),
        }


def shape_of(vectors: Vectors) -> dict[str, float]:
    """What the training history keeps of the geometry besides the alignment."""
    return {
        "uniformity": geometry.uniformity(vectors),
        "mean_cosine": geometry.mean_cosine(vectors),
        "effective_rank": geometry.effective_rank(vectors),
    }


class UnlabelledEvaluator:
    """How surely a sentence is told from all others by its twin: a dev score for a corpus without scored pairs.

    The twin of a sentence is the sentence with each word left out with probability `drop`, drawn once from the
    seed. With unit vectors u_i of the n sentences and v_i of their twins the score is the InfoNCE bound,

        log n + mean_i log [ exp(u_i . v_i / tau) / sum_j exp(u_i . v_j / tau) ]          in nats, at most log n

    0 is chance: an encoder that maps everything to one vector gets it, and a random encoder does not pass it.
    That is why it is not minus the sum of alignment and uniformity, the other label-free signal: on that sum a random
    encoder (2 - 3.9) beats a plain language model (0.2 - 1.5). Both terms are in the returned row.

    Twins lose words, and not activations as in training with dropout, so that the score is not the training loss
    once more; with half of the words gone it is not at its ceiling from the start.

    What it cannot see: whether sentences of one meaning in other words come together. It tells a collapse or a
    divergence, and rises while contrastive training repairs the cone; it does not tell when to stop. Use
    `PairsEvaluator` wherever there are scored pairs.

    Alignment is that of the sentences and their twins.

    Args:
        sentences: held out from training; repeats are dropped. A few hundred are enough.

    Raises:
        ValueError: fewer than two different sentences; `drop` not between 0 and 1; `temperature` not positive.
    """

    def __init__(self, sentences: Sequence[str], drop: float = 0.5, temperature: float = 0.05, seed: int = 0):
        self.sentences = list(dict.fromkeys(sentences))
        if len(self.sentences) < 2:
            raise ValueError(
                f"{len(self.sentences)} different sentences; at least two are needed to tell apart"
            )
        if not 0 < drop < 1:
            raise ValueError(f"drop must be between 0 and 1, got {drop}")
        if not temperature > 0:
            raise ValueError(f"temperature must be positive, got {temperature}")
        self.temperature = temperature
        generator = random.Random(seed)
        self.twins = [without_words(sentence, drop, generator) for sentence in self.sentences]

    def __call__(self, encoder: Any) -> dict[str, float]:
        """Raises DegenerateEmbeddings when the encoder's vectors are not finite or all the same."""
        encoded = encode_distinct(encoder, [*self.sentences, *self.twins])
        vectors, twins = encoded(self.sentences), encoded(self.twins)
        return {
            "score": told_apart(vectors, twins, self.temperature),
            "alignment": geometry.alignment(vectors, twins),
            **shape_of(vectors),
        }


def without_words(sentence: str, drop: float, generator: random.Random) -> str:
    """The sentence with each word left out with probability `drop`; one word stays at least."""
    words = sentence.split()
    kept = [word for word in words if generator.random() >= drop]
    return " ".join(kept or [generator.choice(words)])


def told_apart(x: Vectors, twins: Vectors, temperature: float) -> float:
    """InfoNCE bound in nats: log n minus the cross entropy of finding each row's twin among all twins."""
    u, v = (torch.nn.functional.normalize(torch.as_tensor(side).double(), dim=1) for side in (x, twins))
    logits = u @ v.T / temperature
    found = logits.diagonal() - logits.logsumexp(dim=1)
    return (found.mean() + torch.tensor(len(u)).log()).item()
