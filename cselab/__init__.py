"""cselab: contrastive learning of sentence embeddings, to be read, run and taken apart.

from cselab import SentenceEncoder, train, evaluate, losses, methods
"""

__version__ = "0.1.0"

from cselab import losses, methods
from cselab.encoder import SentenceEncoder
from cselab.evaluators import evaluate
from cselab.training import Run, TrainConfig, train

__all__ = ["Run", "SentenceEncoder", "TrainConfig", "evaluate", "losses", "methods", "train"]
