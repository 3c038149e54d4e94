"""Measuring sentence encoders: suites of tasks, the geometry of embeddings, and honest statistics."""

from cselab.evaluators.clustering import Clustering
from cselab.evaluators.comparison import compare
from cselab.evaluators.dev import PairsEvaluator, UnlabelledEvaluator
from cselab.evaluators.evaluation import evaluate
from cselab.evaluators.geometry import Geometry
from cselab.evaluators.records import Record, Scores, read_scores
from cselab.evaluators.references import (
    RandomEncoder,
    StaticEmbeddings,
    TransformedEncoder,
    evaluate_beside,
    fitted,
    named_encoder,
    with_references,
    word_overlap,
)
from cselab.evaluators.sts import STS
from cselab.evaluators.suites import SUITES, register
from cselab.evaluators.transfer import Transfer
from cselab.evaluators.vectors import Encoder
from cselab.evaluators.world import WorldClustering, WorldSTS, WorldTransfer
from cselab.metrics import (
    Comparison,
    DegenerateEmbeddings,
    alignment,
    effective_rank,
    feature_correlation,
    mcnemar,
    mean_cosine,
    paired_bootstrap,
    paired_t_test,
    rank,
    sampled_uniformity,
    spectrum,
    uniformity,
)

__all__ = [
    "STS",
    "SUITES",
    "Clustering",
    "Comparison",
    "DegenerateEmbeddings",
    "Encoder",
    "Geometry",
    "PairsEvaluator",
    "RandomEncoder",
    "Record",
    "Scores",
    "StaticEmbeddings",
    "Transfer",
    "TransformedEncoder",
    "UnlabelledEvaluator",
    "WorldClustering",
    "WorldSTS",
    "WorldTransfer",
    "alignment",
    "compare",
    "effective_rank",
    "evaluate",
    "evaluate_beside",
    "feature_correlation",
    "fitted",
    "mcnemar",
    "mean_cosine",
    "named_encoder",
    "paired_bootstrap",
    "paired_t_test",
    "rank",
    "read_scores",
    "register",
    "sampled_uniformity",
    "spectrum",
    "uniformity",
    "with_references",
    "word_overlap",
]
