"""Panels: the interactive pictures of the notebooks. Each has a state, a pure figure of it and a thin shell.

    AlignmentUniformity   methods in the plane of alignment and uniformity, over their training steps
    EmbeddingMap          sentences as points, encoders side by side, over training steps
    LossLab               a batch's cosines while it trains, and the gradients of each loss at them
    MethodMap             methods on the pipeline: the stages at which each differs from SimCSE
    NoiseLab              the cloud that dropout makes of a sentence, and the effect of noise on both kinds of pair
    PairExplorer          typed sentences: their cosine under each encoder, among graded pairs, also without a kernel
    PaperVsOurs           an experiment: gains in the paper and here, whether the claims hold; or a map of all gains
    Picture               your own planes, drawn as the panels are, without controls
    RankLab               the rank of a batch's correlation matrix, and the losses that need or do not need it
    Sphere                points that a hand drags, and the force of a loss on each; computed in the page
    ToyTraining           SimCSE live on a bag of words in 8 dimensions; computed in the page
    TrainingMonitor       a run while it goes on: curves, pause, stop, keep this step; with finished runs
    WhiteningLab          whitening in groups: covariance, variances of held-out sentences, the stages of whitening
    WordContributions     two sentences, and the part of their cosine that each pair of words has

`sketches` draws the picture before a formula. `link` makes panels move together. `kit.panel` says how a panel is built,
`kit.page_panel` how one that computes in the page, `kit.page` how figures get into pages read without a kernel.
"""

try:
    import plotly  # noqa: F401
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError("the panels need plotly; in a clone: pip install '.[notebooks]'") from missing

from .figures import sketches
from .kit.linking import Link, link
from .kit.panel import Panel
from .kit.panel_vectors import dropout_views
from .panels.alignment_uniformity import AlignmentUniformity, CosinesByGrade
from .panels.embedding_map import EmbeddingMap
from .panels.loss_lab import BatchWatch, LossLab
from .panels.method_map import MethodMap
from .panels.noise_lab import NoiseLab
from .panels.pair_explorer import PairExplorer
from .panels.paper_vs_ours import PaperVsOurs
from .panels.picture import Picture
from .panels.rank_lab import RankLab
from .panels.sphere import Sphere
from .panels.toy_training import ToyTraining
from .panels.training_monitor import TrainingMonitor
from .panels.whitening_lab import WhiteningLab
from .panels.word_contributions import WordContributions

__all__ = [
    "AlignmentUniformity",
    "BatchWatch",
    "CosinesByGrade",
    "EmbeddingMap",
    "Link",
    "LossLab",
    "MethodMap",
    "NoiseLab",
    "PairExplorer",
    "Panel",
    "PaperVsOurs",
    "Picture",
    "RankLab",
    "Sphere",
    "ToyTraining",
    "TrainingMonitor",
    "WhiteningLab",
    "WordContributions",
    "dropout_views",
    "link",
    "sketches",
]
