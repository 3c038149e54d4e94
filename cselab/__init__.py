"""cselab: contrastive learning of sentence embeddings, to be read, run and taken apart.

from cselab import SentenceEncoder, train, evaluate, losses, methods

What is named here is imported when it is first used: `import cselab` alone does not wait for torch, and changes
nothing in the process.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from cselab import losses, methods
    from cselab._util.versions import versions
    from cselab.encoders.encoder import SentenceEncoder
    from cselab.encoders.streaming import encode_to_file
    from cselab.evaluators import evaluate
    from cselab.training import Run, TrainConfig, train

__all__ = [
    "Run",
    "SentenceEncoder",
    "TrainConfig",
    "encode_to_file",
    "evaluate",
    "losses",
    "methods",
    "train",
    "versions",
]

_MODULES = {
    "Run": "training",
    "SentenceEncoder": "encoders",
    "TrainConfig": "training",
    "encode_to_file": "encoders",
    "evaluate": "evaluators",
    "train": "training",
    "versions": "_util.versions",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"cselab.{_MODULES[name]}"), name)
    if name in __all__:
        return import_module(f"cselab.{name}")
    raise AttributeError(f"module 'cselab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
