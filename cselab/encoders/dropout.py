"""Where a transformer has dropout, and at which rate: `dropout_places(backbone)`, `set_dropout(backbone, p)`.

A model stores its rates in three kinds of places. BERT has only `nn.Dropout` modules. ModernBERT, T5, Qwen3, Llama
and Gemma keep that of attention as a number of the attention layer, which only the forward pass reads; where it is 0,
ModernBERT has an `nn.Identity` instead of a module. The config has fields, from which a saved model is built
again. `SentenceEncoder.dropout` is the rate of all places of an encoder.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.modules.dropout import _DropoutNd

from cselab._util.arguments import Momentum, check_argument

from .text import TokenizedBatch

OF_OTHER_HEADS = ("classifier", "seq_classif", "qa_", "summary", "layerdrop")
"""Beginnings of the config's fields that no sentence vector depends on, and of those that drop whole layers."""


def dropout_places(backbone: nn.Module) -> dict[str, float]:
    """The dropout rate of each place in this network, by the name of the place.

    >>> dropout_places(nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.1)))
    {'1.p': 0.1}
    """
    return {name: float(vars(owner)[attribute]) for name, owner, attribute in _places(backbone)}


def dropout_fields(backbone: nn.Module) -> dict[str, float]:
    """The config's fields with dropout rates: for BERT `hidden_dropout_prob` and
    `attention_probs_dropout_prob`, for Qwen3 `attention_dropout`.
    """
    return {field: float(getattr(config, field)) for config in _configs(backbone) for field in _fields(config)}


def set_dropout(backbone: nn.Module, p: float) -> None:
    """Set the rate `p` in every place and in the config.

    Raises:
        ValueError: `p` is not in [0, 1), or the network has no place for dropout.
    """
    check_argument("dropout", p, Momentum)
    for name, module in list(backbone.named_modules()):
        if isinstance(module, nn.Identity) and "drop" in name:
            parent, _, child = name.rpartition(".")
            setattr(backbone.get_submodule(parent), child, nn.Dropout(p).train(module.training))
    places = _places(backbone)
    if not places:
        raise ValueError(f"{type(backbone).__name__} has no place for dropout: no module, number or field of that name")
    for _, owner, attribute in places:
        setattr(owner, attribute, p)
    for config in _configs(backbone):
        for field in _fields(config):
            setattr(config, field, p)


@contextmanager
def dropout_at(backbone: nn.Module, p: float) -> Iterator[None]:
    """A context in which every place has the rate `p`; afterwards each place has its earlier rate.

    >>> layer = nn.Dropout(0.1)
    >>> with dropout_at(layer, 0.3):
    ...     layer.p
    0.3
    >>> layer.p
    0.1
    """
    fields = [(config, field, getattr(config, field)) for config in _configs(backbone) for field in _fields(config)]
    known = {(id(owner), attribute): vars(owner)[attribute] for _, owner, attribute in _places(backbone)}
    set_dropout(backbone, p)
    try:
        yield
    finally:
        for _, owner, attribute in _places(backbone):  # nn.Identity becomes nn.Dropout(0)
            setattr(owner, attribute, known.get((id(owner), attribute), 0.0))
        for config, field, before in fields:
            setattr(config, field, before)


def _places(backbone: nn.Module) -> list[tuple[str, nn.Module, str]]:
    """Name, owner and attribute of each rate."""
    places = []
    for name, module in backbone.named_modules():
        if isinstance(module, _DropoutNd):
            attributes = ["p"]
        else:
            attributes = [key for key, value in vars(module).items() if "dropout" in key and _is_rate(value)]
        places += [(f"{name}.{attribute}".removeprefix("."), module, attribute) for attribute in attributes]
    return places


def _configs(backbone: nn.Module) -> list[Any]:
    """The configs of the network and of its parts, each once."""
    configs = [getattr(module, "config", None) for module in backbone.modules()]
    return list({id(config): config for config in configs if hasattr(config, "to_dict")}.values())


def _fields(config: Any) -> list[str]:
    return [
        name
        for name, value in vars(config).items()
        if ("dropout" in name or name.endswith("pdrop")) and not name.startswith(OF_OTHER_HEADS) and _is_rate(value)
    ]


def _is_rate(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def embedding_layer(backbone: Any) -> nn.Module:
    """The module that turns tokens into input vectors: BERT's word, position and type embeddings with their LayerNorm,
    or a decoder's table.
    """
    return getattr(backbone, "embeddings", None) or backbone.get_input_embeddings()


@contextmanager
def embedding_changed(backbone: Any, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """A context that applies `change` to the embedding layer's output [n, t, d] before the layers read it."""
    hook = embedding_layer(backbone).register_forward_hook(lambda module, given, embedded: change(embedded))
    try:
        yield
    finally:
        hook.remove()


@contextmanager
def embedding_masked(backbone: Any, tokens: TokenizedBatch) -> Iterator[TokenizedBatch]:
    """The tokens without `embedding_mask`, which the context multiplies with the embedding layer's output."""
    mask: Float[Tensor, "n t _d"] = tokens["embedding_mask"]
    with embedding_changed(backbone, lambda embedded: embedded * mask.to(embedded)):
        yield {name: tensor for name, tensor in tokens.items() if name != "embedding_mask"}
