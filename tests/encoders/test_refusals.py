"""Encoders refuse what they cannot encode or be: the message names it, what was given and what is allowed."""

import numpy as np
import pytest
import torch
from tiny import LONGEST, PROMPTS, make_backbone, make_encoder, make_sentences, make_tokenizer
from torch import nn

from cselab.encoders.encoder import SentenceEncoder, UntrainedWeightsError, set_dropout
from cselab.encoders.heads import MLPHead, WhitenedHead
from cselab.encoders.pooling import POOLINGS, get_pooling
from cselab.evaluators import named_encoder
from cselab.sgw import ShuffledGroupWhitening


def built(*more, pooler=True, **options):
    return SentenceEncoder(make_backbone(pooler=pooler), make_tokenizer(), *more, **options)


def be(name, value):
    return lambda tiny: setattr(tiny, name, value)


WHITENED = WhitenedHead(ShuffledGroupWhitening(6), MLPHead(6, torch.Generator()))
TEMPLATES = ("no place {sentence}", "{sentence} [MASK] [MASK]", "[MASK]", "")
REFUSED = {
    ValueError: [
        (lambda tiny: tiny.encode(["good", "good", ""]), r"sentences\[2\] is an empty string"),
        (lambda tiny: tiny.encode(["good", " \u200b"]), r"sentences\[1\] is an empty string"),
        (lambda tiny: tiny.encode(["good", " \t\n"]), r"sentences\[1\] is an empty string"),
        (lambda tiny: tiny.encode(""), r"sentences\[0\] is an empty string"),
        (lambda tiny: tiny.encode([]), "sentences is empty"),
        (lambda tiny: tiny.encode(make_sentences(3), batch_size=0), "batch_size is 0.*at least 1"),
        (lambda tiny: tiny.tokenize(["a"], 10, "no place for it"), r"a template has \{sentence\}"),
        *((lambda tiny, n=n: built(max_length=n), f"max_length .*3 .*48.* {n}") for n in (2, LONGEST + 1)),
        (lambda tiny: built("mask", template=PROMPTS["bert"], max_length=8), "max_length .*9 .*48.* 8"),
        *((lambda tiny, t=t: built("mask", template=t), r"\{sentence\} and \[MASK\] once each") for t in TEMPLATES),
        *((be("max_length", n), "max_length") for n in (0, 2, 10**6, None, "32")),
        (be("pooling", "mask"), "'mask' and a template belong together"),
        (lambda tiny: be("pooling", "mean")(make_encoder(pooling="mask")), "'mask' and a template belong together"),
        (be("pooling", "max"), "unknown pooling 'max'.*mean"),
        (lambda tiny: get_pooling("max"), "unknown pooling 'max'.*" + ", ".join(POOLINGS)),
        (lambda tiny: get_pooling("avg_first_last"), "'first-last average' means emb_last_mean"),
        (be("representation", "haed"), r"unknown representation 'haed'\. Did you mean 'head'"),
        *((be("dropout", p), "dropout is .*at least 0, below 1") for p in (-0.1, 1.0, float("nan"))),
        (lambda tiny: set_dropout(nn.Linear(2, 2), 0.1), "Linear has no place for dropout"),
        (lambda tiny: named_encoder("word-overlap", precision="bf16"), "word-overlap .* no precision"),
        (lambda tiny: list(WHITENED.dense_layers()), "training mode"),
    ],
    TypeError: [
        (lambda tiny: tiny.encode(["good", None, "good"]), r"sentences\[1\] is None of type NoneType"),
        (lambda tiny: tiny.encode(["good", 3.5]), r"sentences\[1\] is 3.5 of type float"),
        (lambda tiny: tiny.encode([b"bytes"]), r"sentences\[0\] is b'bytes' of type bytes"),
        (lambda tiny: tiny.encode(None), "sentences is None"),
        (lambda tiny: SentenceEncoder(tiny.backbone), r"tokenizer: SentenceEncoder\(backbone, tokenizer\)"),
    ],
    UntrainedWeightsError: [
        (be("representation", "head"), "none: train one, or use 'backbone'"),
        (lambda tiny: built("cls_pooler", pooler=False), "the pooler of this encoder was neither trained nor loaded"),
        (lambda tiny: be("pooling", "cls_pooler")(make_encoder(pooler=False)), "the pooler of tiny .*'cls_pooler'"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "call", "said"), [(kind, *case) for kind in REFUSED for case in REFUSED[kind]])
def test_an_encoder_refuses_and_stays_as_it_was(kind, call, said):
    tiny = make_encoder()
    with pytest.raises(kind, match=said):
        call(tiny)
    assert (tiny.pooling, tiny.representation) == ("mean", "backbone")
    assert np.array_equal(tiny.encode("a dog"), make_encoder().encode("a dog"))
