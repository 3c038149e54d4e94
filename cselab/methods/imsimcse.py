"""ImSimCSE / SimCSE++ (Xu et al. 2023): negatives without dropout noise, and contrast between dimensions."""

from collections.abc import Sequence
from typing import Literal

from cselab.losses import Loss, dimension_contrastive, off_dropout_info_nce
from cselab.methods.base import Encode, Method, Views, register


@register("imsimcse", "ImSimCSE")
class ImSimCSE(Method):
    """Off-dropout negatives and a dimension-wise contrastive term.

        l = l_off-info + weight * l_DCL                                        Eq. 6, from Eq. 3 and Eq. 5

    Negatives are measured between vectors encoded with dropout off, positives between two dropout views.

    What differs between the text and the code of the authors:

    * `m`: the text multiplies the sum of the negatives (Eq. 3, `m_on="negatives"`), the code the positive's
      logit (`m_on="positive"`).
    * `scale` of the dimension-wise term: as printed it is a sum over the dimensions without division by N, two
      orders above the InfoNCE term; the code divides by N and takes the mean. The default takes the text's m and
      the code's scale; "paper" and "released" take both from one side.

    See also: `SimCSE`; `Noise`, the experiment that led to off-dropout; `BarlowTwins`, the one that led to the
    dimension-wise term.
    """

    temperature: float = 0.05
    m: float = 0.9
    m_on: Literal["negatives", "positive"] = "negatives"
    weight: float = 0.1
    dimension_temperature: float = 5.0
    scale: Literal["released", "paper"] = "released"

    variants = {"paper": {"scale": "paper"}, "released": {"m_on": "positive"}}

    def views(self, encode: Encode, batch: Sequence[str]) -> Views:
        return Views(*encode(batch, times=2), clean=encode(batch, dropout=False))

    def loss(self, v: Views) -> Loss:
        off_dropout = off_dropout_info_nce(
            v.anchor, v.positive, v.clean, self.temperature, self.m, self.m_on
        )  # Eq. 3
        dimensions = dimension_contrastive(
            v.anchor, v.positive, self.dimension_temperature, self.scale
        )  # Eq. 5
        return off_dropout + self.weight * dimensions  # Eq. 6
