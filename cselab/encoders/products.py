"""Matrix products by oneDNN on processors where MKL, which torch calls for float32 on x86, takes twice as long.

They are AMD's with AVX-512: MKL computes there with half the width. Encoding `mini` takes 0.6 of the time
(docs/scale.md). Chosen by the kind of processor, not by a clock, so that a machine gives the same vectors each time.
"""

import platform
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear
from torch.overrides import TorchFunctionMode

SMALLEST = 2**22
"""Multiplications of a product from which oneDNN is faster; what it does around them takes 30 microseconds."""


class ByOneDNN(TorchFunctionMode):
    """Inside, large linear layers in float32 on the CPU are computed by oneDNN: the same vectors, to rounding."""

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if function is linear and not kwargs and _pays(*args[:2]):
            states, *weights = args
            return linear(states.to_mkldnn(), *weights).to_dense()
        return function(*args, **(kwargs or {}))


def _pays(states: Tensor, weight: Tensor) -> bool:
    plain = states.dtype == torch.float32 and not torch.is_autocast_enabled("cpu") and not torch.compiler.is_compiling()
    return plain and states.device.type == "cpu" and states.numel() * len(weight) >= SMALLEST


def fastest_products() -> AbstractContextManager[object]:
    """A context in which linear layers without gradients are computed by the library that suits this processor."""
    return ByOneDNN() if mkl_is_slow() else nullcontext()


@cache
def mkl_is_slow() -> bool:
    """Whether this is a processor of AMD with AVX-512, and torch has oneDNN."""
    wide = torch.backends.cpu.get_cpu_capability() == "AVX512"
    return wide and torch.backends.mkldnn.is_available() and "AuthenticAMD" in _processor()


def _processor() -> str:
    """The maker's name is in it, on Linux and Windows."""
    described = Path("/proc/cpuinfo")
    return described.read_text() if described.exists() else platform.processor()
