"""CLINE (Wang et al. 2021): near in words, the same or the opposite in meaning."""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from cselab.losses import Loss
from cselab.methods import Encode, Head, Method, Recipe, Rows, Setup, Views, register
from cselab.methods.components import MaskedWords, antonyms, replaced_tokens, synonyms, token_states
from cselab.methods.hyperparameters import UnitInterval


@register("cline", "CLINE")
class CLINE(Method):
    """Predicts masked words, detects replaced tokens, and has one negative: the sentence with antonyms.

        l = masked words(x) + CE( original, synonym or antonym | tokens of x_syn, x_ant )
            + mean_i -log( e^{h_i h_syn_i} / ( e^{h_i h_syn_i} + e^{h_i h_ant_i} ) )

    Raw dot products, no temperature, no batch negatives. The last mean excludes sentences without an antonym.

    `variant="released"` does as the code with learnt weights. The terms weigh sum_k e^{-v_k} l_k + max(v_k, 0)
    (`balance="learnt"`), and the last is a mean over 2n pairs, each judged separately (`contrast="sigmoid"`):

        -log sigmoid( h_i h_syn_i / d )   and   -log( 1 - sigmoid( h_i h_ant_i / d ) ),   h_i of the masked sentence

    Here a sentence without an antonym has the first pair only. The code reads the masked sentence once for two terms,
    and cselab reads it twice. The code sorts tokens with two layers, and cselab with one.

    The paper uses WordNet and blocks of 256 tokens, and evaluates only on GLUE. `synonyms` and `antonyms` are files
    with the columns word and synonym, or word and antonym, the world's by default. The rate is that of its script for a
    tiny model.

    See also: `SRBERT`, synonyms only; `SupervisedSimCSE`, whose contradictions are whole sentences.
    """

    family = "text"
    negatives_in_batch = False
    share: UnitInterval = 0.4
    masked: UnitInterval = 0.15
    balance: Literal["sum", "learnt"] = "sum"
    contrast: Literal["softmax", "sigmoid"] = "softmax"
    synonyms: str | None = None
    antonyms: str | None = None

    variants = {"paper": {}, "released": {"balance": "learnt", "contrast": "sigmoid"}}
    recipes = {"bert-base": Recipe(lr=1e-4, max_length=256)}

    def build(self, setup: Setup) -> Head:
        self.tables = synonyms(self.synonyms), antonyms(self.antonyms)
        self.guess = MaskedWords(setup.encoder, setup.generator)
        self.kind = setup.linear(setup.width, 3)
        if self.balance == "learnt":
            self.uncertainty = nn.Parameter(torch.zeros(3))
        return super().build(setup)

    def views(self, encode: Encode, batch: Rows) -> Views:
        same, opposite = ([table.replaced(text, self.share, self.generator) for text in batch] for table in self.tables)
        changed = [text for text, _ in same + opposite]
        labels = torch.cat([kind * replaced_tokens(encode, texts) for kind, texts in ((1, same), (2, opposite))])
        tokens, plain = encode.tokens(changed), encode.tokens(batch)
        kinds = self.kind(token_states(encode.encoder, tokens))[tokens["attention_mask"].bool()]
        masked, chosen = self.guess.mask(encode, plain, self.masked, self.generator)
        read = masked if self.contrast == "sigmoid" else batch
        anchor, positive, negative = encode(read, changed[: len(batch)], changed[len(batch) :])
        known = torch.tensor([bool(places) for _, places in opposite], device=anchor.device)
        replaced = F.cross_entropy(kinds, labels.to(kinds.device))
        words = self.guess.guessed(encode, plain, masked, chosen)
        return Views(anchor, positive, negative=negative, known=known, replaced=replaced, words=words)

    def loss(self, v: Views) -> Loss:
        terms = {**v.words.terms, "replaced": v.replaced, "apart": self._apart(v)}
        if self.balance == "sum":
            return Loss(terms)
        weighed = {name: (-u).exp() * term for u, (name, term) in zip(self.uncertainty, terms.items(), strict=True)}
        return Loss(weighed | {"uncertainty": self.uncertainty.clamp(min=0).sum()})

    def _apart(self, v: Views) -> Tensor:
        towards, away = ((v.anchor * other).sum(1).float() for other in (v.positive, v.negative))
        if self.contrast == "sigmoid":
            width = v.anchor.shape[1]
            positives, missed = F.softplus(-towards / width), F.softplus(away / width) * v.known
            return (positives.sum() + missed.sum()) / (len(positives) + v.known.sum())
        return (F.softplus(away - towards) * v.known).sum() / v.known.sum().clamp(min=1)
