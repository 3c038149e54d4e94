"""SNCSE-Dropout (survey; Wang et al. 2022): a denial is nearer than unrelated sentences, and further than a
paraphrase.
"""

import torch.nn.functional as F

from cselab.losses import Loss
from cselab.methods import SURVEY_RECIPES, Contrastive, Encode, Rows, Vectors, Views, register
from cselab.methods.hyperparameters import NonNegativeFloat


@register("sncse_dropout", "SNCSE-Dropout")
class SNCSEDropout(Contrastive):
    """SimCSE with the denial of a sentence as a soft negative.

        D_i = cos(h_i, n_i) - cos(h_i, h_i+)
        l   = InfoNCE + weight * mean_i [ max(0, D_i + alpha) + max(0, -D_i - beta) ]

    The bidirectional margin keeps the cosine with the denial n_i between `alpha` and `beta` below the positive's.
    Denials occur only in this term: they are not negatives of InfoNCE. The paper's weight for RoBERTa is 5e-4.

    Rows: sentence, negation. The world's denials are true ones; the authors made theirs by rules, with a parser, and
    `cselab data negate` makes some by rules without. The survey ran this with SimCSE's views.

    See also: `SNCSE`, which has two prompts in their place; `SupervisedSimCSE`, which pushes contradictions away with
        no limit.
    """

    family = "extra data"
    columns = ("sentence", "negation")
    weight: NonNegativeFloat = 1e-3
    alpha: NonNegativeFloat = 0.1
    beta: NonNegativeFloat = 0.3

    recipes = SURVEY_RECIPES

    def views(self, encode: Encode, batch: Rows) -> Views:
        v = super().views(encode, batch)
        v.denial = self.denied(encode, self.column(batch, "negation"))
        return v

    def denied(self, encode: Encode, denials: list[str]) -> Vectors:
        """The vectors of the denials."""
        return encode(denials)

    def loss(self, v: Views) -> Loss:
        d = F.cosine_similarity(v.anchor, v.denial) - F.cosine_similarity(v.anchor, v.positive)
        margin = (F.relu(d + self.alpha) + F.relu(-d - self.beta)).mean()
        return super().loss(v) + self.weight * Loss({"bidirectional_margin": margin})
