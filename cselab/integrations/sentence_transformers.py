"""Alignment, uniformity, effective rank and mean cosine inside the trainer of sentence-transformers.

    from cselab.integrations.sentence_transformers import GeometryEvaluator

Importing this module imports sentence-transformers; nothing else of cselab does.
"""

import logging
from collections.abc import Sequence
from math import nan
from typing import Any

from cselab.data import Pairs
from cselab.data.rows import check_sentences
from cselab.evaluators.dev import PairsEvaluator
from cselab.evaluators.evaluation import evaluate
from cselab.evaluators.geometry import ALIGNMENT_THRESHOLD, Geometry

try:
    from sentence_transformers.sentence_transformer.evaluation import SentenceEvaluator
except ImportError:  # before sentence-transformers 6
    from sentence_transformers.evaluation import SentenceEvaluator

logger = logging.getLogger(__name__)


class GeometryEvaluator(SentenceEvaluator):
    """How a model's vectors fill the space, as an evaluator of sentence-transformers.

    It returns and logs the scores of `evaluate(model, "geometry")`, with the prefix `NAME_` if it has a name, and adds
    them to the model card:

    * uniformity, mean_cosine, feature_correlation, effective_rank of all sentences, repeats included, as in the papers:
      see `cselab.metrics.uniformity` and its neighbours for the formulas and ranges;
    * alignment of the positive pairs, if second sentences are given: `cselab.metrics.alignment`.

    The primary metric is the uniformity, of which less is better. Geometry does not measure meaning: choose the best
    checkpoint by a score such as `EmbeddingSimilarityEvaluator`, and use the geometry for analysis. A model whose
    vectors cannot be measured (not finite, or all in one direction) gets NaN, and the reason is logged; training goes
    on.

    Args:
        sentences1: the sentences, or the first sentences of pairs.
        sentences2: the second sentences, required for alignment.
        scores: how alike the sentences of each pair are; without them all pairs are positive.
        threshold: pairs with a score above it are positive: 4 on the scale of 0 to 5 (Gao et al. 2021), which is 0.8
            where the scores were divided by 5.
        name: the name of the sentences, a prefix of each metric's name.

    Raises:
        ValueError: no sentence, columns of different lengths, scores without second sentences, no pair above the
            threshold.

    See also: `cselab.evaluators.evaluate(model, "geometry")`, for one model, with records.
    """

    def __init__(
        self,
        sentences1: Sequence[str],
        sentences2: Sequence[str] | None = None,
        scores: Sequence[float] | None = None,
        *,
        threshold: float = ALIGNMENT_THRESHOLD,
        name: str = "",
    ) -> None:
        super().__init__()
        if sentences2 is None and scores is not None:
            raise ValueError("scores belong to pairs: give sentences2, too")
        self.data: Any = check_sentences(sentences1)
        if sentences2 is not None:
            if scores is None:
                scores, threshold = [1.0] * len(sentences2), 0.0
            self.data = Pairs(self.data, check_sentences(sentences2), [*scores])
            PairsEvaluator(self.data, threshold)  # refuses pairs of which none is positive
        self.suite, self.name = Geometry(threshold=threshold), name
        self.greater_is_better = False
        self.primary_metric = "uniformity"

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """The metrics of the model, by name; see `SentenceEvaluator` of sentence-transformers."""
        records, name = evaluate(model, self.suite, self.data).records, self.name or "sentences"
        for reason in dict.fromkeys(record.failure for record in records if record.failure):
            logger.warning(f"GeometryEvaluator: {name} cannot be measured: {reason}")
        metrics = {record.key: nan if record.value is None else record.value for record in records}
        shown = "  ".join(f"{measure} {value:.4f}" for measure, value in metrics.items())
        logger.info(f"GeometryEvaluator: {name}, epoch {epoch}, step {steps}: {shown}")
        metrics = self.prefix_name_to_metrics(metrics, self.name)
        self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        return metrics
