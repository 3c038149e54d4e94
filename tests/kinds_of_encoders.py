"""What gives sentences vectors, in every form that people have it: all of one encoder."""

from types import SimpleNamespace

import torch
from tiny import make_encoder, make_sentences

from cselab.data import Pairs

TEXTS = make_sentences(24)
PAIRS = Pairs(TEXTS[:12], TEXTS[12:], [float(row % 6) for row in range(12)], "toy", "test")
ENCODER = make_encoder()
VECTORS = ENCODER.encode(TEXTS)


def service(texts: list[str]) -> list[list[float]]:
    return ENCODER.encode(texts).tolist()


KINDS = {
    "encoder": ENCODER,
    "run": SimpleNamespace(encoder=ENCODER, history=[]),
    "model2vec": SimpleNamespace(encode=lambda sentences, **options: ENCODER.encode(sentences)),
    "tensors": SimpleNamespace(encode=lambda sentences: ENCODER.encode(sentences, convert_to_tensor=True)),
    "function": service,
    "array": VECTORS,
    "tensor": torch.tensor(VECTORS),
    "by sentence": dict(zip(TEXTS, VECTORS, strict=True)),
}
