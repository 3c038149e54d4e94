"""ArcCSE (Zhang et al. 2022): an angular margin for positives, and a ranking of masked copies."""

from math import pi

from cselab.augmentations import mask_spans
from cselab.losses import Loss, arc_con, triplet
from cselab.methods import SIMCSE_RECIPES, Contrastive, Encode, Rows, SentenceEncoder, Views, register
from cselab.methods.hyperparameters import NonNegativeFloat, UnitInterval


@register("arccse", "ArcCSE")
class ArcCSE(Contrastive):
    """InfoNCE with a margin between angles, and a triplet of the sentence with less and more of it masked.

        l = ArcCon( h, h* )_m  +  weight * mean_i max(0, s(h_i, h''_i) - s(h_i, h'_i) + triplet_margin)

    ArcCon is the survey's Eq. 2, s the cosine; h' is the sentence with one span of 20 % of its tokens masked, h''
    with 40 %, of which the 20 % are a part. No code was released. Our copies of the papers give the temperature, the
    shares and the form of the loss. `margin` (degrees), `weight` and `triplet_margin` are our starting values, not the
    paper's.

    See also: `cselab.losses.arc_con`; `cselab.augmentations.mask_spans`.
    """

    family = "loss"
    margin: NonNegativeFloat = 10.0
    weight: NonNegativeFloat = 0.1
    triplet_margin: NonNegativeFloat = 0.1
    less: UnitInterval = 0.2
    more: UnitInterval = 0.4

    recipes = SIMCSE_RECIPES

    def prepare(self, encoder: SentenceEncoder) -> None:
        super().prepare(encoder)
        if not self.less < self.more:
            raise ValueError(
                f"less masks fewer tokens than more, got less={self.less} and more={self.more}: make less the smaller"
            )

    def views(self, encode: Encode, batch: Rows) -> Views:
        tokens = encode.tokens(batch)
        mask = encode.encoder.tokenizer.mask_token_id
        less, more = mask_spans(tokens, (self.less, self.more), self.generator, mask)
        anchor, positive, near, far = encode(tokens, tokens, less, more)
        return Views(anchor, positive, near=near, far=far)

    def loss(self, v: Views) -> Loss:
        pairs = arc_con(v.anchor, v.positive, self.temperature, self.margin * pi / 180)
        return pairs + self.weight * triplet(v.anchor, v.near, v.far, self.triplet_margin)
