"""Which numbers a network computes in: float32, or bfloat16 where the machine is faster with it."""

import timeit
from functools import cache
from typing import Literal

import torch

from cselab._util.choices import check_choice

Precision = Literal["auto", "fp32", "bf16"]


def chosen_precision(wanted: str) -> str:
    """ "fp32" or "bf16": what "auto" (`TrainConfig.precision`, `SentenceEncoder.precision`) means on this machine.

    Raises:
        ValueError: another name.
    """
    check_choice("precision", wanted, ("auto", "fp32", "bf16"))
    if wanted != "auto":
        return wanted
    return "bf16" if faster_in_bf16() else "fp32"


def computing_in(precision: str, device: torch.device) -> torch.autocast:
    """Inside, a network on that device multiplies in this precision; its weights stay float32."""
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
