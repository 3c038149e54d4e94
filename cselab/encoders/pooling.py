"""From token vectors to one sentence vector: the poolings of the survey, each under one unambiguous name.

"First-last average" has two meanings in the literature, with different scores for the same BERT: the static
embeddings with the last layer (`emb_last_mean`, the 56.70 row of most tables) and the first transformer layer
with the last (`layer1_last_mean`, 60.73 in the SimCSE repository since 2022).

BERT-flow's text uses the mean of the last two layers (`last2_mean`). Its code counts layers[-0] and layers[-1], which
are the first transformer layer and the last: it runs `layer1_last_mean`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from cselab._util.arguments import check_choice

Vectors = Float[Tensor, "n d"]
"""A row a sentence."""

Layer = Float[Tensor, "n t d"]
Layers = Sequence[Layer]
Counted = Int[Tensor, "n t"]
"""1 for each token of a sentence that is pooled."""


def first_token(layer: Layer, counted: Counted) -> Vectors:
    """The vector of the first token where `counted` is 1: [CLS] or <s>, also of rows that are padded on the left."""
    return layer[torch.arange(len(layer), device=layer.device), counted.argmax(1)]


def last_token(layer: Layer, counted: Counted) -> Vectors:
    """The vector of the last token where `counted` is 1, padded on either side. In a decoder, where a token sees only
    earlier tokens, this is the only token that has seen the sentence.

    >>> last_token(torch.tensor([[[1.0], [3.0], [99.0]]]), torch.tensor([[1, 1, 0]]))
    tensor([[3.]])
    """
    last = counted.shape[1] - 1 - counted.flip(1).argmax(1)
    return layer[torch.arange(len(layer), device=layer.device), last]


def mean_tokens(layer: Layer, counted: Counted) -> Vectors:
    """Mean over the tokens where `counted` is 1 (the attention mask: everything but padding).

    [CLS] and [SEP] are counted, as in sentence-transformers and SimCSE. A row without counted tokens gives zeros.

    >>> mean_tokens(torch.tensor([[[1.0], [3.0], [99.0]]]), torch.tensor([[1, 1, 0]]))
    tensor([[2.]])
    """
    weights = counted.to(layer.dtype)[..., None]
    return (layer * weights).sum(1) / weights.sum(1).clamp(min=1e-9)


@dataclass(frozen=True)
class Pooling:
    """One way to pool. `layers` are the hidden states it reads (0: static embeddings, -1: the last layer).

    `counts` selects the tokens: "first", "last", "all" (but padding) or "mask" ([MASK] of a prompt). With `pooler`,
    the dense + tanh of BERT's pretraining follows.
    """

    meaning: str
    layers: tuple[int, ...] = (-1,)
    counts: str = "all"
    pooler: bool = False

    def __call__(self, layers: Layers, counted: Counted) -> Vectors:
        """Pool hidden states; `counted` marks the tokens of a mean."""
        pool = {"first": first_token, "last": last_token}.get(self.counts, mean_tokens)
        vectors = [pool(layers[index], counted) for index in self.layers]
        return sum(vectors[1:], start=vectors[0]) / len(vectors)


POOLINGS: dict[str, Pooling] = {
    "cls": Pooling("the [CLS] vector of the last layer", counts="first"),
    "cls_pooler": Pooling("[CLS] through the trained dense + tanh of BERT", counts="first", pooler=True),
    "mean": Pooling("mean of the tokens of the last layer"),
    "last_token": Pooling("the last token of the last layer (decoders)", counts="last"),
    "emb_last_mean": Pooling("mean of the static embeddings and the last layer (56.70)", layers=(0, -1)),
    "layer1_last_mean": Pooling("mean of the first and the last layer (60.73)", layers=(1, -1)),
    "last2_mean": Pooling("mean of the last two layers (BERT-flow's text, ConSERT)", layers=(-2, -1)),
    "mask": Pooling("the [MASK] vector of a prompt (PromptBERT)", counts="mask"),
}


def get_pooling(name: str) -> Pooling:
    """The pooling with this name.

    Raises:
        ValueError: unknown name; the message lists the known ones.

    >>> get_pooling("first_last_avg")
    Traceback (most recent call last):
        ...
    ValueError: unknown pooling 'first_last_avg'. Choose one of cls, cls_pooler, mean, last_token, emb_last_mean, ...
    """
    meanings = " ('first-last average' means emb_last_mean in most papers, layer1_last_mean in some)"
    check_choice("pooling", name, POOLINGS, likeness=0.75, also=meanings if "first" in name else "")
    return POOLINGS[name]
