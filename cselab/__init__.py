"""cselab: contrastive learning of sentence embeddings, to read, run and analyse.

from cselab import SentenceEncoder, train, evaluate, losses, methods

These names are imported on first use: `import cselab` does not import torch and changes nothing in the process.
"""

from typing import TYPE_CHECKING

from cselab._util.lazy import attach
from cselab._util.versions import __version__

if TYPE_CHECKING:
    from cselab import losses, methods
    from cselab._util.versions import versions
    from cselab.encoders.encoder import SentenceEncoder
    from cselab.encoders.streaming import encode_to_file
    from cselab.evaluators import evaluate
    from cselab.training import Run, TrainConfig, train

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "._util.versions": "versions",
        ".encoders": "SentenceEncoder encode_to_file",
        ".evaluators": "evaluate",
        ".training": "Run TrainConfig train",
    },
    submodules=("losses", "methods"),
)
