"""How Python runs ahead of a GPU: copies, masks and numbers that it does not wait for.

A GPU works through a queue that Python fills. Python waits until the queue is empty whenever it asks for a number, or
copies from ordinary memory; then the GPU waits, too, until there is work again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

STEPS_A_READING = 16
"""How many steps of training a GPU may be behind."""


def runs_behind(device: torch.device) -> bool:
    """Whether work on this device is queued. A CPU does it at once."""
    return device.type != "cpu"


def sent(tensor: Tensor, device: torch.device) -> Tensor:
    """The tensor on the device; to CUDA through pinned memory, without waiting for what is queued there."""
    if device.type == "cuda" and not tensor.is_cuda:
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


TAKE_A_READY_MASK = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "electra", "distilbert", "mpnet"})
"""Encoders of transformers with one mask for all layers."""


def with_ready_mask(inputs: Mapping[str, Any], backbone: Any) -> Mapping[str, Any]:
    """The inputs with the mask as scaled-dot-product attention reads it, where it runs on a device with a queue.

    Given [n, t], transformers asks the device in every forward pass whether anything is masked. Given [n, 1, t, t] it
    takes the mask as it is.
    """
    config, mask = backbone.config, inputs["attention_mask"]
    simple = config.model_type in TAKE_A_READY_MASK and config._attn_implementation == "sdpa"
    if not (simple and runs_behind(mask.device)):
        return inputs
    rows, length = mask.shape
    return {**inputs, "attention_mask": mask.bool()[:, None, None].expand(rows, 1, length, length)}


@dataclass
class Readings:
    """The numbers of training steps: left on a device with a queue, and read several steps at a time.

    On a CPU each step is `due` at once.
    """

    device: torch.device
    waiting: list[tuple[Any, dict[str, Tensor]]] = field(default_factory=list)

    @property
    def due(self) -> bool:
        """Whether it is time to read."""
        return len(self.waiting) >= (STEPS_A_READING if runs_behind(self.device) else 1)

    def add(self, what: Any, numbers: Mapping[str, Tensor]) -> None:
        """Keep the scalars of a step; nothing waits."""
        self.waiting.append((what, {name: number.detach().float() for name, number in numbers.items()}))

    def read(self) -> list[tuple[Any, dict[str, float]]]:
        """What was added since the last time, in its order: one copy from the device, for which Python waits."""
        waiting, self.waiting = self.waiting, []
        if not waiting:
            return []
        values = iter(torch.stack([number for _, numbers in waiting for number in numbers.values()]).tolist())
        return [(what, {name: next(values) for name in numbers}) for what, numbers in waiting]
