"""PairSupCon (Zhang et al. 2021): entailed pairs contrasted with near negatives first, and a classifier of pairs."""

from math import inf, log

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from cselab.encoders.heads import ProjectionHead
from cselab.losses import Loss, info_nce
from cselab.losses.contrast import cosine_matrix, on_diagonal
from cselab.methods import Encode, Head, Method, Recipe, Rows, Setup, Vectors, Views, register
from cselab.methods.base import at_head_lr
from cselab.methods.hyperparameters import NonNegativeFloat, PositiveFloat, PositiveInt


@register("pairsupcon", "PairSupCon")
class PairSupCon(Method):
    """Instance discrimination of entailed pairs, and a classifier of entailment against contradiction.

        l = beta * mean over the two directions of  -log( e^{s_i} / (e^{s_i} + sum_k w_ik e^{s_ik}) )  + cross-entropy
        w_ik = e^{s_ik} / mean_k e^{s_ik}

    s: cosines of the head's vectors over the temperature; k: the remaining 2N - 2 sentences of entailed pairs. A
    negative thus has its exponential as an additional weight, so near negatives count most. The classifier sees
    (u, v, |u - v|) of the vectors before the head, which are evaluated.

    Rows: sentence, entailment, contradiction, which are an entailed and a contradicting pair. The released code
    draws single labelled pairs instead of triples, and also uses the sentences of contradicting pairs as negatives.

    See also: `SupervisedSimCSE`, which makes the contradictions themselves the negatives.
    """

    family = "extra data"
    columns = ("sentence", "entailment", "contradiction")
    temperature: PositiveFloat = 0.05
    beta: NonNegativeFloat = 1.0
    width: PositiveInt = 128
    head_lr: PositiveFloat = 5e-4

    recipes = {"bert-base": Recipe(lr=5e-6, batch_size=1024, epochs=3, pooling="mean")}

    def build(self, setup: Setup) -> Head:
        width = setup.width
        self.classifier = setup.linear(3 * width, 2, bias=False)
        return ProjectionHead(width, self.width, setup.generator)

    groups = at_head_lr

    def views(self, encode: Encode, batch: Rows) -> Views:
        u, entailed, denied = encode(*(self.column(batch, name) for name in self.columns), head=False)
        v = Views(encode.head(u), encode.head(entailed))
        v.pairs = torch.cat([torch.cat([u, other, (u - other).abs()], dim=1) for other in (denied, entailed)])
        return v

    def loss(self, v: Views) -> Loss:
        both = [(v.anchor, v.positive), (v.positive, v.anchor)]
        there, back = (info_nce(one, two, self.temperature, one, self.importance(one, two)).total for one, two in both)
        labels = torch.arange(2, device=v.pairs.device).repeat_interleave(len(v.anchor))
        relation = F.cross_entropy(self.classifier(v.pairs), labels)
        return Loss({"importance_info_nce": self.beta * (there + back) / 2, "relation": relation})

    def importance(self, one: Vectors, two: Vectors) -> Float[Tensor, "n columns"]:
        """Log w for the columns of `two` and then `one`; 0 for the pair itself; `one` is not its own negative."""
        s = cosine_matrix(one, torch.cat([two, one])) / self.temperature
        pair = on_diagonal(s)
        oneself = pair.roll(len(one), 1)
        mean = s.masked_fill(pair | oneself, -inf).logsumexp(1, keepdim=True) - log(2 * len(one) - 2)
        return (s - mean).masked_fill(pair, 0).masked_fill(oneself, -inf)
