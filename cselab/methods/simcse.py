"""SimCSE (Gao, Yao, Chen 2021): two dropout masks of one sentence are the views. The baseline of all."""

from collections.abc import Sequence

from cselab.losses import Loss, info_nce
from cselab.methods.base import Encode, Method, Views, register


@register("simcse", "SimCSE")
class SimCSE(Method):
    """Dropout as the only augmentation, the other sentences of the batch as negatives.

        l_i = -log( exp(cos(z1_i, z2_i) / t) / sum_j exp(cos(z1_i, z2_j) / t) )        ImSimCSE Eq. 1, 2

    `head`: Linear + tanh in training, evaluated without it. Paper and released code agree where the vector is
    [CLS]; with a mean of tokens the released code has none.

    See also: every other method adds something to this one.
    """

    temperature: float = 0.05

    def views(self, encode: Encode, batch: Sequence[str]) -> Views:
        return Views(*encode(batch, times=2))

    def loss(self, v: Views) -> Loss:
        return info_nce(v.anchor, v.positive, self.temperature)
