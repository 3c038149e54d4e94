"""Supervised SimCSE (Gao, Yao, Chen 2021): entailed sentences are positives, contradictions hard negatives."""

import torch

from cselab.methods import Contrastive, Encode, Recipe, Rows, Views, register


@register("supervised_simcse", "Supervised SimCSE")
class SupervisedSimCSE(Contrastive):
    """The positive follows from the sentence; all contradictions in the batch are negatives of every sentence.

        l_i = -log( e^{s(h_i, h_i+)} / sum_j ( e^{s(h_i, h_j+)} + a_ij e^{s(h_i, h_j-)} ) )        SimCSE Eq. 5

    with s the cosine over the temperature, log a_ij = `hard_negative_weight` where j = i and 0 elsewhere. The
    released script's weight is 0, all alike. The vector after the head is evaluated, in the paper as in its code.

    Rows: sentence, entailment, contradiction; in the paper 275,601 triples of SNLI and MNLI.

    See also: `PairSupCon`, which weighs all negatives by how near they are; `SimCSE`, unsupervised.
    """

    family = "extra data"
    positives_by_dropout = False
    columns = ("sentence", "entailment", "contradiction")
    hard_negative_weight: float = 0.0
    representation = "head"

    recipes = {
        "bert-base": Recipe(lr=5e-5, batch_size=512, epochs=3),
        "bert-large": Recipe(lr=1e-5, batch_size=512, epochs=3),
        "roberta-base": Recipe(lr=5e-5, batch_size=512, epochs=3),
        "roberta-large": Recipe(lr=1e-5, batch_size=512, epochs=3),
    }

    def views(self, encode: Encode, batch: Rows) -> Views:
        anchor, positive, negative = encode(*(self.column(batch, name) for name in self.columns))
        own = self.hard_negative_weight * torch.eye(len(anchor), device=anchor.device)
        return Views(anchor, positive).with_negatives(negative, own)
