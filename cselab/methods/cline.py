"""CLINE (Wang et al. 2021): near in words, the same or the opposite in meaning."""

from collections.abc import Sequence
from typing import Any, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Int
from torch import Tensor, nn

from cselab.encoder import SentenceEncoder
from cselab.encoding import Encode
from cselab.heads import fresh_linear
from cselab.losses import Loss
from cselab.methods.base import Views, register
from cselab.methods.contrastive import Contrastive
from cselab.methods.hyperparameters import Share
from cselab.methods.pieces import MaskedWords, antonyms, synonyms, token_states
from cselab.methods.recipe import Recipe


@register("cline", "CLINE")
class CLINE(Contrastive):
    """Masked words, which tokens were replaced and by what, and a single negative: the sentence with antonyms.

        l = masked words(x) + CE( original, synonym or antonym | tokens of x_syn, x_ant )
            + mean_i -log( e^{h_i h_syn_i} / ( e^{h_i h_syn_i} + e^{h_i h_ant_i} ) )

    Raw dot products, no batch negatives. A sentence in which no word has an antonym is left out of the last mean.
    `variant="released"` weighs the terms by learnt uncertainties, as the code does: sum_k e^{-v_k} l_k + max(v_k, 0).

    The paper takes WordNet, blocks of 256 tokens, and is evaluated on GLUE alone; `synonyms` and `antonyms` are files
    with the columns word and synonym, or word and antonym, the world's by default. The rate is that of its script for a
    tiny model.

    See also: `SRBERT`, synonyms only; `SupervisedSimCSE`, whose contradictions are whole sentences.
    """

    family = "text"
    share: Share = 0.4
    masked: Share = 0.15
    balance: Literal["sum", "learnt"] = "sum"
    synonyms: str | None = None
    antonyms: str | None = None

    variants = {"paper": {}, "released": {"balance": "learnt"}}
    recipes = {"bert-base": Recipe(lr=1e-4, max_length=256)}

    def build(self, encoder: SentenceEncoder, rows: Sequence[Any], generator: torch.Generator) -> nn.Module | None:
        self.tables = synonyms(self.synonyms), antonyms(self.antonyms)
        self.guess = MaskedWords(encoder, generator)
        self.kind = fresh_linear(encoder.hidden_size, 3, generator)
        if self.balance == "learnt":
            self.uncertainty = nn.Parameter(torch.zeros(3))
        return super().build(encoder, rows, generator)

    def views(self, encode: Encode, batch: Sequence[Any]) -> Views:
        same, opposite = ([table.replaced(text, self.share, self.generator) for text in batch] for table in self.tables)
        changed = [text for text, _ in same + opposite]
        labels = self._labels(encode, same, 1), self._labels(encode, opposite, 2)
        tokens = encode.tokens(changed)
        kinds = self.kind(token_states(encode.encoder, tokens))[tokens["attention_mask"].bool()]
        replaced = F.cross_entropy(kinds, torch.cat(labels).to(kinds.device))
        anchor, positive, negative = encode(batch, changed[: len(batch)], changed[len(batch) :])
        known = torch.tensor([bool(places) for _, places in opposite], device=anchor.device)
        words = self.guess(encode, encode.tokens(batch), self.masked, self.generator)
        return Views(anchor, positive, negative=negative, known=known, replaced=replaced, words=words)

    def _labels(self, encode: Encode, changed: Sequence[Any], kind: int) -> Int[Tensor, " tokens"]:
        """0 for each token as it was, `kind` for one that stands where a replacement does; row by row."""
        read = encode.encoder.tokenizer(
            [text for text, _ in changed], truncation=True, max_length=encode.max_length, return_offsets_mapping=True
        )
        return torch.tensor([
            kind * any(start < end and begin <= start < stop for begin, stop in places)
            for (_, places), offsets in zip(changed, read["offset_mapping"], strict=True)
            for start, end in offsets
        ])  # fmt: skip

    def loss(self, v: Views) -> Loss:
        towards, away = ((v.anchor * other).sum(1).float() for other in (v.positive, v.negative))
        apart = (F.softplus(away - towards) * v.known).sum() / v.known.sum().clamp(min=1)
        terms = {**v.words.terms, "replaced": v.replaced, "apart": apart}
        if self.balance == "sum":
            return Loss(terms)
        weighed = {name: (-u).exp() * term for u, (name, term) in zip(self.uncertainty, terms.items(), strict=True)}
        return Loss(weighed | {"uncertainty": self.uncertainty.clamp(min=0).sum()})
