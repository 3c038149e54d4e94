"""Measuring sentence encoders: suites of tasks, baselines, and whole evaluations compared.

See also: `cselab.metrics`, the numbers of arrays that the suites are made of.
"""

from .baselines import (
    RandomEncoder,
    StaticEmbeddings,
    TransformedEncoder,
    evaluate_beside,
    fitted,
    named_encoder,
    random_weights,
    with_baselines,
    word_overlap,
)
from .clustering import Clustering
from .comparison import compare
from .dev import PairsEvaluator, UnlabelledEvaluator
from .evaluation import evaluate
from .geometry import Geometry
from .records import Record, Scores, read_scores
from .sts import STS
from .suites import SUITES, register
from .transfer import Transfer
from .vectors import Encoder
from .world import WorldClustering, WorldSTS, WorldTransfer

__all__ = [
    "STS",
    "SUITES",
    "Clustering",
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
    "compare",
    "evaluate",
    "evaluate_beside",
    "fitted",
    "named_encoder",
    "random_weights",
    "read_scores",
    "register",
    "with_baselines",
    "word_overlap",
]
