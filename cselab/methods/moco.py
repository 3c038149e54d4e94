"""MoCo (He et al. 2020): the keys of a slowly following encoder, and a queue of earlier ones as negatives."""

import torch
from torch import nn

from cselab.encoders.heads import DenseLayers
from cselab.methods import SURVEY_RECIPES, Contrastive, Encode, Head, Rows, Setup, Views, register
from cselab.methods.components import MomentumEncoder, Queue
from cselab.methods.hyperparameters import Momentum, PositiveFloat, PositiveInt


@register("moco", "MoCo")
class MoCo(Contrastive):
    """Contrasts a sentence with its key from a second encoder; the negatives come from the queue, not the batch.

        l_i = -log( e^{q_i k_i / t} / ( e^{q_i k_i / t} + sum_b e^{q_i k_b / t} ) ),    k_b in the queue       Eq. 1
        theta_k <- momentum theta_k + (1 - momentum) theta_q                    before each step               Eq. 2

    q = f(x), k = f'(x): unit vectors of one sentence under two dropout masks, which replace the crops and colours of
    images. f', with the projection, follows f and has no gradient. After the step the batch's keys go into the queue,
    and the oldest leave it. The survey names MoCo as one of its two frameworks (section 2.1.1, Fig. 2).

    The projection is MoCo v2's: Linear, ReLU, Linear into `width`; the vector before it is evaluated. The queue starts
    as random directions. The paper's holds 65,536 keys of 1.28 million images; it should be smaller than the corpus,
    so 4,096 are the default. The paper prints settings only for images, so the recipe is the survey's.

    See also: `SimCLR`, the survey's second framework; `MomentumEncoder` and `Queue`, its parts; `CERT`, `ESimCSE`,
        `PTBERT`, `MoCoSE` and `AdCSE`, which build on it.
    """

    family = "momentum"
    positives_by_dropout = False
    negatives_in_batch = False
    small = {"queue": 20, "width": 8}
    temperature: PositiveFloat = 0.07
    momentum: Momentum = 0.999
    queue: PositiveInt = 4096
    width: PositiveInt = 128

    recipes = SURVEY_RECIPES

    def build(self, setup: Setup) -> Head:
        size = setup.width
        wide, narrow = (setup.linear(size, out) for out in (size, self.width))
        head = DenseLayers([(wide, nn.ReLU()), (narrow, nn.Identity())]) if self.head == "mlp" else None
        self.slow = MomentumEncoder(setup.encoder, self.momentum, head)
        self.earlier = Queue(self.queue, size if head is None else self.width, setup.generator)
        return head

    def views(self, encode: Encode, batch: Rows) -> Views:
        keys = self.slow.keys(encode, self.column(batch, self.columns[-1]))
        v = Views(encode(self.column(batch, self.columns[0])), keys)
        out = torch.full((len(batch), len(batch)), -torch.inf).fill_diagonal_(0)  # the batch holds no negatives
        v.with_pair_weights(out.to(keys)).with_negatives(self.earlier.vectors)
        self.earlier.put(torch.nn.functional.normalize(keys, dim=1))
        return v
