"""The numbers of training steps: left on a GPU, and read several steps at a time."""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from cselab.encoders.speed import is_asynchronous

MOST_STEPS_BEHIND = 16
"""How many steps of training a GPU may be behind."""


class DeferredMetrics:
    """Loss terms and gradient norms of the steps that were not read yet. On a CPU each step is due at once."""

    def __init__(self, device: torch.device) -> None:
        self.most = MOST_STEPS_BEHIND if is_asynchronous(device) else 1
        self.waiting: list[tuple[int, dict[str, Tensor], Mapping[str, float]]] = []

    @property
    def due(self) -> bool:
        """Whether the time to read has come."""
        return len(self.waiting) >= self.most

    def add(self, step: int, terms: Mapping[str, Tensor], norm: Tensor, more: Mapping[str, float]) -> None:
        """Keep the terms of a step's loss and the norm of its gradient, without waiting; `more` joins its row."""
        numbers = {name: number.detach().float() for name, number in (*terms.items(), ("gradient_norm", norm))}
        self.waiting.append((step, numbers, more))

    def read(self) -> tuple[list[dict[str, Any]], str]:
        """The rows of the steps since the last time, by one copy from the device, for which Python waits.

        If a step diverged, only the rows before that step, and a message with the step and the reason.
        """
        waiting, self.waiting = self.waiting, []
        numbers = [number for _, several, _ in waiting for number in several.values()]
        values = iter(torch.stack(numbers).tolist() if numbers else ())
        rows: list[dict[str, Any]] = []
        for step, names, more in waiting:
            terms = {name: next(values) for name in names}
            norm = terms.pop("gradient_norm")
            loss = sum(terms.values())
            for name, value in terms.items():
                if not math.isfinite(value):
                    return rows, f"training diverged at step {step}: the term {name!r} of the loss is {value}"
            if not math.isfinite(norm):
                return rows, f"training diverged at step {step}: the gradient is {norm} (the loss is {loss:.4g})"
            rows.append({"step": step, "loss": loss, **terms, **more, "gradient_norm": norm})
        return rows, ""
