"""SimCSE (Gao, Yao, Chen 2021): two dropout masks of one sentence are the views. The baseline of all."""

from cselab.losses import Loss, info_nce, multi_positive_info_nce
from cselab.methods import SIMCSE_RECIPES, Encode, Method, Rows, SentenceEncoder, Views, register
from cselab.methods.hyperparameters import PositiveFloat, ViewCount


@register("simcse", "SimCSE")
class SimCSE(Method):
    """Dropout is the only augmentation; the rest of the batch are the negatives.

        l_i = -log( exp(cos(z1_i, z2_i) / t) / sum_j exp(cos(z1_i, z2_j) / t) )        ImSimCSE Eq. 1, 2

    `num_views` above 2 contrasts the anchor with each of the remaining dropout views and adds up (WhitenedCSE Eq. 7,
    without the whitening). `symmetric` is the mean of the two directions, as in NT-Xent; SimCSE's authors saw no
    difference.

    `head`: Linear + tanh in training, evaluated without it. Paper and released code agree where the vector is
    [CLS]; with a mean of tokens the released code has none.

    See also: all remaining methods extend this one.
    """

    family = "baseline"
    positives_by_dropout = True
    temperature: PositiveFloat = 0.05
    num_views: ViewCount = 2
    symmetric: bool = False

    variants = {"paper": {}, "released": {}}
    recipes = SIMCSE_RECIPES

    def prepare(self, encoder: SentenceEncoder) -> None:
        super().prepare(encoder)
        if self.symmetric and self.num_views > 2:
            raise ValueError(f"num_views counts the anchor: 2 where symmetric is set; got {self.num_views}")

    def views(self, encode: Encode, batch: Rows) -> Views:
        return Views(*encode(*[batch] * self.num_views))

    def loss(self, v: Views) -> Loss:
        if len(v.positives) > 1:
            return multi_positive_info_nce(v.anchor, list(v.positives), self.temperature)
        there = info_nce(v.anchor, v.positive, self.temperature)
        return 0.5 * (there + info_nce(v.positive, v.anchor, self.temperature)) if self.symmetric else there
