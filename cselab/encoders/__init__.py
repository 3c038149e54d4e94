"""Encoders: tokenizer, transformer, pooling, and a head that training may add; encoding, saving and opening.

These names are imported on first use, so the names of the bundled encoders are available without torch.
"""

from typing import TYPE_CHECKING

from cselab._util.lazy import attach

if TYPE_CHECKING:
    from cselab._util.checksums import CheckpointError

    from .any_encoder import as_encoder
    from .distributed import DistributedEncoder
    from .encoder import SentenceEncoder, TruncationWarning, UntrainedWeightsError
    from .streaming import encode_to_file
    from .training_forward import Encode
    from .words import CosineParts, explain_cosine

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "cselab._util.checksums": "CheckpointError",
        ".any_encoder": "as_encoder",
        ".distributed": "DistributedEncoder",
        ".encoder": "SentenceEncoder TruncationWarning UntrainedWeightsError",
        ".training_forward": "Encode",
        ".streaming": "encode_to_file",
        ".words": "CosineParts explain_cosine",
    },
)
