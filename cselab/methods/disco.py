"""DisCo (Wu et al. 2021): contrast with a frozen teacher's vectors distils the teacher into the encoder."""

import copy

import torch
from torch import nn

from cselab.losses import Loss, info_nce
from cselab.methods import Encode, Head, Method, Rows, SentenceEncoder, Setup, Views, register
from cselab.methods.hyperparameters import PositiveFloat


@register("disco", "DisCo")
class DisCo(Method):
    """The positive of a sentence is its vector from a frozen teacher; the teacher's remaining vectors are negatives.

        l_i = -log( e^{s(h_i, z_i)} / sum_j e^{s(h_i, z_j)} ),   z_j = the teacher's vector of sentence j

    with s the cosine over the temperature. The paper's teacher is sentence-T5; `teacher` is the folder or name of any
    encoder, and None a copy of this encoder as it starts. A linear layer maps the encoder's width to the teacher's
    where they differ. The paper keeps earlier vectors of the teacher in a queue; here the batch has all negatives.

    See also: `MoCo`, whose second network follows the first; `DCLR`, whose frozen guide only weighs negatives.
    """

    family = "extra network"
    temperature: PositiveFloat = 0.05
    teacher: str | None = None
    head = "none"

    def build(self, setup: Setup) -> Head:
        opened = SentenceEncoder.from_pretrained(self.teacher) if self.teacher else copy.deepcopy(setup.encoder)
        self.frozen = opened.requires_grad_(False)
        width, other = setup.width, opened.hidden_size
        self.to_teacher = nn.Identity() if width == other else setup.linear(width, other)
        return super().build(setup)

    def views(self, encode: Encode, batch: Rows) -> Views:
        sentences = self.column(batch, "sentence")
        with torch.no_grad():
            taught = encode(sentences, by=self.frozen, dropout=False, head=False)
        return Views(self.to_teacher(encode(sentences)), taught)

    def loss(self, v: Views) -> Loss:
        return info_nce(v.anchor, v.positive, self.temperature)
