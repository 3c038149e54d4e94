"""Encoders: tokenizer, transformer, pooling, and a head that training may add; encoding, saving and opening.

What is named here is imported when it is first used: the names of the bundled encoders are known without torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cselab._util.checksums import CheckpointError
    from cselab.encoders.any_encoder import as_encoder
    from cselab.encoders.distributed import DistributedEncoder
    from cselab.encoders.encoder import SentenceEncoder, TruncationWarning, UntrainedWeightsError
    from cselab.encoders.encoding import Encode
    from cselab.encoders.streaming import encode_to_file

_MODULES = {
    name: f"cselab.{module}"
    for module, names in {
        "_util.checksums": "CheckpointError",
        "encoders.any_encoder": "as_encoder",
        "encoders.distributed": "DistributedEncoder",
        "encoders.encoder": "SentenceEncoder TruncationWarning UntrainedWeightsError",
        "encoders.encoding": "Encode",
        "encoders.streaming": "encode_to_file",
    }.items()
    for name in names.split()
}
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'cselab.encoders' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
