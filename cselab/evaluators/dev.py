"""Evaluators for the training loop: called with the encoder, they return its score and geometry.

Each returns {"score", "alignment", "uniformity", "mean_cosine", "effective_rank"}; a higher score is better. The
evaluator of pairs returns `DevScores`, which keeps the predictions for `compare`.
Each distinct sentence is encoded once per call, and only sentences for development are touched. A collapsed encoder
raises `DegenerateEmbeddings`; `cselab.training.train` keeps the reason in the history and continues.
"""

import hashlib
import random
from collections.abc import Iterable

import torch

from cselab._util.arguments import checked
from cselab.data.pairs import PairSource, as_pairs
from cselab.data.rows import check_sentences
from cselab.metrics import geometry
from cselab.metrics.degenerate import VectorArray

from .geometry import ALIGNMENT_THRESHOLD, positives
from .records import Outcome
from .sts import StsTask
from .vectors import Encoder, encode_distinct


class DevScores(dict[str, float]):
    """The numbers of a dev evaluation, and in `outcomes` the predictions behind the score.

    Two of them, of the same pairs, can be passed to `cselab.evaluators.compare`.
    """

    def __init__(self, numbers: dict[str, float], outcomes: dict[str, Outcome]) -> None:
        super().__init__(numbers)
        self.outcomes = outcomes


class PairsEvaluator:
    """Spearman correlation x100 on scored pairs, such as STS-B dev; alignment on those above the threshold.

    Args:
        pairs: `Pairs`, (sentence1, sentence2, score) tuples, a DataFrame with columns of these names, or a file that
            `cselab.data.read_pairs` reads.
        threshold: pairs with a gold score above it are the positive pairs of the alignment.

    Raises:
        ValueError: no pair has a score above the threshold, so alignment is undefined.

    See also: `UnlabelledEvaluator` for a corpus without scored pairs.
    """

    def __init__(self, pairs: PairSource, threshold: float | int = ALIGNMENT_THRESHOLD) -> None:
        self.pairs = pairs = as_pairs(pairs)
        self.positives = positives(pairs, threshold)
        if not len(self.positives):
            highest = max(pairs.scores, default=None)
            raise ValueError(
                f"no pair of {pairs.name} has a score above {threshold:g} (the highest is {highest}); "
                "give a threshold below it, such as 0.8 for scores from 0 to 1"
            )

    @property
    def identity(self) -> dict[str, str]:
        """The dev set in a run's record: a different dev set makes a different run."""
        return {"pairs": self.pairs.name, "split": self.pairs.split, "sha256": self.pairs.hash}

    def __call__(self, encoder: Encoder) -> DevScores:
        """Raises DegenerateEmbeddings when the encoder's vectors are not finite or all the same."""
        encoded = encode_distinct(encoder, self.pairs.sentences)
        outcome = StsTask(self.pairs, self.pairs.name).outcome(encoded)
        numbers = {
            "score": 100 * outcome.score(),
            "alignment": geometry.alignment(encoded(self.positives.sentences1), encoded(self.positives.sentences2)),
            **shape_of(encoded(self.pairs.sentences)),
        }
        return DevScores(numbers, {self.pairs.name: outcome})


def shape_of(vectors: VectorArray) -> dict[str, float]:
    """The geometry in the training history, in addition to alignment."""
    return {name: getattr(geometry, name)(vectors) for name in ("uniformity", "mean_cosine", "effective_rank")}


class UnlabelledEvaluator:
    """How well a sentence finds its twin among all sentences: a dev score for a corpus without scored pairs.

    The twin of a sentence is the sentence with each word left out with probability 1/2, drawn once from the
    seed. The twins of all sentences are ranked by their cosine with the sentence, and the score is

        100 mean_i 1 / rank of twin i among all twins           (mean reciprocal rank, 0 to 100)

    A random encoder gets about 100 (0.6 + log n) / n. The score depends on n: compare it over the same sentences.

    Why ranks: contrastive training minimises the remaining label-free signals, which continue to improve while meaning
    is lost. A plain encoder of 4 layers x 256, trained as SimCSE does, n = 1000, half of the words left out:

        pooling, steps   STS-B dev      this score     -(alignment + uniformity)   InfoNCE bound, tau 0.05
        mean, 0 to 120   63.4 to 65.3   84.6 to 86.3   1.30 to 2.01                4.55 to 5.65 nats
        [CLS], 0 to 40   61.7 to 36.6   61.3 to 55.3   0.15 to 1.54                0.66 to 3.76 nats

    Only the ranks, which do not depend on the width of the cone, fell when the [CLS] run went wrong. On the sum of
    alignment and uniformity even a random encoder (2 - 3.9) beats the plain one. With a fifth of the words left
    out the score is at its ceiling from the start (99.3 with mean pooling), hence a half.

    It cannot measure whether paraphrases come together. Use `PairsEvaluator` if you have scored pairs.

    Alignment in the row is that of the sentences and their twins.

    Args:
        sentences: held out from training; repeats are dropped. Some hundreds are enough.

    Raises:
        ValueError: fewer than two different sentences.
    """

    @checked
    def __init__(self, sentences: Iterable[str], seed: int = 0) -> None:
        self.sentences = list(dict.fromkeys(check_sentences(sentences)))
        if len(self.sentences) < 2:
            raise ValueError(f"different sentences: {len(self.sentences)}; at least two are needed")
        generator = random.Random(seed)
        self.twins = [without_half(sentence, generator) for sentence in self.sentences]

    @property
    def identity(self) -> dict[str, str | int]:
        """The dev set in a run's record: different sentences or twins make a different run."""
        text = "\n".join([*self.sentences, *self.twins])
        return {"sentences": len(self.sentences), "sha256": hashlib.sha256(text.encode()).hexdigest()}

    def __call__(self, encoder: Encoder) -> dict[str, float]:
        """Raises DegenerateEmbeddings when the encoder's vectors are not finite or all the same."""
        encoded = encode_distinct(encoder, [*self.sentences, *self.twins])
        vectors, twins = encoded(self.sentences), encoded(self.twins)
        return {
            "score": 100 * mean_reciprocal_rank(vectors, twins),
            "alignment": geometry.alignment(vectors, twins),
            **shape_of(vectors),
        }


def without_half(sentence: str, generator: random.Random) -> str:
    """The sentence with each word left out with probability 1/2; at least one word stays."""
    words = sentence.split()
    kept = [word for word in words if generator.random() >= 0.5]
    return " ".join(kept or [generator.choice(words)])


def mean_reciprocal_rank(x: VectorArray, y: VectorArray) -> float:
    """Mean over rows of 1 / rank of y_i among all y by cosine (to 1e-6) with x_i; of equals the middle rank."""
    x, y = (torch.nn.functional.normalize(torch.as_tensor(side).double(), dim=1) for side in (x, y))
    total = 0.0
    for rows in torch.arange(len(x)).split(1024):
        similarity = (x[rows] @ y.T).round(decimals=geometry.COSINE_DECIMALS)
        own = similarity[torch.arange(len(rows)), rows, None]
        before, equal = (similarity > own).sum(dim=1), (similarity == own).sum(dim=1)
        total += (1 / (before + (equal + 1) / 2)).sum().item()
    return total / len(x)
