"""The head that guesses masked tokens: a bundled encoder has one already, another begins to learn."""

from math import log

from tiny import seeded

from cselab.encoders.encoder import SentenceEncoder
from cselab.encoders.training_forward import Encode
from cselab.methods.components.masked_words import MaskedWords
from cselab.world import World


def surprise(encoder):
    """The mean of -log p of masked tokens, before any training."""
    words = MaskedWords(encoder, seeded())
    encode = Encode(encoder.eval(), 32)
    tokens = encode.tokens([sentence.text for sentence in World(0).sentences(64)])
    return float(words(encode, tokens, 0.15, seeded()).total.detach())


def test_a_bundled_encoder_begins_with_the_head():
    """A bundled encoder begins with the head of its pretraining and guesses better than by chance."""
    pretrained, renamed = SentenceEncoder.from_pretrained("micro"), SentenceEncoder.from_pretrained("micro")
    renamed.name = "another"
    chance = log(pretrained.backbone.config.vocab_size)
    assert surprise(pretrained) < 0.7 * chance < 0.9 * chance < surprise(renamed)
