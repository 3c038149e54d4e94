"""Encoders as a page carries them: what encoder.js reads, and which encoders it can compute.

The weights of the first encoder travel in half precision. The difference of a second encoder, which was trained from
them, travels as whole numbers of 12 bits with a scale a tensor: closer than half precision, and half as long. What half
precision lost of the first, if it was trained itself, is such a change, too.
"""

import json
import zlib
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from cselab.encoders.encoder import SentenceEncoder
from cselab.encoders.pooling import get_pooling

from .scripts import KIT

ENCODING = (KIT / "tokens.js", KIT / "encoder.js")
HEAVIEST = 19_500_000  # bytes of weights in a page of 20 MB
LEVELS = 2047  # of a change, on either side of 0
LARGEST_CHANGE = 0.1  # of a weight; steps of a larger one are coarser than half precision: the encoder travels whole

Tensors = dict[str, np.ndarray]


def carried_encoders(encoders: Mapping[str, SentenceEncoder]) -> dict[str, Any]:
    """The encoders of a page as JSON (except `bytes`), which encoder.js reads.

    Args:
        encoders: name -> encoder; those trained from the first take the least.

    Returns:
        `bases`, weights in half precision, and `encoders`: each the number of its base, its change, tokens, pooling.

    Raises:
        TypeError: something else than a `SentenceEncoder`.
        ValueError: an encoder that the page does not compute, or a page that would weigh more than 20 MB; says which.
    """
    bases: list[tuple[list, Tensors]] = []
    parts = []
    for name, encoder in encoders.items():
        settings, tensors = _settings(name, encoder), _tensors(name, encoder)
        _check_weight(2 * sum(tensor.size for tensor in tensors.values()), [name])  # packed and in base64 it is more
        shapes = [[key, *tensor.shape] for key, tensor in tensors.items()]
        near = [known == shapes and _furthest(tensors, base) < LARGEST_CHANGE for known, base in bases]
        number = [*near, True].index(True)
        if number == len(bases):
            bases.append((shapes, {key: tensor.astype("<f2").astype(np.float32) for key, tensor in tensors.items()}))
        parts.append({"name": name, "base": number, **settings, **_change(tensors, bases[number][1])})
    halves = [_packed([tensor.astype("<f2") for tensor in base.values()]) for _, base in bases]
    both = [{"shapes": shapes, "halves": packed} for (shapes, _), packed in zip(bases, halves, strict=True)]
    carried = {"bases": both, "encoders": parts}
    _check_weight(weight_of(carried), encoders)
    return carried


def _check_weight(weight: int, names: Iterable[str]) -> None:
    if weight > HEAVIEST:
        raise ValueError(
            f"a page with {', '.join(names)} would have {weight / 1e6:.0f} MB or more; the limit is 20 MB: use small "
            "encoders, such as 'micro' and its trained copies."
        )


def weight_of(carried: Mapping[str, Any]) -> int:
    """The bytes of the weights in a page, where base64 writes three as four."""
    packed = [*(base["halves"] for base in carried["bases"]), *(one["change"] for one in carried["encoders"])]
    return sum(map(len, packed)) * 4 // 3


def _furthest(tensors: Tensors, base: Tensors) -> float:
    return max(float(np.abs(tensors[key] - base[key]).max()) for key in base)


def _change(tensors: Tensors, base: Tensors) -> dict[str, Any]:
    """The difference from a base encoder: a scale for each tensor, and steps of the scale. Empty for equal tensors."""
    changes = [tensors[key] - base[key] for key in base]
    scales = [float(np.abs(change).max()) / LEVELS for change in changes]
    if not any(scales):
        return {"scales": [], "change": b""}
    steps = [np.rint(change / (scale or 1)).astype("<i2") for change, scale in zip(changes, scales, strict=True)]
    return {"scales": scales, "change": _packed(steps)}


def _packed(tensors: list[np.ndarray]) -> bytes:
    """Numbers of 16 bits, first the lower bytes of all, then the upper ones, which are much alike; deflated."""
    numbers = b"".join(tensor.tobytes() for tensor in tensors)
    return zlib.compress(np.frombuffer(numbers, np.uint8).reshape(-1, 2).T.tobytes())


def _tensors(name: str, encoder: SentenceEncoder) -> Tensors:
    """The weights that the vectors need, under BERT's own names, each with two dimensions."""
    state = encoder.backbone.state_dict()
    layers, pooler = encoder.backbone.config.num_hidden_layers, get_pooling(encoder.pooling).pooler
    wanted = [f"embeddings.{table}_embeddings.weight" for table in ("word", "position", "token_type")]
    places = ["embeddings.LayerNorm", *["pooler.dense"] * pooler]
    for layer in range(layers):
        inside = [f"attention.self.{part}" for part in ("query", "key", "value")]
        inside += ["attention.output.dense", "attention.output.LayerNorm", "intermediate.dense", "output.dense"]
        places += [f"encoder.layer.{layer}.{part}" for part in (*inside, "output.LayerNorm")]
    wanted += [f"{place}.{kind}" for place in places for kind in ("weight", "bias")]
    if missing := [key for key in wanted if key not in state]:
        raise ValueError(f"{name} has no {missing[0]!r}: the page computes plain BERT, without adapters.")
    weights = {key: state[key] for key in wanted}
    for number, (linear, _) in enumerate(_head(encoder)):
        weights[f"head.{number}.weight"] = linear.weight
        no_bias = linear.weight.new_zeros(linear.out_features)
        weights[f"head.{number}.bias"] = no_bias if linear.bias is None else linear.bias
    arrays = {key: tensor.detach().float().cpu().numpy() for key, tensor in weights.items()}
    return {key: array.reshape(-1, array.shape[-1]) for key, array in arrays.items()}


def _head(encoder: SentenceEncoder) -> list[tuple[Any, Any]]:
    return list(encoder.head.dense_layers()) if encoder.representation == "head" else []


def _settings(name: str, encoder: SentenceEncoder) -> dict[str, Any]:
    """Everything but the weights."""
    if not isinstance(encoder, SentenceEncoder):
        raise TypeError(f"{name} is {type(encoder).__name__}; the page computes a SentenceEncoder, or a run's.")
    config, pooling = encoder.backbone.config, get_pooling(encoder.pooling)
    tokens = json.loads(encoder.tokenizer.backend_tokenizer.to_str())
    read = tokens["normalizer"] or {}
    lower = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
    wanted = {
        "a BERT with gelu": config.model_type == "bert" and getattr(config, "hidden_act", "") == "gelu",
        "one whose WordPiece has no capitals": tokens["model"]["type"] == "WordPiece" and lower.items() <= read.items(),
        "one without a prompt around [MASK]": encoder.template is None,
        "one without a prefix of keys and values": encoder.prefix is None,
    }
    if wrong := [what for what, so in wanted.items() if not so]:
        raise ValueError(f"{name} cannot be computed in the page: expected {wrong[0]}.")
    vocabulary = sorted(tokens["model"]["vocab"].items(), key=lambda entry: entry[1])
    assert all(one + 1 == other for (_, one), (_, other) in pairwise(vocabulary))
    return {
        "vocabulary": "\n".join(token for token, _ in vocabulary),
        "special": [token["content"] for token in tokens["added_tokens"]],
        "prompt": encoder.prompts.get(encoder.default_prompt_name or "", ""),
        "longest": encoder.max_length,
        "trained": encoder.trained_positions,
        "layers": config.num_hidden_layers,
        "heads": config.num_attention_heads,
        "eps": config.layer_norm_eps,
        "pooling": {"layers": list(pooling.layers), "counts": pooling.counts, "pooler": pooling.pooler},
        "activations": [type(activation).__name__ for _, activation in _head(encoder)],
        "normalize": encoder.normalize,
        "dimensions": encoder.embedding_dimension,
    }
