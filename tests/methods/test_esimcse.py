"""ESimCSE: the second view is longer, and earlier batches are negatives."""

import torch
from tiny import make_encoder, make_sentences

from cselab.methods import ESimCSE, Setup

BATCHES = [make_sentences(24)[start : start + 8] for start in (0, 8, 16)]


def lengths(tokens):
    return tokens["attention_mask"].sum(1)


def test_the_second_view_has_some_tokens_twice(spied):
    method = ESimCSE(queue=0)
    encode, _ = spied(method)
    more = []
    for _ in range(12):
        method.views(encode, BATCHES[0])
        plain, longer = encode.calls[-1][0]
        more.append(lengths(longer) - lengths(plain))
    more = torch.stack(more)
    most = (0.32 * (lengths(plain) - 2)).long().clamp(min=2)
    assert (more >= 0).all() and torch.equal(more.amax(0), most)


def test_the_released_code_counts_otherwise():
    tokens = {"attention_mask": torch.ones(3, 45, dtype=torch.long)}
    tokens["attention_mask"][0, 5:] = tokens["attention_mask"][1, 20:] = 0
    assert ESimCSE()._most(tokens).tolist() == [2, 5, 13]
    assert ESimCSE(variant="released")._most(tokens).tolist() == [0, 5, 9]


def test_no_view_is_longer_than_the_model_can_read(spied):
    method = ESimCSE(queue=0, rate=1.0)
    encode, encoder = spied(method)
    encode.encode.max_length = encoder.max_length
    method.views(encode, [" ".join(["the cat sees"] * 20)] * 2 + BATCHES[0])
    assert lengths(encode.calls[-1][0][1]).max() == encoder.max_length


def test_the_queue_holds_earlier_batches(spied):
    """The queue holds earlier batches of the following encoder without dropout."""
    method = ESimCSE(queue=12)
    encode, _ = spied(method, dropout=0.5)
    sizes = []
    for batch in BATCHES:
        views = method.views(encode, batch)
        sizes.append(len(views.negatives))
        assert not views.negatives.requires_grad
    assert sizes == [0, 8, 12]
    assert [options["dropout"] for _, options in encode.calls if "by" in options] == [False] * 3
    newest = encode.head(encode(BATCHES[1], dropout=False, head=False))  # nothing has been trained
    torch.testing.assert_close(views.negatives[:8], newest.detach())


def test_the_surveys_variant_has_no_second_encoder():
    method = ESimCSE(variant="simclr")
    method.build(Setup(make_encoder(layers=1), []))
    assert not list(method.children())
