"""Arrays in, numbers out: the geometry of embeddings, agreement, significance, linear probes."""

from cselab.measures.geometry import (
    DegenerateEmbeddings,
    alignment,
    effective_rank,
    feature_correlation,
    mean_cosine,
    rank,
    sampled_uniformity,
    spectrum,
    uniformity,
)

__all__ = [
    "DegenerateEmbeddings",
    "alignment",
    "effective_rank",
    "feature_correlation",
    "mean_cosine",
    "rank",
    "sampled_uniformity",
    "spectrum",
    "uniformity",
]
