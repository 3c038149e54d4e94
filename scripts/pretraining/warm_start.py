"""An embedding layer to start pretraining from: the input vectors of a released encoder, made to fit.

Words then begin with a meaning of their own, which a small model that sees few tokens would be long in learning,
and in a geometry after what Li et al. 2020 ("On the Sentence Embeddings from Pre-trained Language Models") report
of BERT: frequent words lie close together, rare ones far apart. Here all lie about one shared vector, the cone.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from cselab.encoders.folder import load_backbone, load_tokenizer
from pretraining.corpus import smooth_inverse_frequency

if TYPE_CHECKING:
    from transformers.models.bert.modeling_bert import BertEmbeddings

SPREAD = 0.05  # standard deviation of what tells tokens apart; BERT's random positions and segments have 0.02
SHARED = 0.07  # size of each number of the vector that all tokens share
GAIN = 4.0  # how much longer the embedding layer makes what tells tokens apart, beside what they share
FREQUENT = 1e-3  # the share of running text from which a token counts as frequent: a of Arora et al. 2017


def token_vectors(
    tokenizer: Any, folder: Path, width: int, counts: Int[np.ndarray, " v"]
) -> Float[Tensor, "v {width}"]:
    """The vectors of an encoder's input table for the tokens of another tokenizer, reduced to `width` numbers.

    A token that both vocabularies hold keeps its vector; another is the mean of the pieces that the encoder's own
    tokenizer makes of it. Mean and principal components are those of running text: each token weighs as often as
    it occurs (`counts`). The mean and the first d // 100 components, which tell frequent words from rare ones
    more than meanings, are removed (Mu and Viswanath 2018, "All-but-the-top", with d the encoder's width), and the
    next `width` components are kept. Each vector is weighted by the token's `smooth_inverse_frequency` (a = 1e-3;
    [CLS] and the like count as the most frequent token), all are scaled to a common standard deviation of 0.05, and a
    vector of alternating +-0.07 is added to every one, which is the cone that contrastive training has to repair.

    Raises:
        ValueError: a table that cannot fill `width` components.
    """
    theirs = load_tokenizer(folder)
    table = load_backbone(folder).get_input_embeddings().weight.detach()
    known, unknown = theirs.get_vocab(), theirs.unk_token_id
    top = table.shape[1] // 100
    if top + width > min(table.shape[1], np.count_nonzero(counts) - 1):
        raise ValueError(
            f"width {width} is more than {folder} can fill: {np.count_nonzero(counts)} tokens occur, with vectors of "
            f"{table.shape[1]} numbers, of which {top} components are removed"
        )

    def vector(token: str) -> Tensor:
        if token in known:
            return table[known[token]]
        pieces = theirs(token.removeprefix("##"), add_special_tokens=False).input_ids
        return table[pieces or [unknown]].mean(dim=0)

    ours = torch.stack([vector(token) for token in tokenizer.convert_ids_to_tokens(range(len(tokenizer)))])
    weights = torch.from_numpy(counts / counts.sum()).to(ours.dtype)[:, None]
    ours = ours - (weights * ours).sum(dim=0)
    _, _, claims = torch.linalg.svd(weights.sqrt() * ours, full_matrices=False)
    counts = counts.copy()
    counts[tokenizer.all_special_ids] = counts.max()  # no corpus holds them, and every row does
    rarity = torch.from_numpy(smooth_inverse_frequency(counts, FREQUENT)).to(ours.dtype)[:, None]
    weighted = ours @ claims[top : top + width].T * rarity
    shared = SHARED * (-1.0) ** torch.arange(width)  # layer normalisation would take a constant vector away
    return weighted * (SPREAD / weighted.std()) + shared


def start_embeddings(
    embeddings: BertEmbeddings, tokens: Float[Tensor, "v d"], counts: Int[np.ndarray, " v"], length: int
) -> None:
    """Put `token_vectors` into BERT's embedding layer, whose normalisation then lets tokens stand out.

    With x the sum of a token's vector, the first segment's, and the mean of the first `length` positions:

        layer(x) = g LN(x) - (g - 1) mean[LN(x)],    g = 4, the mean over running text

    LN makes all vectors as long as each other. In the table the shared vector makes up most of that length, so a
    frequent token's own part stays as small as its weight made it. Here the mean keeps its length, and what stands
    out from it becomes g times as long: sentences are then told apart by their words as much as by what the layers
    above make of them.
    """
    normalisation = embeddings.LayerNorm
    with torch.no_grad():
        embeddings.word_embeddings.weight.copy_(tokens)
        positions = embeddings.position_embeddings.weight[:length].mean(dim=0)
        inputs = tokens + positions + embeddings.token_type_embeddings.weight[0]
        outputs = F.layer_norm(inputs, normalisation.normalized_shape, eps=normalisation.eps)
        shares = torch.from_numpy(counts / counts.sum()).to(outputs.dtype)
        normalisation.weight.fill_(GAIN)
        normalisation.bias.copy_((1 - GAIN) * (shares @ outputs))
