"""SG-OPT (Kim et al. 2021): BERT's own layers, frozen, guide its sentence vector."""

import copy
from itertools import pairwise

import torch
from torch import Tensor, nn

from cselab.encoders.dropout import embedding_layer
from cselab.encoders.encoder import eval_mode
from cselab.encoders.heads import DenseLayers
from cselab.encoders.pooling import mean_tokens
from cselab.losses import Loss
from cselab.losses.contrast import cosine_matrix, on_diagonal
from cselab.methods import Contrastive, Encode, Head, Recipe, Rows, Setup, Views, register
from cselab.methods.hyperparameters import NonNegativeFloat, PositiveFloat, PositiveInt


@register("sg_opt", "SG-OPT")
class SGOPT(Contrastive):
    """Contrasts the trained encoder's vector c_i with all mean-pooled hidden layers h_ik of a frozen copy.

        l = mean_ik -log( e^{s(c_i, h_ik)} / ( e^{s(c_i, h_ik)} + n_i ) ) + weight * |theta - theta_0|^2
        n_i = sum_{j != i} sum_m e^{s(c_i, h_jm)},     s = cos / t

    The c_j of further sentences are not negatives, and neither are the remaining layers of a sentence. This agrees with
    the released code, which has s(c_i, c_j) commented out and keeps it only in its ablation OPT1.

    All vectors pass one projection, as in the code: Linear, GELU, Linear, GELU, `projection` wide. The input embeddings
    stay as they are, and the weights theta are held near where they began. The frozen copy reads without dropout. The
    code intends this too, but its training loop switches the copy's dropout on again.

    The paper pools [CLS] and trains on the texts of STS-B, test included. Its momentum terms (0.9, 0.9) of Adam and
    its warm-up over the first tenth of the steps are not implemented.

    See also: `CT`, whose second encoder learns, too.
    """

    family = "extra network"
    positives_by_dropout = False
    small = {"projection": 8}
    temperature: PositiveFloat = 0.01
    weight: NonNegativeFloat = 0.1
    projection: PositiveInt = 4096

    recipes = {"bert-base": Recipe(lr=5e-5, batch_size=16, max_length=128, eval_every=50)}

    def build(self, setup: Setup) -> Head:
        self.frozen = copy.deepcopy(setup.encoder.backbone).requires_grad_(False)
        embedding_layer(setup.encoder.backbone).requires_grad_(False)
        if self.head == "none":
            return None
        sizes = setup.width, self.projection, self.projection
        layers = [setup.linear(width, out) for width, out in pairwise(sizes)]
        return DenseLayers([(layer, nn.GELU()) for layer in layers])

    def views(self, encode: Encode, batch: Rows) -> Views:
        tokens, head = encode.tokens(batch), encode.head or nn.Identity()
        with torch.no_grad(), eval_mode(self.frozen):
            layers = self.frozen(**tokens, output_hidden_states=True).hidden_states
        guides = [head(mean_tokens(layer, tokens["attention_mask"])) for layer in layers]
        v = Views(encode(tokens), *guides)
        if self.weight:
            v.moved = self._moved(encode.encoder.backbone)
        return v

    def _moved(self, backbone: nn.Module) -> Tensor:
        pairs = zip(backbone.parameters(), self.frozen.parameters(), strict=True)
        return sum(((now - then) ** 2).sum() for now, then in pairs if now.requires_grad)

    def loss(self, v: Views) -> Loss:
        logits = torch.stack([cosine_matrix(v.anchor, layer) / self.temperature for layer in v.positives])
        others = logits.masked_fill(on_diagonal(logits[0]), -torch.inf)
        negatives = others.logsumexp((0, 2))  # of each i, over j and all layers
        own = logits.diagonal(dim1=1, dim2=2)
        guided = Loss({"self_guided": nn.functional.softplus(negatives - own).mean()})
        return guided + self.weight * Loss({"moved": v.moved}) if self.weight else guided
