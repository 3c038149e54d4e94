"""SCD (Klein and Nabi 2022): views under two dropout rates are pushed apart; decorrelation holds them together."""

import torch.nn.functional as F
from torch import nn

from cselab.encoders.dropout import dropout_at
from cselab.losses import Loss, barlow_twins
from cselab.methods import Encode, Head, Method, Recipe, Rows, Setup, Views, register
from cselab.methods.hyperparameters import NonNegativeFloat, PositiveFloat, PositiveInt, UnitInterval


@register("scd", "SCD")
class SCD(Method):
    """Self-contrastive decorrelation: the only negative is the same sentence under stronger dropout.

        l = mean_i cos(h_i, h'_i) / t + weight [ sum_c (1 - C_cc)^2 + redundancy sum_{c != d} C_cd^2 ]

    h: with little dropout (`low`), h': with more (`high`). C: correlation over the batch of the dimensions of P(h) and
    P(h'), P a projector of three linear layers, each `projection` wide, batch norm and ReLU between them. By itself
    the first term would push the views apart, and the second would pull them together.

    The numbers are those of the released command, which has no head and removes the projector afterwards.
    `weight` and `redundancy` belong to 4,096 dimensions, whose sums balance one mean of cosines: with fewer the first
    term pushes the views apart.

    See also: `BarlowTwins`, with equal views and InfoNCE; `DimensionWise`.
    """

    family = "loss"
    small = {"projection": 16, "weight": 0.005225 * 256, "redundancy": 0.012 * 256}  # for 16 dimensions, not 4,096
    temperature: PositiveFloat = 0.05
    low: UnitInterval = 0.05
    high: UnitInterval = 0.155
    weight: NonNegativeFloat = 0.005225
    redundancy: NonNegativeFloat = 0.012
    projection: PositiveInt = 4096
    head = "none"

    recipes = {"bert-base": Recipe(lr=3e-5, batch_size=192, eval_every=250)}

    def build(self, setup: Setup) -> Head:
        width, wide = setup.width, self.projection
        self.projector = nn.Sequential(
            setup.linear(width, wide), nn.BatchNorm1d(wide), nn.ReLU(),
            setup.linear(wide, wide, bias=False), nn.BatchNorm1d(wide), nn.ReLU(),
            setup.linear(wide, wide, bias=False),
        )  # fmt: skip
        return super().build(setup)

    def views(self, encode: Encode, batch: Rows) -> Views:
        both = []
        for rate in (self.low, self.high):
            with dropout_at(encode.encoder.backbone, rate):
                both.append(encode(self.column(batch, "sentence")))
        return Views(*both)

    def loss(self, v: Views) -> Loss:
        contrast = F.cosine_similarity(v.anchor, v.positive).mean() / self.temperature
        one, other = (projected - projected.mean(0) for projected in map(self.projector, (v.anchor, v.positive)))
        return Loss({"self_contrast": contrast}) + self.weight * barlow_twins(one, other, self.redundancy)
