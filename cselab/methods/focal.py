"""Focal-InfoNCE (Hou and Li 2023): hard negatives weigh more, doubtful positives less."""

from typing import Any

from cselab.losses import Loss, focal_info_nce
from cselab.methods import SIMCSE_RECIPES, Contrastive, Views, register
from cselab.methods.hyperparameters import NonNegativeFloat, PositiveFloat


@register("focal", "Focal-InfoNCE")
class Focal(Contrastive):
    """SimCSE with each similarity multiplied by a factor that depends on this similarity.

        positive logit  s_p^2 / t,    negative logit  s_n (s_n + m) / t                               Eq. 2

    `temperature=None` means the temperature of the paper's tables and the released code: 0.05 for RoBERTa, 0.07 for
    all remaining encoders. The 0.7 and 0.5 of its section 4 are misprints by a factor of ten, kept as
    `variant="printed"`.

    See also: `SimCSE`; `cselab.losses.focal_info_nce` on the effect of `detach` on the gradient.
    """

    family = "loss"
    temperature: PositiveFloat | None = None  # type: ignore[assignment]
    m: NonNegativeFloat = 0.3
    detach: bool = False

    variants = {"paper": {}, "released": {}, "printed": {}}
    recipes = SIMCSE_RECIPES

    def resolve_defaults(self, config: Any) -> None:
        if self.temperature is None:
            bert, roberta = (0.7, 0.5) if self.variant == "printed" else (0.07, 0.05)
            self.temperature = roberta if "roberta" in config.model_type else bert

    def loss(self, v: Views) -> Loss:
        return focal_info_nce(
            v.anchor, v.positive, self.temperature or 0.07, self.m, self.detach, v.negatives, v.log_weights
        )
