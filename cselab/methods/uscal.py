"""USCAL (Miao et al. 2021): a second positive whose input vectors were moved to where the contrast is hardest."""

import torch.nn.functional as F

from cselab.losses import Loss, info_nce
from cselab.methods import Contrastive, Encode, Rows, Views, register
from cselab.methods.components import input_gradient
from cselab.methods.hyperparameters import NonNegativeFloat, PositiveFloat


@register("uscal", "USCAL")
class USCAL(Contrastive):
    """SimCSE, and InfoNCE with an adversarial example of the same sentence.

        x_adv = x + size * g / |g|,   g = d InfoNCE(h, h(x)) / d x         x: the input vectors of all its tokens
        l = InfoNCE(h, h+) + weight * InfoNCE(h, h(x_adv))

    Each move has the length `size`, whatever the gradient. The survey describes the method in words
    and no code is public, so `size` and `weight` are our choices, similar to those of related methods. Each step
    costs a second forward and backward pass to find the move, and a third one to encode the moved input.

    See also: `VaSCL`, which moves the sentence's vector; `MoCoSE`, which moves input vectors by their sign.
    """

    family = "hidden states"
    size: PositiveFloat = 1.0
    weight: NonNegativeFloat = 1.0

    def views(self, encode: Encode, batch: Rows) -> Views:
        v = super().views(encode, batch)
        tokens, slope = input_gradient(
            encode, self.column(batch, "sentence"), lambda z: info_nce(v.anchor.detach(), z, self.temperature).total
        )
        move = self.size * F.normalize(slope.flatten(1), dim=1).view_as(slope)
        v.adversarial = encode({**tokens, "inputs_embeds": tokens["inputs_embeds"] + move})
        return v

    def loss(self, v: Views) -> Loss:
        adversarial = info_nce(v.anchor, v.adversarial, self.temperature).total
        return super().loss(v) + self.weight * Loss({"adversarial": adversarial})
