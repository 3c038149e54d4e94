"""Only ImSimCSE's dimension-wise term (Xu et al. 2023): dimensions are contrasted, sentences are not."""

from typing import Literal

from cselab.losses import Loss, dimension_contrastive
from cselab.methods import IMSIMCSE_RECIPES, Encode, Method, Rows, Views, register
from cselab.methods.hyperparameters import PositiveFloat


@register("dimension_wise", "Dimension-wise contrast")
class DimensionWise(Method):
    """Two dropout views; each dimension should be more similar to itself than to the remaining dimensions.

        l = l_DCL                                                              Eq. 5, without Eq. 3

    The row "+DCL" of ImSimCSE's Table 4, next to whitening and flow: all three make dimensions less alike. Its
    `dimension_temperature` is 0.05, a hundredth of the value used with InfoNCE. Reductions: see
    `cselab.losses.dimension_contrastive`.

    See also: `ImSimCSE`, where it is one of two terms; `SCD` and `BarlowTwins`, which decorrelate by regression.
    """

    family = "loss"
    positives_by_dropout = True
    dimension_temperature: PositiveFloat = 0.05
    reduction: Literal["mean", "sum"] = "mean"

    variants = {"paper": {"reduction": "sum"}}
    recipes = IMSIMCSE_RECIPES

    def views(self, encode: Encode, batch: Rows) -> Views:
        sentences = self.column(batch, "sentence")
        return Views(*encode(sentences, sentences))

    def loss(self, v: Views) -> Loss:
        return dimension_contrastive(v.anchor, v.positive, self.dimension_temperature, self.reduction)
