"""The spread-out regulariser of EmbeddingGemma (2025), after Zhang et al. 2017, added to InfoNCE."""

from cselab.losses import Loss, spread_out
from cselab.methods import SIMCSE_RECIPES, Contrastive, Views, register
from cselab.methods.hyperparameters import NonNegativeFloat


@register("spread", "Spread-out regulariser")
class Spread(Contrastive):
    """SimCSE with a regulariser: squared cosines of different sentences should not exceed those of random directions.

        l = InfoNCE + weight * [ S(h) + S(h+) ],   S(h) = mean_weight M_1^2 + max(0, M_2 - 1/d)

    M_1, M_2: mean and second moment of the cosines between different sentences of one view. EmbeddingGemma has only
    the second term, the default; `variant="descriptors"` is Zhang et al.'s, with two terms. The saved vector itself
    should be spread, so the method has no head. Neither paper prints settings for SimCSE's corpus, so the recipe is
    SimCSE's.

    See also: `cselab.losses.spread_out`; `BarlowTwins` and `DimensionWise`, which decorrelate dimensions.
    """

    family = "loss"
    weight: NonNegativeFloat = 1.0
    mean_weight: NonNegativeFloat = 0.0
    head = "none"

    variants = {"paper": {}, "descriptors": {"mean_weight": 1.0}}
    recipes = SIMCSE_RECIPES

    def loss(self, v: Views) -> Loss:
        spread = spread_out(v.anchor, self.mean_weight) + spread_out(v.positive, self.mean_weight)
        return super().loss(v) + self.weight * spread
