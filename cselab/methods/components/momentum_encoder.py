"""MoCo's second encoder: a copy without gradients that follows the trained one slowly."""

import copy
from typing import Any

import torch
from torch import nn

from cselab.encoders.encoder import SentenceEncoder
from cselab.encoders.training_forward import Encode, ViewInput


class MomentumEncoder(nn.Module):
    """A copy of the encoder whose weights are an exponential moving average of its weights.

        slow <- momentum * slow + (1 - momentum) * encoder                        MoCo Eq. 2, before each step

    Buffers, such as the running averages of a normalisation, are copied as they are.

    Args:
        encoder: the encoder to follow; copied in its current state.
        momentum: how slowly, in [0, 1): 0 copies the encoder at each step, ESimCSE uses 0.995, MoCo 0.999. May be
            set anew between steps.
        head: the training head, to have a following copy of it, too; None shares the head that is trained.

    Example, in a method:

        def build(self, setup):
            self.slow = MomentumEncoder(setup.encoder, self.momentum)
            return super().build(setup)

        def views(self, encode, batch):
            keys = self.slow.keys(encode, batch, dropout=False)

    See also: `Queue`, which stores the keys of earlier batches.
    """

    def __init__(self, encoder: SentenceEncoder, momentum: float, head: nn.Module | None = None) -> None:
        super().__init__()
        self.momentum = momentum
        self.encoder: SentenceEncoder = copy.deepcopy(encoder)
        self.encoder.head = copy.deepcopy(head)
        self.encoder.requires_grad_(False)

    @torch.no_grad()
    def follow(self, encoder: SentenceEncoder) -> None:
        """One step towards the encoder, and its head where a copy of the head follows, too."""
        for part in ("backbone", "head") if self.encoder.head is not None else ("backbone",):
            slow, fast = getattr(self.encoder, part), getattr(encoder, part)
            for own, followed in zip(slow.parameters(), fast.parameters(), strict=True):
                own.lerp_(followed, 1 - self.momentum)
            for own, followed in zip(slow.buffers(), fast.buffers(), strict=True):
                own.copy_(followed)

    @torch.no_grad()
    def keys(self, encode: Encode, *views: ViewInput, dropout: bool = True) -> Any:
        """Follow the encoder in training, then encode the views without gradients: one [N, d] per view."""
        self.follow(encode.encoder)
        shared = self.encoder.head is None and encode.head is not None
        vectors = encode(*views, by=self.encoder, dropout=dropout)
        if not shared:
            return vectors
        return [encode.head(each) for each in vectors] if len(views) > 1 else encode.head(vectors)
