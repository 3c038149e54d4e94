"""Refuses training without effect: identical views, frozen adapters, a state that would not be saved."""

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from cselab.encoders.dropout import dropout_fields
from cselab.encoders.encoder import SentenceEncoder, Truncation
from cselab.encoders.pooling import Vectors
from cselab.encoders.text import encodings, mostly_unknown
from cselab.encoders.training_forward import Encode, ViewInput
from cselab.methods import Method

PROBED = 4  # rows of the batch that are encoded to detect dropout


def check_views_differ(method: Method, encoder: SentenceEncoder, batch: Sequence[Any], max_length: int) -> None:
    """Raise if the method contrasts a sentence with itself, and this encoder gives equal views.

    Some rows are encoded twice in training mode. Only if these are equal, the method computes the views of the whole
    batch, on copies. A method needs dropout if it encodes the same input twice, with dropout, and gets a positive that
    equals the anchor. A method whose views differ by texts, tokens, whitening or a second encoder does not. Weights,
    states and random numbers are left as they were.

    Raises:
        ValueError: identical views; the message names the config's dropout fields and how to set them.
    """
    device = encoder.device
    with torch.no_grad(), torch.random.fork_rng([device] if device.type == "cuda" else []):
        if not _is_silent(encoder, method.column(batch[:PROBED], method.columns[0]), max_length):
            return
        asked = _RecordingEncode(copy.deepcopy(encoder).train(), max_length)
        views = copy.deepcopy(method).train().views(asked, batch)
    if asked.twice and any(_same(views.anchor, positive) for positive in views.positives):
        kind = type(encoder.backbone).__name__
        fields = ", ".join(f"{name} = {rate:g}" for name, rate in dropout_fields(encoder.backbone).items())
        raise ValueError(
            f"{method.name} encodes each sentence twice, and the two views differ only by dropout, but this "
            f"{kind} has no dropout ({fields or 'its config has no such field'}): the views are identical, so the "
            "encoder learns nothing from them. Set a rate (--dropout 0.1 on the command line, encoder.dropout = 0.1 in "
            "Python), or use a method whose views differ for a different reason"
        )


def warn_of_unknown_tokens(method: Method, encoder: SentenceEncoder, batch: Sequence[Any], max_length: int) -> None:
    """Warn (`UnknownTokensWarning`) if the encoder does not know most tokens of some texts in a batch."""
    texts = method.column(batch, method.columns[0])
    unknown = mostly_unknown(encoder.tokenizer, texts, encodings(encoder.tokenizer, texts, max_length))
    Truncation(0, len(texts), max_length, len(unknown)).warn(stacklevel=5)


def check_adapters_learn(method: Method, encoder: SentenceEncoder) -> None:
    """Raise ValueError where the encoder has adapters, and none of them learns."""
    if encoder.has_adapters and not any(weight.requires_grad for weight in encoder.backbone.parameters()):
        raise ValueError(
            f"the adapters of {encoder.name or 'this encoder'} are all frozen or disabled, so {method.name} would "
            "train none of them: enable_adapters() of its backbone enables them; a method that freezes the "
            "transformer accepts no adapters"
        )


def check_complete(*modules: nn.Module) -> None:
    """Raise TypeError if a module holds tensors or networks where its `state_dict` would not find them."""
    for module, name in [(m, name) for m in modules for name in sorted(vars(m).keys() - vars(nn.Module()).keys())]:
        value = vars(module)[name]
        parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, Iterable) else ()
        if isinstance(value, Tensor) or any(isinstance(part, Tensor | nn.Module) for part in parts):
            raise TypeError(
                f"{name} of {type(module).__name__} holds tensors or networks as a plain {type(value).__name__}, and "
                f"would not be saved with the run: in build, call self.register_buffer({name!r}, ...) for a tensor and "
                "nn.ModuleList for several networks; values of one step go into Views"
            )


def _is_silent(encoder: SentenceEncoder, texts: Sequence[str], max_length: int) -> bool:
    """Whether two encodings of the same texts in training mode are the same."""
    training = encoder.training
    try:
        one, other = Encode(encoder.train(), max_length)(texts, texts, head=False)
    finally:
        encoder.train(training)
    return _same(one, other)


def _same(one: Vectors, other: Float[Tensor, "m d"]) -> bool:
    """Equal up to the order of sums and half precision."""
    if one.shape != other.shape:
        return False
    tolerance = max(1e-5, 4 * torch.finfo(one.dtype).eps)
    return bool(((one - other).norm(dim=1) <= tolerance * one.norm(dim=1)).all())


class _RecordingEncode(Encode):
    """An `encode` that records whether the same input was encoded twice, with dropout."""

    def __init__(self, encoder: SentenceEncoder, max_length: int) -> None:
        super().__init__(encoder, max_length)
        self.inputs: set[Any] = set()
        self.twice = False

    def __call__(self, *views: ViewInput, **how: Any) -> Any:
        for view in views if how.get("dropout", True) and how.get("by") is None else ():
            content = _content(view)
            self.twice |= content in self.inputs
            self.inputs.add(content)
        return super().__call__(*views, **how)


def _content(view: ViewInput) -> tuple[Any, ...]:
    if not isinstance(view, Mapping):
        return tuple(view)
    return tuple((name, *tensor.shape, *tensor.detach().flatten().tolist()) for name, tensor in view.items())
