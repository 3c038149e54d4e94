"""DeCLUTR (Giorgi et al. 2021): spans of one document that lie near each other."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from cselab.augmentations import draw_spans
from cselab.encoder import SentenceEncoder
from cselab.encoding import Encode
from cselab.losses import Loss, nt_xent
from cselab.methods.base import Views, register
from cselab.methods.contrastive import Contrastive
from cselab.methods.hyperparameters import Count, NonNegative, Share
from cselab.methods.pieces import MaskedWords
from cselab.methods.recipe import Recipe


@register("declutr", "DeCLUTR")
class DeCLUTR(Contrastive):
    """Anchors of a document against the mean of spans that overlap them or lie beside, and masked words.

        l = NT-Xent( f(anchor_a), mean_p f(span_ap) ) + weight * masked words,   a = 1 ... A N

    Two anchors of each of N documents, two spans for each; the other anchors of the same document are negatives, too.
    `shortest` and `longest` are shares of a document: a 64th and a quarter, which of the 2,048 tokens that the paper
    asks for are its 32 and 512. The exact shape of the lengths' distribution is not checked against the paper.
    Rows are documents: the world's have five sentences, a user's file has one document a line.

    See also: `cselab.augmentations.draw_spans`; `CLEAR`, the same two terms for sentences.
    """

    family = "extra data"
    columns = ("document",)
    anchors: Count = 2
    positives: Count = 2
    shortest: Share = 1 / 64
    longest: Share = 1 / 4
    weight: NonNegative = 1.0
    masked: Share = 0.15

    recipes = {"roberta-base": Recipe(lr=5e-5, batch_size=4, max_length=512, pooling="mean")}

    def prepare(self, encoder: SentenceEncoder) -> None:
        super().prepare(encoder)
        if not self.shortest <= self.longest:
            raise ValueError(
                f"shortest is {self.shortest} and longest {self.longest}, shares of a document: shortest comes first"
            )

    def build(self, encoder: SentenceEncoder, rows: Sequence[Any], generator: torch.Generator) -> nn.Module | None:
        if self.weight:
            self.guess = MaskedWords(encoder, generator)
        return super().build(encoder, rows, generator)

    def views(self, encode: Encode, batch: Sequence[Any]) -> Views:
        sizes = self.anchors, self.positives, self.shortest, self.longest
        drawn = [draw_spans(document, *sizes, self.generator) for document in batch]
        anchors = [anchor for found, _ in drawn for anchor in found]
        near = [spans for _, found in drawn for spans in found]
        anchor, *spans = encode(anchors, *(list(each) for each in zip(*near, strict=True)))
        v = Views(anchor, torch.stack(spans).mean(0))
        if self.weight:
            v.masked_words = self.guess(encode, encode.tokens(anchors), self.masked, self.generator)
        return v

    def loss(self, v: Views) -> Loss:
        pairs = nt_xent(v.anchor, v.positive, self.temperature)
        return pairs + self.weight * v.masked_words if self.weight else pairs
