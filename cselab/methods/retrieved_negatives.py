"""The retrieved negatives of CARDS (Wang et al. 2022): similar sentences of the corpus."""

from dataclasses import replace
from math import inf
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Int
from torch import Tensor

from cselab.encoders.speed import to_device
from cselab.methods import CARDS_RECIPES, Contrastive, Encode, Head, Rows, Setup, Vectors, Views, register
from cselab.methods.hyperparameters import PositiveInt

QUERIES_AT_ONCE = 2048  # sentences whose cosines with the whole corpus are held at a time


@register("retrieved_negatives", "CARDS, retrieved negatives")
class RetrievedNegatives(Contrastive):
    """Adds one of the `nearest` corpus sentences of each anchor, drawn anew each time, as a negative for all.

    The neighbours are computed once, before the first step, by the initial encoder: the cosine of every two sentences,
    in blocks. A corpus of n sentences is encoded once, and needs n^2 d multiplications and n x `nearest` numbers of
    memory.

    A sentence is not a negative of itself: a retrieved sentence that equals the anchor is omitted.
    The released code retrieves 65 sentences (9 for RoBERTa-large), among which is the sentence itself, which is never
    drawn: 64 and 8 here. The paper's code caches the mean of the plain RoBERTa's tokens; cselab uses the pooling of
    the training.

    See also: `CARDS`, which switches cases, too; `MixCSE` and `AdCSE`, which make negatives that are not sentences.
    """

    family = "negatives"
    nearest: PositiveInt = 64

    recipes = CARDS_RECIPES | {"roberta-large": replace(CARDS_RECIPES["roberta-large"], hyperparameters={"nearest": 8})}

    neighbours: Tensor

    def build(self, setup: Setup) -> Head:
        self.sentences = list(dict.fromkeys(self.column(setup.rows, "sentence")))
        self.place = {sentence: row for row, sentence in enumerate(self.sentences)}
        vectors: Any = setup.encoder.encode(self.sentences, convert_to_tensor=True, normalize_embeddings=True)
        neighbours = nearest_others(vectors, min(self.nearest, len(vectors) - 1)).cpu()
        self.register_buffer("neighbours", neighbours, persistent=False)  # the same again if a run continues
        return super().build(setup)

    def views(self, encode: Encode, batch: Rows) -> Views:
        v = super().views(encode, batch)
        rows = torch.tensor([self.place[sentence] for sentence in self.column(batch, "sentence")])
        drawn = torch.randint(self.neighbours.shape[1], (len(rows),), generator=self.generator)
        retrieved = self.neighbours[rows, drawn].cpu()
        itself = to_device(rows[:, None] == retrieved, v.anchor.device)
        near = encode([self.sentences[row] for row in retrieved.tolist()])
        return v.with_negatives(near, near.new_zeros(itself.shape).masked_fill(itself, -inf))


def nearest_others(vectors: Vectors, k: int) -> Int[Tensor, "n k"]:
    """For each row the k further rows with the highest cosine, the nearest first."""
    unit, nearest = F.normalize(vectors, dim=1), []
    for start in range(0, len(unit), QUERIES_AT_ONCE):
        cosines = unit[start : start + QUERIES_AT_ONCE] @ unit.T
        own = torch.arange(start, start + len(cosines), device=unit.device)
        nearest.append(cosines.scatter(1, own[:, None], -2).topk(k, dim=1).indices)
    return torch.cat(nearest)
