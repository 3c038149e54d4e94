"""AdCSE (Li et al. 2022): negatives that are learnt, by climbing the loss that the encoder descends."""

import torch

from cselab.losses import Loss, info_nce
from cselab.methods import SURVEY_RECIPES, Contrastive, Encode, Head, Rows, Setup, Views, register
from cselab.methods.components import MomentumEncoder
from cselab.methods.hyperparameters import Momentum, NonNegativeFloat, PositiveInt


@register("adcse", "AdCSE")
class AdCSE(Contrastive):
    """Contrasts with the vectors of a slowly following encoder and with `adversaries` that are trained to be hard.

        l_i = -log( e^{s(q_i, k_i)} / ( sum_j e^{s(q_i, k_j)} + sum_b e^{s(q_i, w_b)} ) )
        w <- w + adversary_lr u,   u <- adversary_momentum u + dl/dw - adversary_decay w          after each step

    q: the encoder's vectors; k: those of its copy, whose weights follow with `momentum`, with dropout, through the same
    head and without gradients. The adversaries start as standard normal vectors; only their direction counts.
    The released code climbs by hand as written here, and fills the segment ids from the attention mask, which is
    left out. Its slow encoder starts from random weights, copied before the checkpoint is loaded; here it starts as
    the encoder. `symmetric`, its --sym, is the mean of l over two such pairs (q, k) of each sentence, which differ
    by dropout; the adversaries climb that mean.

    See also: `MoCoSE`, whose additional negatives come from a queue; `DCLR`, whose additional negatives are noise.
    """

    family = "negatives"
    positives_by_dropout = False
    adversaries: PositiveInt = 64
    momentum: Momentum = 0.995
    adversary_lr: NonNegativeFloat = 3e-3
    adversary_momentum: Momentum = 0.9
    adversary_decay: NonNegativeFloat = 1e-4
    symmetric: bool = False

    recipes = SURVEY_RECIPES

    w: torch.Tensor
    u: torch.Tensor

    def build(self, setup: Setup) -> Head:
        self.slow = MomentumEncoder(setup.encoder, self.momentum)
        size = self.adversaries, setup.width
        self.register_buffer("w", torch.randn(size, generator=setup.generator))
        self.register_buffer("u", torch.zeros(size))
        return super().build(setup)

    def views(self, encode: Encode, batch: Rows) -> Views:
        sentences = self.column(batch, "sentence")
        if self.symmetric:
            k, other_k = self.slow.keys(encode, sentences, sentences)
            q, other_q = encode(sentences, sentences)
            v = Views(q, k, other_q=other_q, other_k=other_k).with_negatives(self.w)
        else:
            keys = self.slow.keys(encode, sentences)
            v = Views(encode(sentences), keys).with_negatives(self.w)
        self.climb(v)
        return v

    @torch.enable_grad()
    def climb(self, v: Views) -> None:
        """The adversaries of the next step; those in `v` stay as they are."""
        w = self.w.clone().requires_grad_()
        pairs = [(v.anchor, v.positive), *([(v.other_q, v.other_k)] if self.symmetric else [])]
        losses = [info_nce(q.detach(), k, self.temperature, w).total for q, k in pairs]
        (slope,) = torch.autograd.grad(torch.stack(losses).mean(), w)
        self.u = self.adversary_momentum * self.u + slope - self.adversary_decay * self.w
        self.w = self.w + self.adversary_lr * self.u

    def loss(self, v: Views) -> Loss:
        if not self.symmetric:
            return super().loss(v)
        return 0.5 * (super().loss(v) + info_nce(v.other_q, v.other_k, self.temperature, v.negatives))
