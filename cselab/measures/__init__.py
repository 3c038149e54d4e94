"""Arrays in, numbers out: the geometry of embeddings, agreement, significance, linear probes."""

from cselab.measures.agreement import matched_accuracy, normalized_mutual_information, v_measure
from cselab.measures.degenerate import DegenerateEmbeddings
from cselab.measures.geometry import (
    alignment,
    effective_rank,
    feature_correlation,
    mean_cosine,
    rank,
    sampled_uniformity,
    spectrum,
    uniformity,
)
from cselab.measures.significance import (
    Comparison,
    bootstrap_interval,
    correlation,
    mcnemar,
    paired_bootstrap,
    paired_t_test,
)

__all__ = [
    "Comparison",
    "DegenerateEmbeddings",
    "alignment",
    "bootstrap_interval",
    "correlation",
    "effective_rank",
    "feature_correlation",
    "matched_accuracy",
    "mcnemar",
    "mean_cosine",
    "normalized_mutual_information",
    "paired_bootstrap",
    "paired_t_test",
    "rank",
    "sampled_uniformity",
    "spectrum",
    "uniformity",
    "v_measure",
]
