"""Encoders refuse what they cannot encode or be: the message names it, what was given and what is allowed."""

import numpy as np
from refusals import check_refused, refusals
from tiny import make_encoder

NAMES, each_refusal = refusals("encoders/refusals.md")


@each_refusal
def test_an_encoder_refuses_and_stays_as_it_was(kind, words, call):
    tiny = make_encoder()
    check_refused(kind, words, call, NAMES, tiny=tiny)
    assert (tiny.pooling, tiny.representation) == ("mean", "backbone")
    assert np.array_equal(tiny.encode("a dog"), make_encoder().encode("a dog"))
