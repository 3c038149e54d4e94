"""Arrays in, numbers out: geometry, views, parts of a cosine, gradients, ranks, agreement, significance, probes."""

from .agreement import matched, normalized_mutual_information
from .cosine_gradients import cosine_gradients
from .degenerate import DegenerateEmbeddings
from .geometry import (
    alignment,
    diversity,
    effective_rank,
    feature_correlation,
    mean_cosine,
    rank,
    sampled_uniformity,
    spectrum,
    token_contributions,
    uniformity,
)
from .rank_bottleneck import barlow_twins_floor, dimension_contrastive_floor
from .ranking import Ranking, holm, rank_means
from .significance import Comparison, bootstrap_interval, correlation, mcnemar, paired_bootstrap, paired_t_test

__all__ = [
    "Comparison",
    "DegenerateEmbeddings",
    "Ranking",
    "alignment",
    "barlow_twins_floor",
    "bootstrap_interval",
    "correlation",
    "cosine_gradients",
    "dimension_contrastive_floor",
    "diversity",
    "effective_rank",
    "feature_correlation",
    "holm",
    "matched",
    "mcnemar",
    "mean_cosine",
    "normalized_mutual_information",
    "paired_bootstrap",
    "paired_t_test",
    "rank",
    "rank_means",
    "sampled_uniformity",
    "spectrum",
    "token_contributions",
    "uniformity",
]
