"""MixCSE (Zhang et al. 2022): hard negatives made by mixing the positives of two sentences."""

from math import inf
from typing import Literal

import torch

from cselab.losses import Loss
from cselab.losses.contrast import cosine_matrix, diagonal_cross_entropy
from cselab.methods import SURVEY_RECIPES, Contrastive, Encode, Rows, Vectors, Views, register
from cselab.methods.hyperparameters import UnitInterval


@register("mixcse", "MixCSE")
class MixCSE(Contrastive):
    """Further negatives m_i = share h_i+ + (1 - share) h_{i+1}+, through which no gradient flows.

    They stay close to the anchor throughout training, so its gradient does not vanish.

    `appended="own"` adds m_i only to the negatives of sentence i, as in the text. `"all"` adds every m_j except
    m_{i-1}, most of which is i's own positive. The released code (`"both_ways"`) uses all, also contrasts the mixed
    anchors with the positives, and sets the logits that it should leave out to 0, so that they count as a cosine
    of 0. Its script keeps the head when it selects the best weights, which is `representation="head"` here.

    See also: `DCLR` and `AdCSE`, whose extra negatives are drawn and learnt.
    """

    family = "negatives"
    share: UnitInterval = 0.2
    appended: Literal["own", "all", "both_ways"] = "own"

    variants = {"paper": {}, "released": {"appended": "both_ways"}}
    recipes = SURVEY_RECIPES

    def views(self, encode: Encode, batch: Rows) -> Views:
        v = super().views(encode, batch)
        if self.appended == "both_ways":
            return v
        own = torch.eye(len(v.anchor), dtype=torch.bool, device=v.anchor.device)
        taken_out = ~own if self.appended == "own" else own.roll(-1, 1)
        return v.with_negatives(
            self.mixed(v.positive), torch.zeros_like(own, dtype=v.anchor.dtype).masked_fill(taken_out, -inf)
        )

    def mixed(self, z: Vectors) -> Vectors:
        """Each vector mixed with the next sentence's."""
        return (self.share * z + (1 - self.share) * z.roll(-1, 0)).detach()

    def loss(self, v: Views) -> Loss:
        if self.appended != "both_ways":
            return super().loss(v)
        kept = 1 - torch.eye(len(v.anchor), device=v.anchor.device)
        cosines = [
            cosine_matrix(v.anchor, v.positive),
            cosine_matrix(v.anchor, self.mixed(v.positive)) * kept.roll(-1, 1),
            cosine_matrix(self.mixed(v.anchor), v.positive) * kept.roll(1, 1),
        ]
        return Loss({"info_nce": diagonal_cross_entropy(torch.cat(cosines, dim=1) / self.temperature).mean()})
