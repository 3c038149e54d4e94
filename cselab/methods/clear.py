"""CLEAR (Wu et al. 2020): each view is a changed text, and masked words are predicted too."""

from typing import Any, Literal

from cselab.augmentations import delete_span, delete_words, reorder_spans
from cselab.losses import Loss, nt_xent
from cselab.methods import Contrastive, Encode, Head, Rows, Setup, Views, register
from cselab.methods.components import MaskedWords, synonyms
from cselab.methods.hyperparameters import NonNegativeFloat, UnitInterval

Change = Literal["substitution", "span_deletion", "word_deletion", "reordering"]


@register("clear", "CLEAR")
class CLEAR(Contrastive):
    """NT-Xent between two changed copies of a sentence (none is the original), plus masked-word prediction.

        l = NT-Xent( f(first(x)), f(second(x)) ) + weight * masked words(x)

    Its best pair is the default: synonyms in the first view, a deleted span in the second. CLEAR pretrains a RoBERTa
    from scratch with these terms; cselab continues training with them. No code was released, and the texts at
    hand give neither the shares of words that change nor the temperature: those here are values to begin with. The
    paper evaluates on GLUE and SentEval only, so it prints no settings to copy.

    `table`: as in `SRBERT`.

    See also: `cselab.augmentations`, where the four changes are.
    """

    family = "text"
    positives_by_dropout = False
    first: Change = "substitution"
    second: Change = "span_deletion"
    share: UnitInterval = 0.2
    table: str | None = None
    weight: NonNegativeFloat = 1.0
    masked: UnitInterval = 0.15

    def build(self, setup: Setup) -> Head:
        if "substitution" in (self.first, self.second):
            self.synonyms = synonyms(self.table)
        if self.weight:
            self.guess = MaskedWords(setup.encoder, setup.generator)
        return super().build(setup)

    def views(self, encode: Encode, batch: Rows) -> Views:
        v = Views(*encode(*(self._changed(batch, change) for change in (self.first, self.second))))
        if self.weight:
            v.masked_words = self.guess(encode, encode.tokens(batch), self.masked, self.generator)
        return v

    def _changed(self, batch: Rows, change: Change) -> list[str]:
        changes: dict[str, Any] = {
            "span_deletion": delete_span,
            "word_deletion": delete_words,
            "reordering": reorder_spans,
        }
        return (changes.get(change) or self.synonyms)(batch, self.share, self.generator)

    def loss(self, v: Views) -> Loss:
        pairs = nt_xent(v.anchor, v.positive, self.temperature)
        return pairs + self.weight * v.masked_words if self.weight else pairs
