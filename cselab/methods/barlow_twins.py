"""The rank experiment of ImSimCSE (section 4.2, Table 2): InfoNCE plus Barlow Twins, padded with noise rows.

Xu et al. 2023.
"""

import torch

from cselab.losses import Loss, barlow_twins
from cselab.methods import IMSIMCSE_RECIPES, Contrastive, Views, register
from cselab.methods.hyperparameters import NonNegativeFloat, NonNegativeInt


@register("barlow_twins", "SimCSE + Barlow Twins")
class BarlowTwins(Contrastive):
    """SimCSE plus the Barlow Twins term, whose correlation matrix has rank N at most.

        l = InfoNCE + weight * [ sum_c (1 - C_cc)^2 + redundancy * sum_{c != d} C_cd^2 ]              Eq. 4

    `artificial_rows` (the paper's M; 0, 100, 300, 704 at N = 64, d = 768) standard normal rows, drawn afresh each
    step, raise that bound to N + M. `shared_rows` appends the same rows to all views, as in a comment of the code; the
    paper does not specify this. 0.1 and 0.012 are that comment's weights. No released code runs this experiment, so
    the variant "released" does not exist. The paper prints the diagonal term with the wrong sign.

    See also: `ImSimCSE`, whose dimension-wise contrast has no rank bottleneck.
    """

    family = "loss"
    small = {"artificial_rows": 5}
    weight: NonNegativeFloat = 0.1
    redundancy: NonNegativeFloat = 0.012
    artificial_rows: NonNegativeInt = 0
    shared_rows: bool = True

    recipes = IMSIMCSE_RECIPES

    def loss(self, v: Views) -> Loss:
        extra: torch.Tensor | tuple[torch.Tensor, torch.Tensor] | None = None
        if self.artificial_rows:
            shape = self.artificial_rows, v.anchor.shape[1]
            extra = self.gaussian(shape, like=v.anchor)
            extra = extra if self.shared_rows else (extra, self.gaussian(shape, like=v.anchor))
        return super().loss(v) + self.weight * barlow_twins(v.anchor, v.positive, self.redundancy, extra)
