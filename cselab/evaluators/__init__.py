"""Measuring sentence encoders: suites of tasks, baselines, and whole evaluations compared.

See also: `cselab.metrics`, the numbers of arrays that the suites are made of.
"""

from cselab.evaluators.baselines import (
    RandomEncoder,
    StaticEmbeddings,
    TransformedEncoder,
    evaluate_beside,
    fitted,
    named_encoder,
    with_baselines,
    word_overlap,
)
from cselab.evaluators.clustering import Clustering
from cselab.evaluators.comparison import compare
from cselab.evaluators.dev import PairsEvaluator, UnlabelledEvaluator
from cselab.evaluators.evaluation import evaluate
from cselab.evaluators.geometry import Geometry
from cselab.evaluators.records import Record, Scores, read_scores
from cselab.evaluators.sts import STS
from cselab.evaluators.suites import SUITES, register
from cselab.evaluators.transfer import Transfer
from cselab.evaluators.vectors import Encoder
from cselab.evaluators.world import WorldClustering, WorldSTS, WorldTransfer

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
    "read_scores",
    "register",
    "with_baselines",
    "word_overlap",
]
