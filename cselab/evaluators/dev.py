"""Evaluators for the training loop: called with the encoder, they say how good it is and how it looks.

Each returns {"score", "alignment", "uniformity", "mean_cosine", "effective_rank"}; a higher score is better.
Each distinct sentence is encoded once a call, and only sentences for development are touched.
"""

from typing import Any

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
