"""DCLR (Zhou et al. 2022): noise as further negatives, and no repulsion of sentences with the same meaning."""

from math import inf

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from cselab.losses import Loss, info_nce
from cselab.losses.contrast import cosine_matrix, cosines_against, on_diagonal
from cselab.methods import Contrastive, Encode, Head, Recipe, Rows, SentenceEncoder, Setup, Views, register
from cselab.methods.hyperparameters import NonNegativeFloat, NonNegativeInt, UnitInterval


@register("dclr", "DCLR")
class DCLR(Contrastive):
    """Debiased contrast: negatives from the whole space, and weight 0 for false ones.

        l_i = -log( e^{s(h_i, h_i+)} / ( sum_b e^{s(h_i, n_b)} + sum_j a_ij e^{s(h_i, h_j+)} ) )

    n_b: `noise` N standard normal vectors, moved by `ascent_steps` steps of length `step` up the gradient of
    the loss. (Their length is near the square root of d, 28 for BERT: four steps of 0.001 hardly move them.)

    a_ij = 0 if the sentences' cosine under a guide exceeds `phi`, else 1. The guide is fixed: a trained
    SimCSE in the paper, here any encoder that `SentenceEncoder.from_pretrained` opens. (The experiments' rows train
    SimCSE first, on the same corpus with the same seed.) `guide=None` uses the trained encoder itself, without
    dropout. Untrained, it may find too many similar: of pairs of the world's sentences 3.6 % under `micro`, 0.05 %
    under `mini`. The authors' code compares the outputs of the guide's pooler with phi, here its vectors before the
    head. Their script has a `phi` of 0.85 for RoBERTa, more `noise` for it and for large models, and starts these from
    SimCSE.

    `clean_loss=False`, the variant "released", uses the loss of the authors' code: the logits of false negatives are
    set to 0, not removed, and the loss is the binary cross-entropy of the softmax, a mean over all cells. In four
    points their code differs from that, too: its training pass has no attention mask, so that padding is attended to;
    [CLS] goes through BERT's own pooler before the head; the guide compares under dropout, being in training mode; and
    the best step is chosen by the mean of STS-B's and SICK-R's dev sets.

    See also: `SimCSE`; `AdCSE`, whose negatives are learnt.
    """

    family = "negatives"
    noise: NonNegativeFloat = 1.0
    ascent_steps: NonNegativeInt = 4
    step: NonNegativeFloat = 1e-3
    phi: UnitInterval = 0.9
    guide: str | None = None
    clean_loss: bool = True

    variants = {"paper": {}, "released": {"clean_loss": False}}
    recipes = {
        "bert-base": Recipe(lr=3e-5, batch_size=128, epochs=3),
        "bert-large": Recipe(lr=3e-5, batch_size=256, hyperparameters={"noise": 3.0}),
        "roberta-base": Recipe(lr=3e-5, batch_size=128, epochs=3, hyperparameters={"phi": 0.85, "noise": 2.5}),
        "roberta-large": Recipe(lr=1e-5, batch_size=256, hyperparameters={"phi": 0.85, "noise": 5.0}),
    }

    def build(self, setup: Setup) -> Head:
        self.opened = SentenceEncoder.from_pretrained(self.guide).requires_grad_(False) if self.guide else None
        return super().build(setup)

    def views(self, encode: Encode, batch: Rows) -> Views:
        v = super().views(encode, batch)
        with torch.no_grad():
            guide = encode(self.column(batch, "sentence"), by=self.opened, dropout=False, head=False)
            v.false = (cosine_matrix(guide, guide) > self.phi).fill_diagonal_(False)
        v.with_pair_weights(v.anchor.new_zeros(v.false.shape).masked_fill(v.false, -inf))
        return v.with_negatives(self.ascended(v)) if self.noise else v

    @torch.enable_grad()
    def ascended(self, v: Views) -> Float[Tensor, "k d"]:
        """The noise after its steps up the gradient of the loss."""
        anchor, positive = v.anchor.detach(), v.positive.detach()
        size = round(self.noise * len(anchor)), anchor.shape[1]
        noise = self.gaussian(size, like=anchor)
        for _ in range(self.ascent_steps):
            loss = info_nce(anchor, positive, self.temperature, noise.requires_grad_())
            (slope,) = torch.autograd.grad(loss.total, noise)
            noise = (noise + self.step * F.normalize(slope, dim=1)).detach()
        return noise

    def loss(self, v: Views) -> Loss:
        if self.clean_loss:
            return super().loss(v)
        logits = cosines_against(v.anchor, v.positive, v.negatives) / self.temperature
        shares = logits.masked_fill(F.pad(v.false, (0, logits.shape[1] - len(logits))), 0).softmax(1)
        chances = torch.where(on_diagonal(shares), shares, 1 - shares)
        return Loss({"cross_entropy": -chances.clamp(min=1e-12).log().mean()})
