"""Matryoshka Representation Learning (Kusupati et al. 2022): a vector whose beginnings are vectors, too."""

from cselab.losses import Loss, matryoshka_info_nce
from cselab.methods import SIMCSE_RECIPES, Contrastive, Views, register
from cselab.methods.hyperparameters import PositiveInt


@register("matryoshka", "Matryoshka")
class Matryoshka(Contrastive):
    """SimCSE's loss at the full width, at half of it, at a quarter and so on, with equal weights.

        l = sum_w InfoNCE( h[:w], h+[:w] ),   w = d, d/2, ..., d / 2^halvings                                   Eq. 1

    The contrasted vector itself is truncated later, so the method has no head, which would mix the dimensions.
    `halvings` 4 are the 768 to 48 of BERT-base; widths below 2 are left out. The paper trains on labelled images, so
    the recipe is SimCSE's.

    See also: `cselab.losses.matryoshka_info_nce`, for your widths; `Spread`.
    """

    family = "loss"
    halvings: PositiveInt = 4
    head = "none"

    recipes = SIMCSE_RECIPES

    def loss(self, v: Views) -> Loss:
        whole = v.anchor.shape[1]
        widths = [width for k in range(self.halvings + 1) if (width := whole >> k) >= 2]
        return matryoshka_info_nce(
            v.anchor, v.positive, self.temperature, widths, negatives=v.negatives, log_weights=v.log_weights
        )
