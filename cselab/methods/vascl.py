"""VaSCL (Zhang et al. 2022): vectors moved to the places where their neighbours are hardest to distinguish."""

from math import inf

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from cselab.encoders.heads import ProjectionHead
from cselab.losses import Loss, info_nce, nt_xent
from cselab.losses.contrast import on_diagonal
from cselab.methods import Contrastive, Encode, Head, Recipe, Rows, Setup, Vectors, Views, register
from cselab.methods.base import at_head_lr
from cselab.methods.hyperparameters import PositiveFloat, PositiveInt


@register("vascl", "VaSCL")
class VaSCL(Contrastive):
    """NT-Xent, and a virtual view: the sentence vector e moved by a length of `reach`, contrasted only with its
    neighbours.

        d = unit( d/dd l(p(e), p(e + probe d) | N(e)) ) from a random d
        l = NT-Xent(p(e), p(e+)) + l(p(e), p(e + reach d) | N(e))

    N(e): the `neighbours` sentences of the batch nearest to e by inner product; l(. | N) is NT-Xent with these as its
    only negatives; p is the head, two layers into `width` dimensions, evaluated without it.

    `variant="released"` follows the authors' code: `probe` is as long as `reach` (0.1 is the default of a class to
    which their trainer passes `reach`), and the second term treats e and p(e) as constants (`through=False`), so that
    it trains only the head, by the moved vectors.

    See also: `USCAL`, which moves the input; `DCLR`, whose noise is not bound to a sentence.
    """

    family = "hidden states"
    small = {"reach": 1.0}
    neighbours: PositiveInt = 16
    probe: PositiveFloat = 0.1
    reach: PositiveFloat = 15.0
    through: bool = True
    width: PositiveInt = 128
    head_lr: PositiveFloat = 5e-4

    variants = {"paper": {}, "released": {"probe": 15.0, "through": False}}
    recipes = {"roberta-base": Recipe(lr=5e-6, batch_size=1024, epochs=5, pooling="mean")}

    def build(self, setup: Setup) -> Head:
        return ProjectionHead(setup.width, self.width, setup.generator)

    groups = at_head_lr

    def views(self, encode: Encode, batch: Rows) -> Views:
        sentences = self.column(batch, "sentence")
        e, other = encode(sentences, sentences, head=False)
        v = Views(encode.head(e), encode.head(other))
        e, v.still = (e, v.anchor) if self.through else (e.detach(), v.anchor.detach())
        v.near = self.nearest(e)
        v.moved = encode.head(e + self.reach * self.direction(encode.head, e, v.near))
        return v

    def nearest(self, e: Vectors) -> Bool[Tensor, "n n"]:
        """Whether sentence j is a neighbour of sentence i, [n, n]."""
        products = (e @ e.T).fill_diagonal_(-inf)
        neighbours = products.topk(min(self.neighbours, len(e) - 1), dim=1).indices
        return torch.zeros_like(products, dtype=torch.bool).scatter(1, neighbours, True)

    @torch.enable_grad()
    def direction(self, head: nn.Module, e: Vectors, near: Bool[Tensor, "n n"]) -> Vectors:
        """The unit vectors along which the loss of the moved vectors rises most."""
        drawn = torch.rand(e.shape, generator=self.generator) - 0.5
        d = F.normalize(drawn.to(e), dim=1).requires_grad_()
        moved, still = head(e.detach() + self.probe * d), head(e).detach()
        loss = info_nce(moved, still, self.temperature, log_weights=_only(near))
        return F.normalize(torch.autograd.grad(loss.total, d)[0], dim=1)

    def loss(self, v: Views) -> Loss:
        weights = torch.cat([_only(v.near), _only(v.near).fill_diagonal_(-inf)], dim=1)
        there = info_nce(v.still, v.moved, self.temperature, v.still, weights).total
        back = info_nce(v.moved, v.still, self.temperature, v.moved, weights).total
        return nt_xent(v.anchor, v.positive, self.temperature) + Loss({"neighbourhood": (there + back) / 2})


def _only(near: Bool[Tensor, "n n"]) -> Float[Tensor, "n n"]:
    """Log weights that leave each sentence itself and its neighbours."""
    return torch.zeros(near.shape, device=near.device).masked_fill(~(near | on_diagonal(near)), -inf)
