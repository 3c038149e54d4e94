"""The noise experiment of ImSimCSE (section 3.1, Table 1): more or less dropout noise, on one kind of pair.

Xu et al. 2023.
"""

from typing import Literal

import torch

from cselab.losses import Loss, decoupled_info_nce
from cselab.methods import IMSIMCSE_RECIPES, Encode, Method, Rows, SentenceEncoder, Views, register
from cselab.methods.hyperparameters import NonNegativeFloat, PositiveFloat, PositiveInt


@register("noise", "SimCSE, noise experiment")
class Noise(Method):
    """SimCSE with changed views for either the positive or the negative pairs.

        +noise   z + g,  g ~ N(0, variance)              `variance` > 0
        -noise   mean of `mean_of` dropout views         `mean_of` > 1, the paper's K = 10; two disjoint sets

    In cselab, the view of the unchanged pairs is one of the views of the mean: a K-th of the mean has its noise. The
    paper draws all views independently.

    Set exactly one of them. The text has "variance 0.1", and a comment in the released code has "standard deviation
    0.1", which is `variance=0.01`. The noise is added after the head. cselab has no released variant: the code's
    +noise exists only in that comment, on one view, and its -noise uses one mean for each side.

    See also: `ImSimCSE`, whose off-dropout negatives are the limit of a large `mean_of`, without its cost.
    """

    family = "hidden states"
    positives_by_dropout = True
    small = {"variance": 0.1}
    temperature: PositiveFloat = 0.05
    on: Literal["positives", "negatives"] = "negatives"
    variance: NonNegativeFloat = 0.0
    mean_of: PositiveInt = 1

    recipes = IMSIMCSE_RECIPES

    def prepare(self, encoder: SentenceEncoder) -> None:
        super().prepare(encoder)
        if self.mean_of == 1 and self.variance == 0:
            raise ValueError(
                "noise with variance=0 and mean_of=1 changes nothing and would train plain SimCSE: give variance "
                "(+noise; the paper's is 0.1) or mean_of (-noise; the paper's K is 10)"
            )

    def views(self, encode: Encode, batch: Rows) -> Views:
        passes = encode(*[batch] * (2 * self.mean_of))
        changed = [torch.stack(passes[half::2]).mean(0) for half in (0, 1)]
        if self.variance:
            changed = [z + self.variance**0.5 * self.gaussian(z.shape, like=z) for z in changed]
        positive, negative = (changed, passes[:2]) if self.on == "positives" else (passes[:2], changed)
        return Views(*positive, apart=tuple(negative))

    def loss(self, v: Views) -> Loss:
        return decoupled_info_nce((v.anchor, v.positive), v.apart, self.temperature)
