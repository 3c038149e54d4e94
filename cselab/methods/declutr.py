"""DeCLUTR (Giorgi et al. 2021): neighbouring spans of one document."""

import torch

from cselab.augmentations import draw_spans
from cselab.losses import Loss, nt_xent
from cselab.methods import (
    Contrastive,
    Encode,
    Head,
    Recipe,
    Rows,
    SentenceEncoder,
    Setup,
    TokenizedBatch,
    Views,
    register,
)
from cselab.methods.components import MaskedWords
from cselab.methods.hyperparameters import NonNegativeFloat, PositiveInt, UnitInterval


@register("declutr", "DeCLUTR")
class DeCLUTR(Contrastive):
    """Contrasts anchor spans of a document with the mean of overlapping or adjacent spans, and predicts masked words.

        l = NT-Xent( f(masked anchor_a), mean_p f(span_ap) ) + weight * masked words(anchor_a),   a = 1 ... A N

    Two anchors of each of N documents, two spans for each; the remaining anchors of the same document are negatives,
    too. The anchors that are contrasted are those whose masked words are guessed; with `weight` 0 nothing is masked.
    All of this is as in the released code, which has no head either. The code reads the anchors once for all terms; in
    cselab the second term reads them again, with a new dropout mask.

    `shortest` and `longest` are shares of a document: a 64th and a quarter, which equal the paper's 32 and 512 for its
    documents of 2,048 tokens. Lengths are drawn as in the code, from Beta(4, 2) for anchors and Beta(2, 4) for spans.
    The code keeps the anchors of a document apart; here they may overlap. Rows are documents: the world's have five
    sentences, a user's file has one document a line.

    See also: `cselab.augmentations.draw_spans`; `CLEAR`, the same two terms for sentences.
    """

    family = "extra data"
    positives_by_dropout = False
    columns = ("document",)
    anchors: PositiveInt = 2
    positives: PositiveInt = 2
    shortest: UnitInterval = 1 / 64
    longest: UnitInterval = 1 / 4
    weight: NonNegativeFloat = 1.0
    masked: UnitInterval = 0.15
    head = "none"

    recipes = {"roberta-base": Recipe(lr=5e-5, batch_size=4, max_length=512, pooling="mean")}

    def prepare(self, encoder: SentenceEncoder) -> None:
        super().prepare(encoder)
        if not self.shortest <= self.longest:
            raise ValueError(
                f"shortest is {self.shortest} and longest {self.longest}, shares of a document: shortest comes first"
            )

    def build(self, setup: Setup) -> Head:
        if self.weight:
            self.guess = MaskedWords(setup.encoder, setup.generator)
        return super().build(setup)

    def views(self, encode: Encode, batch: Rows) -> Views:
        sizes = self.anchors, self.positives, self.shortest, self.longest
        drawn = [draw_spans(document, *sizes, self.generator) for document in batch]
        anchors = [anchor for of_document, _ in drawn for anchor in of_document]
        near = [spans for _, of_document in drawn for spans in of_document]
        tokens: TokenizedBatch = encode.tokens(anchors)
        read = tokens
        if self.weight:
            read, chosen = self.guess.mask(encode, tokens, self.masked, self.generator)
        anchor, *spans = encode(read, *(list(each) for each in zip(*near, strict=True)))
        v = Views(anchor, torch.stack(spans).mean(0))
        if self.weight:
            v.masked_words = self.guess.guessed(encode, tokens, read, chosen)
        return v

    def loss(self, v: Views) -> Loss:
        pairs = nt_xent(v.anchor, v.positive, self.temperature)
        return pairs + self.weight * v.masked_words if self.weight else pairs
