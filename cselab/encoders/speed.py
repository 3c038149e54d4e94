"""Faster encoding and training, with the same vectors and gradients up to rounding.

Buckets          a batch is cut into parts of rows of similar length, so that a pass computes words and little padding
First token      the last layer ends with [CLS] if pooling reads only [CLS]
Precision        bfloat16 if that is faster; this changes vectors, so the user must choose it
oneDNN           matrix products by the library that suits the processor
A GPU's queue    Python fills a queue through which the GPU works. Asking for a number, or copying from ordinary memory,
                 waits until the queue is empty, and the GPU then waits for Python: here neither is done

See also: `cselab.training.loop`, the numbers of training steps.
"""

import platform
import timeit
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.overrides import TorchFunctionMode

from cselab._util.arguments import check_choice

# --------------------------------------------------------------------- a batch in parts of similar length

PASS_OVERHEAD_TOKENS = 64
"""The cost of one more forward and backward pass, in tokens: some 60 for `mini`, 80 for `micro`, on a CPU."""


def bucket_by_length(
    lengths: Sequence[int], most_rows: int | None = None, overhead: float = PASS_OVERHEAD_TOKENS
) -> list[slice]:
    """The cheapest cut of rows into neighbouring parts, each padded to its longest row.

        cost = sum over the parts of (rows * longest row + overhead)

    Args:
        lengths: tokens of each row, ascending.
        most_rows: the largest number of rows of a part; None allows any number.
        overhead: tokens that could be computed in the time that a further pass costs.

    Returns:
        the parts in order: slices that cover all rows. Of several cuts with the same cost, the one with the largest
            last part.

    >>> bucket_by_length([5, 5, 6, 30], overhead=10)
    [slice(0, 3, None), slice(3, 4, None)]
    >>> bucket_by_length([5, 5, 6, 30], overhead=100)
    [slice(0, 4, None)]
    """
    row = np.asarray(lengths)
    least = np.zeros(len(row) + 1)  # the cost of the first n rows
    begins = np.zeros(len(row) + 1, dtype=int)  # where the last part of the first n rows begins
    for end in range(1, len(row) + 1):
        first = 0 if most_rows is None else max(0, end - most_rows)
        costs = least[first:end] + (end - np.arange(first, end)) * row[end - 1] + overhead
        begins[end] = first + costs.argmin()
        least[end] = costs.min()
    parts, end = [], len(row)
    while end:
        parts.append(slice(int(begins[end]), end))
        end = int(begins[end])
    return parts[::-1]


# ------------------------------------------------------------------ the last layer for the first token

LAID_OUT_ALIKE = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "electra"})
"""Types of models whose layers are `encoder.layer`, each with `attention.output`, `intermediate` and `output`."""


def supports_cls_only_last_layer(backbone: Any) -> bool:
    """Whether this network's last layer can compute only the first token.

    A layer that is computed again in the backward pass, or in chunks of tokens, cannot.
    """
    if backbone.config.model_type not in LAID_OUT_ALIKE:
        return False
    last = backbone.encoder.layer[-1]
    recomputed = last.training and getattr(last, "gradient_checkpointing", False)
    return not recomputed and not last.chunk_size_feed_forward


@contextmanager
def cls_only_last_layer(backbone: Any) -> Iterator[None]:
    """A context in which the last hidden state has only the first token [n, 1, d].

    Of the last layer only attention mixes tokens. The rest of the layer, three quarters of its products, is separate
    for each token, and `cls` and `cls_pooler` read only [CLS]. Vectors and gradients are those of a whole pass, to
    rounding. So are the dropout masks: they are drawn for all tokens, and later random numbers stay the same.
    """
    last = backbone.encoder.layer[-1]
    tokens = 1  # of the current pass

    def first(module: nn.Module, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        nonlocal tokens
        tokens = given[0].shape[1]
        return tuple(states[:, :1].contiguous() for states in given)

    def for_all(module: nn.Dropout, given: tuple[Float[Tensor, "n 1 d"]]) -> tuple[Tensor]:
        drawn = tokens if module.training and module.p else 1
        return (given[0].expand(-1, drawn, -1).contiguous(),)

    with ExitStack() as hooks:
        hooks.enter_context(last.attention.output.register_forward_pre_hook(first))
        for dropout in (last.attention.output.dropout, last.output.dropout):
            hooks.enter_context(dropout.register_forward_pre_hook(for_all))
            hooks.enter_context(dropout.register_forward_hook(lambda module, given, out: out[:, :1]))
        yield


# ------------------------------------------------------------------------------------------- precision

Precision = Literal["auto", "fp32", "bf16"]


def chosen_precision(wanted: str) -> str:
    """ "fp32" or "bf16": the meaning of "auto" (`TrainConfig.precision`, `SentenceEncoder.precision`) on this machine.

    Raises:
        ValueError: an unknown name.
    """
    if wanted in ("fp32", "bf16"):
        return wanted
    check_choice("precision", wanted, ("auto", "fp32", "bf16"))
    return "bf16" if faster_in_bf16() else "fp32"


def computing_in(precision: str, device: torch.device) -> torch.autocast:
    """A context in which a network on this device multiplies in this precision; its weights stay float32."""
    return torch.autocast(device.type, torch.bfloat16, enabled=chosen_precision(precision) == "bf16")


@cache
def faster_in_bf16() -> bool:
    """Whether matrix products in bfloat16 are clearly faster than in float32 on the device that trains."""
    if torch.cuda.is_available():
        return torch.cuda.is_bf16_supported(including_emulation=False)

    def seconds(dtype: torch.dtype) -> float:
        a, b = torch.ones(512, 256, dtype=dtype), torch.ones(256, 256, dtype=dtype)
        return min(timeit.repeat(lambda: a @ b, repeat=5, number=1))

    return seconds(torch.bfloat16) * 1.3 < seconds(torch.float32)


# ---------------------------------------------------------------------------------------------- oneDNN

SMALLEST = 2**22
"""Multiplications of a product from which oneDNN is faster; its overhead is 30 microseconds."""


class OneDnnLinearMode(TorchFunctionMode):
    """A context in which oneDNN computes large float32 linear layers on the CPU: the same vectors, up to rounding.

    For processors on which MKL, torch's library for float32 on x86, is half as fast: on AMD processors with AVX-512,
    MKL computes with half the width. On these, encoding `mini` needs 0.6 of the time (docs/scale.md).
    """

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if function is linear and not kwargs and _is_worthwhile(*args[:2]):
            states, *weights = args
            return linear(states.to_mkldnn(), *weights).to_dense()
        return function(*args, **(kwargs or {}))


def _is_worthwhile(states: Tensor, weight: Tensor) -> bool:
    plain = states.dtype == torch.float32 and not torch.is_autocast_enabled("cpu") and not torch.compiler.is_compiling()
    return plain and states.device.type == "cpu" and states.numel() * len(weight) >= SMALLEST


def fastest_linear() -> AbstractContextManager[object]:
    """A context in which the fastest library for this processor computes linear layers without gradients."""
    return OneDnnLinearMode() if mkl_is_slow() else nullcontext()


@cache
def mkl_is_slow() -> bool:
    """Whether this is a processor of AMD with AVX-512, and torch has oneDNN.

    The kind of processor decides, and no clock: a machine gives the same vectors each time.
    """
    wide = torch.backends.cpu.get_cpu_capability() == "AVX512"
    return wide and torch.backends.mkldnn.is_available() and "AuthenticAMD" in _processor()


def _processor() -> str:
    """Contains the maker's name, on Linux and Windows."""
    described = Path("/proc/cpuinfo")
    return described.read_text() if described.exists() else platform.processor()


# --------------------------------------------------------------------------------------- a GPU's queue


def is_asynchronous(device: torch.device) -> bool:
    """Whether work on this device is queued. A CPU works at once."""
    return device.type != "cpu"


def to_device(tensor: Tensor, device: torch.device) -> Tensor:
    """The tensor on the device; to CUDA through pinned memory, without waiting for queued work."""
    if device.type == "cuda" and not tensor.is_cuda:
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def batch_to_device(batch: Mapping[str, Tensor], device: torch.device) -> dict[str, Tensor]:
    """The tensors of a batch on the device."""
    return {name: to_device(tensor, device) for name, tensor in batch.items()}


TAKE_AN_EXPANDED_MASK = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "electra", "distilbert", "mpnet"})
"""Encoders of transformers with one mask for all layers."""


def expand_attention_mask(inputs: Mapping[str, Any], backbone: Any) -> Mapping[str, Any]:
    """The inputs with the mask in the form of scaled-dot-product attention, for a device with a queue.

    With [n, t], transformers reads from the device in every forward pass whether the mask is empty. With [n, 1, t, t]
    it uses the mask unchanged.
    """
    config, mask = backbone.config, inputs["attention_mask"]
    simple = config.model_type in TAKE_AN_EXPANDED_MASK and config._attn_implementation == "sdpa"
    if not (simple and is_asynchronous(mask.device)):
        return inputs
    rows, length = mask.shape
    return {**inputs, "attention_mask": mask.bool()[:, None, None].expand(rows, 1, length, length)}
