"""MoCoSE (Cao et al. 2022): MoCo with a predictor, and a queue that is neither short nor long."""

import copy
from math import cos, pi

import torch
from torch import nn

from cselab.losses import info_nce
from cselab.methods import Contrastive, Encode, Head, Recipe, Rows, Setup, ViewInput, Views, register
from cselab.methods.components import MomentumEncoder, Queue, input_gradient
from cselab.methods.hyperparameters import Momentum, NonNegativeFloat, PositiveInt


@register("mocose", "MoCoSE")
class MoCoSE(Contrastive):
    """An online branch predicts the vector of a slowly following target branch; earlier targets are negatives.

        q_i = tanh(P p(f(x_i + fgsm sign(g_i)))),  k_i = p'(f'(x_i)),  g = d InfoNCE / d x    f', p' follow f, p
        l_i = -log( e^{s(q_i, k_i)} / ( sum_j e^{s(q_i, k_j)} + sum over the queue of e^{s(q_i, k)} ) )
        momentum_t = 1 - (1 - momentum) (cos(pi t / rising_steps) + 1) / 2                    it rises to 1

    x: input vectors; p: Linear and layer norm; P: Linear. `queue` vectors, random at first, are replaced by targets;
    the paper finds that negatives of a middle age serve best. At `fgsm` = 5e-9 the move is below float32's resolution
    for most input vectors; 0 saves the pass that computes it.

    The released code uses the gradient of the previous step, which had a different batch. Its predictor has two layers
    (Linear, layer norm, dropout, then Linear and tanh), its projector ends in dropout and follows the linear layer of
    BERT's pretrained pooler, and its target shares the input vectors of the online branch. Its authors choose the
    weights by the mean of the seven STS test sets; a development set chooses here.

    See also: `AdCSE`, whose further negatives are learnt.
    """

    family = "momentum"
    positives_by_dropout = False
    small = {"queue": 12}
    momentum: Momentum = 0.75
    rising_steps: PositiveInt = 15000
    queue: PositiveInt = 256
    fgsm: NonNegativeFloat = 5e-9
    head = "none"

    recipes = {"bert-base": Recipe(lr=3e-5, batch_size=256, eval_every=175)}

    step: torch.Tensor

    def build(self, setup: Setup) -> Head:
        width = setup.width
        self.projector = nn.Sequential(setup.linear(width, width), nn.LayerNorm(width))
        self.predictor = nn.Sequential(setup.linear(width, width), nn.Tanh())
        self.slow = MomentumEncoder(setup.encoder, self.momentum)
        self.slow_projector = copy.deepcopy(self.projector).requires_grad_(False)
        self.past = Queue(self.queue, width, setup.generator)
        self.register_buffer("step", torch.tensor(0))
        return super().build(setup)

    def views(self, encode: Encode, batch: Rows) -> Views:
        sentences = self.column(batch, "sentence")
        keys = self.keys(encode, sentences)
        view: ViewInput = sentences
        if self.fgsm:
            tokens, slope = input_gradient(
                encode, sentences, lambda z: info_nce(self.online(z), keys, self.temperature).total
            )
            view = {**tokens, "inputs_embeds": tokens["inputs_embeds"] + self.fgsm * slope.sign()}
        v = Views(self.online(encode(view)), keys).with_negatives(self.past.vectors)
        self.past.put(keys)
        return v

    def online(self, z: torch.Tensor) -> torch.Tensor:
        """The online branch after the encoder's vectors."""
        return self.predictor(self.projector(z))

    @torch.no_grad()
    def keys(self, encode: Encode, sentences: list[str]) -> torch.Tensor:
        """The vectors of the target branch, whose weights first move one step towards the online ones."""
        self.step += 1
        part = min(int(self.step) / self.rising_steps, 1)
        self.slow.momentum = 1 - (1 - self.momentum) * (cos(pi * part) + 1) / 2
        for own, followed in zip(self.slow_projector.parameters(), self.projector.parameters(), strict=True):
            own.lerp_(followed, 1 - self.slow.momentum)
        return self.slow_projector(self.slow.keys(encode, sentences))
