"""A small Glow for vectors: an invertible map whose density is exact (Kingma and Dhariwal 2018).

BERT-flow (Li et al. 2020) fits it to sentence embeddings, so that a cone becomes a standard normal:

    log p(x) = log N(f(x); 0, I) + log |det df / dx|        f is the flow

A step of the flow is an activation norm, a reversal of the channels and an additive coupling. `depth` steps
make a level; after each level but the last, half of the channels leave the flow for the output.

Glow itself mixes the channels with a learnt invertible 1x1 convolution. BERT-flow's released code has one too, but
its settings (`"permutation": true` in each `flow/config/*.json`) put a fixed reversal in its place, as in cselab. The
rest differs from that code in this:

* Norms: it begins them at the first batch, here at all the rows. It learns a third of the log scale (`logscale_factor`
  3), so that a step of Adam changes the scale three times as much.
* Couplings: it has norms after the two hidden layers, and a learnt scale on the last layer.
* Fitting: its Adam has weight decay 0.01 and no bias correction, and gradients are clipped at length 1; here it is
  plain Adam. A step of the code has 32 pairs of sentences with BERT's dropout; a step of cselab has 32 constant
  vectors.

See also: `cselab.transforms.BertFlow`, which fits this flow.
"""

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from cselab.encoders.heads import fresh_linear
from cselab.encoders.pooling import Vectors


class ActivationNorm(nn.Module):
    """y = (x + shift) * exp(log_scale), one pair per channel, begun at zero mean and unit variance."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(width))
        self.log_scale = nn.Parameter(torch.zeros(width))

    @torch.no_grad()
    def begin_at(self, x: Vectors) -> None:
        self.shift.copy_(-x.mean(0))
        self.log_scale.copy_(-torch.log(x.std(0, correction=0) + 1e-6))

    def forward(self, x: Vectors) -> Vectors:
        return (x + self.shift) * self.log_scale.exp()


class AdditiveCoupling(nn.Module):
    """y = (a, b + net(a)) for the halves a, b of x. The volume stays; net starts at zero."""

    def __init__(self, width: int, hidden: int, generator: torch.Generator) -> None:
        super().__init__()
        kept = (width + 1) // 2
        self.net = nn.Sequential(
            fresh_linear(kept, hidden, generator, std=0.05),
            nn.ReLU(),
            fresh_linear(hidden, hidden, generator, std=0.05),
            nn.ReLU(),
            fresh_linear(hidden, width - kept, generator, std=0.0),
        )

    def forward(self, x: Vectors) -> Vectors:
        a, b = x.tensor_split(2, dim=1)
        return torch.cat([a, b + self.net(a)], dim=1)


class FlowStep(nn.Module):
    """Activation norm, reversal of the channels, additive coupling."""

    def __init__(self, width: int, hidden: int, generator: torch.Generator) -> None:
        super().__init__()
        self.norm = ActivationNorm(width)
        self.coupling = AdditiveCoupling(width, hidden, generator)

    def forward(self, x: Vectors) -> Vectors:
        return self.coupling(self.norm(x).flip(1))


class Glow(nn.Module):
    """The flow f from embeddings to a standard normal, of the same width.

    Args:
        width: the width of the embeddings, at least 2^levels.
        levels, depth, hidden: BERT-flow's are 3 levels of 3 steps, couplings of 32 hidden units.
        generator: draws the weights of the couplings.

    Raises:
        ValueError: too many levels for the width.
    """

    def __init__(self, width: int, levels: int, depth: int, hidden: int, generator: torch.Generator) -> None:
        super().__init__()
        if width < 2**levels:
            raise ValueError(
                f"{levels} levels halve the width {levels} times and need at least {2**levels} channels, "
                f"the embeddings have {width}: use levels <= {int(math.log2(max(width, 2)))}"
            )
        self.width = width
        self.levels: Any = nn.ModuleList()
        for _ in range(levels):
            self.levels.append(nn.ModuleList(FlowStep(width, hidden, generator) for _ in range(depth)))
            width = (width + 1) // 2

    def forward(self, x: Vectors) -> Vectors:
        finished = []
        for level in self.levels:
            for step in level:
                x = step(x)
            if level is not self.levels[-1]:
                x, leaving = x.tensor_split(2, dim=1)
                finished.append(leaving)
        return torch.cat([*finished, x], dim=1)

    def log_determinant(self) -> Float[Tensor, ""]:
        """log |det df / dx|: only the activation norms change the volume, and they do so everywhere alike."""
        return torch.stack([step.norm.log_scale.sum() for level in self.levels for step in level]).sum()

    def log_likelihood(self, x: Vectors) -> Float[Tensor, " n"]:
        """log p(x) of each row, in nats."""
        z = self(x)
        log_normal = -0.5 * (z.square().sum(1) + z.shape[1] * math.log(2 * math.pi))
        return log_normal + self.log_determinant()

    @torch.no_grad()
    def begin_at(self, x: Vectors) -> None:
        """Start each activation norm from these rows, as they arrive there."""
        for level in self.levels:
            for step in level:
                step.norm.begin_at(x)
                x = step(x)
            x, _ = x.tensor_split(2, dim=1)
