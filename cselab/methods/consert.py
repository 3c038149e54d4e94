"""ConSERT (Yan et al. 2021): changed input vectors and positions instead of dropout. TSFC-BERT is its best pair."""

from typing import Literal

from cselab.augmentations import cut_features, cut_tokens, shuffle_positions
from cselab.encoders.text import first_position
from cselab.losses import Loss, nt_xent
from cselab.methods import SURVEY_RECIPES, Contrastive, Encode, Rows, SentenceEncoder, TokenizedBatch, Views, register
from cselab.methods.hyperparameters import PositiveFloat, UnitInterval

Change = Literal["feature_cutoff", "token_cutoff", "shuffling", "none"]


@register("consert", "ConSERT (TSFC-BERT)")
class ConSERT(Contrastive):
    """One view has some features set to zero, the second has shuffled tokens; the encoder has no dropout.

        l = InfoNCE( f(cutoff(x)), f(shuffle(x)) )                             TSFC-BERT, survey section 5
        l = weight * NT-Xent( f(cutoff(x)), f(shuffle(x)) )                    ConSERT

    The default is the survey's TSFC-BERT. `variant="paper"` is ConSERT: NT-Xent over 2N views at 0.1, without a head;
    `variant="released"` also multiplies it by 0.3: the code has 0.15 of the sum of the directions. ConSERT's own
    setting is lr 5e-7, batches of 96, 64 tokens, ten epochs on the texts of the test sets; it trains the mean of the
    last layer and is tested with that of the last two (`last2_mean`).

    `first` and `second` choose the change of each view. Cutoff sets parts of the embedding layer's output to 0:
    dimensions of the whole sentence ("feature_cutoff") or tokens ("token_cutoff"). "shuffling" permutes positions.
    [CLS] and [SEP] stay where they are; in the code they are shuffled and cut, too.

    See also: `SimCSE`, whose only change is dropout.
    """

    family = "hidden states"
    positives_by_dropout = False
    first: Change = "feature_cutoff"
    second: Change = "shuffling"
    share: UnitInterval = 0.2
    objective: Literal["info_nce", "nt_xent"] = "info_nce"
    weight: PositiveFloat = 1.0

    variants = {
        "paper": {"objective": "nt_xent", "temperature": 0.1, "head": "none"},
        "released": {"objective": "nt_xent", "temperature": 0.1, "head": "none", "weight": 0.3},
    }
    recipes = SURVEY_RECIPES

    def prepare(self, encoder: SentenceEncoder) -> None:
        super().prepare(encoder)
        if self.first == self.second == "none":
            raise ValueError("consert with first='none' and second='none' has two equal views: choose a change")

    def views(self, encode: Encode, batch: Rows) -> Views:
        tokens = encode.tokens(batch)
        changed = [self._changed(encode, tokens, change) for change in (self.first, self.second)]
        return Views(*encode(*changed, dropout=False))

    def _changed(self, encode: Encode, tokens: TokenizedBatch, change: Change) -> TokenizedBatch:
        if change == "shuffling":
            return shuffle_positions(tokens, self.generator, first_position(encode.encoder.backbone))
        if change == "feature_cutoff":
            return cut_features(tokens, encode.encoder.hidden_size, self.share, self.generator)
        return cut_tokens(tokens, self.share, self.generator) if change == "token_cutoff" else tokens

    def loss(self, v: Views) -> Loss:
        if self.objective == "info_nce":
            return self.weight * super().loss(v)
        return self.weight * nt_xent(v.anchor, v.positive, self.temperature)
