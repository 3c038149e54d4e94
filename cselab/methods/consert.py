"""ConSERT (Yan et al. 2021): changed input vectors and positions in place of dropout. TSFC-BERT is its best pair."""

from collections.abc import Sequence
from typing import Any, Literal

from cselab.augmentations import cut_features, cut_tokens, first_position, inner_tokens, shuffle_positions
from cselab.encoder import SentenceEncoder
from cselab.encoding import Encode, Tokens
from cselab.losses import Loss, nt_xent
from cselab.methods.base import Views, register
from cselab.methods.contrastive import Contrastive
from cselab.methods.hyperparameters import Positive, Share
from cselab.methods.recipe import SURVEY_RECIPES

Change = Literal["feature_cutoff", "token_cutoff", "shuffling", "none"]


@register("consert", "ConSERT (TSFC-BERT)")
class ConSERT(Contrastive):
    """One view with features cut off, one with its tokens shuffled, and no dropout in the encoder.

        l = InfoNCE( f(cutoff(x)), f(shuffle(x)) )                             TSFC-BERT, survey section 5
        l = weight * NT-Xent( f(cutoff(x)), f(shuffle(x)) )                    ConSERT

    The default is the survey's TSFC-BERT. `variant="paper"` is ConSERT: NT-Xent over 2N views at 0.1;
    `variant="released"` also multiplies it by 0.15, as the code does. ConSERT's own setting is lr 5e-7, batches of 96,
    64 tokens, ten epochs, the mean of the last two layers (`last2_mean`), trained on the texts of the test sets.

    `first` and `second` choose what changes each view. Cutoff sets input vectors to 0 before position and type are
    added; dimensions of the whole sentence ("feature_cutoff") or tokens ("token_cutoff"). "shuffling" permutes
    positions; [CLS] and [SEP] stay.

    See also: `SimCSE`, whose only change is dropout.
    """

    family = "hidden states"
    first: Change = "feature_cutoff"
    second: Change = "shuffling"
    share: Share = 0.2
    objective: Literal["info_nce", "nt_xent"] = "info_nce"
    weight: Positive = 1.0

    variants = {
        "paper": {"objective": "nt_xent", "temperature": 0.1},
        "released": {"objective": "nt_xent", "temperature": 0.1, "weight": 0.15},
    }
    recipes = SURVEY_RECIPES

    def prepare(self, encoder: SentenceEncoder) -> None:
        super().prepare(encoder)
        if self.first == self.second == "none":
            raise ValueError("consert with first='none' and second='none' has two equal views: choose a change")

    def views(self, encode: Encode, batch: Sequence[Any]) -> Views:
        tokens = encode.tokens(batch)
        changed = [self._changed(encode, tokens, change) for change in (self.first, self.second)]
        return Views(*encode(*changed, dropout=False))

    def _changed(self, encode: Encode, tokens: Tokens, change: Change) -> Tokens:
        if change == "shuffling":
            return shuffle_positions(tokens, self.generator, first_position(encode.encoder.backbone))
        if change == "none":
            return tokens
        embeds = encode.encoder.backbone.get_input_embeddings()(tokens["input_ids"])
        if change == "feature_cutoff":
            embeds = cut_features(embeds, self.share, self.generator)
        else:
            embeds = cut_tokens(embeds, inner_tokens(tokens), self.share, self.generator)
        return {name: tensor for name, tensor in tokens.items() if name != "input_ids"} | {"inputs_embeds": embeds}

    def loss(self, v: Views) -> Loss:
        if self.objective == "info_nce":
            return self.weight * super().loss(v)
        return self.weight * nt_xent(v.anchor, v.positive, self.temperature)
