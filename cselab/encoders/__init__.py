"""Encoders: tokenizer, transformer, pooling, and a head that training may add; encoding, saving and opening.

What is named here is imported when it is first used: the names of the bundled encoders are known without torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cselab.encoders.any_encoder import as_encoder
    from cselab.encoders.distributed import DistributedEncoder
    from cselab.encoders.encoder import SentenceEncoder, TruncationWarning, UntrainedWeightsError
    from cselab.encoders.encoding import Encode
    from cselab.encoders.errors import CheckpointError
    from cselab.encoders.streaming import encode_to_file

_MODULES = {
    name: module
    for module, names in {
        "any_encoder": "as_encoder",
        "distributed": "DistributedEncoder",
        "encoder": "SentenceEncoder TruncationWarning UntrainedWeightsError",
        "encoding": "Encode",
        "errors": "CheckpointError",
        "streaming": "encode_to_file",
    }.items()
    for name in names.split()
}
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"cselab.encoders.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'cselab.encoders' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
