"""What the loops of lessons 02 and 07 are checked on: a small network, its loss, batches, and the steps by hand."""

import math
from typing import Any

import torch
from torch import nn

from cselab_lab.lessons.exercises import Mistakes

RATE = 0.2
SCALES = (1.0, 3.0, 0.2, 2.0, 0.5, 1.0, 1.5, 1.0)
"""Of eight batches: small and large gradients."""


class TwoViews(nn.Module):
    """Two views of numbers: times a matrix, and times it with one channel switched off, and shifted.

    One weight is never used. In eval mode nothing is switched off, as dropout would not be.
    """

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([[1.0, -0.5], [0.3, 0.8]]))
        self.unused = nn.Parameter(torch.ones(3))
        self.shift = nn.Parameter(torch.tensor([0.1, -0.2]))

    @property
    def used(self) -> list[nn.Parameter]:
        """The weights that the views depend on."""
        return [self.weight, self.shift]

    def forward(self, one: Any, two: Any = None) -> Any:
        two = one if two is None else two
        kept = torch.tensor([1.0, 0.0 if self.training else 1.0])
        return [one @ self.weight, two @ (self.weight * kept) + self.shift]


def apart(first: Any, second: Any) -> Any:
    """A loss of two views."""
    return ((first - second - 1) ** 2).mean()


def batches(*scales: float) -> list[Any]:
    """A batch for each scale."""
    return [scale * torch.tensor([[1.0, 2.0], [-1.0, 0.5], [0.5, 1.5]]) for scale in scales]


def by_hand(*scales: float) -> list[list[float]]:
    """The loss and the norm of the gradient of each step, with clipping, Adam and the falling rate written out."""
    model = TwoViews()
    m, v = ([torch.zeros_like(weight) for weight in model.used] for _ in range(2))
    losses, norms = [], []
    for step, batch in enumerate(batches(*scales), start=1):
        loss = apart(*model(batch))
        gradients = torch.autograd.grad(loss, model.used)
        losses.append(loss.item())
        norms.append(math.sqrt(sum(gradient.square().sum().item() for gradient in gradients)))
        rate = RATE * (len(scales) - step + 1) / len(scales)
        for at, (weight, gradient) in enumerate(zip(model.used, gradients, strict=True)):
            clipped = gradient / max(1.0, norms[-1])
            m[at], v[at] = 0.9 * m[at] + 0.1 * clipped, 0.999 * v[at] + 0.001 * clipped**2
            with torch.no_grad():
                weight.sub_(rate * m[at] / (1 - 0.9**step) / ((v[at] / (1 - 0.999**step)).sqrt() + 1e-8))
    return [losses, norms]


LOOP: Mistakes = {
    "The rate falls: lr times the share of steps that are left, this one counted.": (
        "lr * (len(batches) - step + 1) / len(batches) -> lr"
    ),
    "The first step has the full rate: count this step among those that are left.": "step + 1) -> step)",
    "The rate falls to 0; yours rises.": "(len(batches) - step + 1) -> step",
    "Clip the gradient: its norm over all weights is at most 1.": "weights, 1.0) -> weights, float('inf'))",
    "Gradients add up: forget those of the last step (zero_grad).": "zero_grad() -> zero_grad",
}
"""Mistakes in the rate, the clipping and the gradients of a loop."""
