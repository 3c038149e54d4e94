"""What a method calls: views of texts or tokens, together in one pass, with or without dropout, by any encoder."""

import copy

import pytest
import torch
from tiny import make_encoder, make_sentences, seeded
from torch.testing import assert_close

from cselab.encoders.heads import MLPHead
from cselab.encoders.training_forward import Encode

BATCH = make_sentences(6)
OTHERS = make_sentences(6, seed=9)


@pytest.fixture
def encode():
    encoder = make_encoder(layers=1, dropout=0.3)
    encoder.attach_head(MLPHead(8, seeded()))
    encoder.train()
    torch.manual_seed(0)
    return Encode(encoder, 32)


@pytest.fixture
def widths():
    """(rows, tokens) of each forward pass of the backbone that `passes` sees."""
    return []


@pytest.fixture
def passes(encode, widths, monkeypatch):
    """(rows, dropout on) of each forward pass of the backbone."""
    seen, forward = [], encode.encoder.backbone.forward

    def spy(**features):
        seen.append((len(features["attention_mask"]), encode.encoder.backbone.training))
        widths.append(tuple(features["attention_mask"].shape))
        return forward(**features)

    monkeypatch.setattr(encode.encoder.backbone, "forward", spy)
    return seen


def test_the_views_of_a_call_share_a_pass(encode, passes):
    """The views of a call share a pass and have a dropout mask each."""
    one, two, other = encode(BATCH, BATCH, OTHERS)
    assert passes == [(18, True)]
    assert one.shape == two.shape == other.shape == (6, 8)
    assert (one - two).abs().max() > 1e-3


def test_a_text_given_twice_is_tokenised_once(encode, monkeypatch):
    calls, tokenized = [], encode.encoder.tokenized
    monkeypatch.setattr(encode.encoder, "tokenized", lambda *args: calls.append(args) or tokenized(*args))
    encode(BATCH, BATCH, BATCH)
    assert len(calls) == 1


def test_tokens_are_the_text_and_may_be_changed(encode, passes):
    tokens = encode.tokens(BATCH)
    assert_close(encode(tokens, dropout=False), encode(BATCH, dropout=False))
    embeds = encode.encoder.backbone.get_input_embeddings()(tokens["input_ids"])
    rest = {name: tensor for name, tensor in tokens.items() if name != "input_ids"}
    assert_close(encode({"inputs_embeds": embeds, **rest}, dropout=False), encode(BATCH, dropout=False))
    passes.clear()
    turned = {**tokens, "position_ids": torch.arange(tokens["input_ids"].shape[1]).flip(0).expand(6, -1)}
    plain, reordered = encode(tokens, turned, dropout=False)
    assert passes == [(6, False), (6, False)]  # other names: no common pass
    assert encode.encoder.backbone.training  # dropout was off for the calls alone
    assert (plain - reordered).abs().max() > 1e-3


def test_a_template_wraps_the_text_and_is_never_cut(encode):
    template = "this sentence : {sentence} means [MASK] ."
    tokenizer = encode.encoder.tokenizer
    before = tokenizer(BATCH)["input_ids"]
    short = encode.encoder.tokenize(OTHERS, 10, template)
    for ids, mask in zip(short["input_ids"], short["attention_mask"], strict=True):
        text = tokenizer.decode(ids[mask.bool()])
        assert text.startswith("[CLS] this sentence :") and text.endswith("means [MASK]. [SEP]")
        assert mask.sum() <= 10
    assert tokenizer(BATCH)["input_ids"] == before


def test_another_encoder_encodes(encode):
    """Another encoder encodes and one that is frozen has no gradient."""
    frozen = copy.deepcopy(encode.encoder).requires_grad_(False)
    with torch.no_grad():
        frozen.backbone.embeddings.word_embeddings.weight.mul_(2)
    own, other = encode(BATCH, dropout=False), encode(BATCH, by=frozen, dropout=False)
    assert (own - other).abs().max() > 1e-3
    assert own.requires_grad and not other.requires_grad
    embeds = torch.randn(6, 5, 8, requires_grad=True)
    seen = encode({"inputs_embeds": embeds, "attention_mask": torch.ones(6, 5, dtype=torch.long)}, by=frozen)
    assert seen.requires_grad  # the gradient that is asked for is that of the input


# ------------------------------------------------------------------------------------------ part by part


def gradients(encode, dropout):
    """Of a loss in which every vector meets every other, by the weights."""
    torch.manual_seed(3)
    one, two = encode(BATCH, OTHERS, dropout=dropout)
    (one @ two.T).logsumexp(1).sum().backward()
    found = [weight.grad.clone() for weight in encode.encoder.parameters() if weight.grad is not None]
    encode.encoder.zero_grad()
    return found


@pytest.mark.parametrize("size", [1, 5, 12, 100])
def test_part_by_part_gives_the_gradient_of_the_whole_batch(encode, passes, size):
    """Part by part gives the gradient of the whole batch and no pass is larger."""
    whole = gradients(encode, dropout=False)
    passes.clear()
    encode.mini_batch_size = size
    for ours, theirs in zip(gradients(encode, dropout=False), whole, strict=True):
        assert_close(ours, theirs, rtol=0, atol=1e-6)
    assert max(rows for rows, _ in passes) == min(size, 12)
    assert not any(on for _, on in passes)  # in the pass of the backward step neither


def test_the_second_pass_of_a_part_has_the_dropout_masks(encode):
    """The second pass of a part has the dropout masks of the first."""
    encode.mini_batch_size = 4
    ours = gradients(encode, dropout=True)
    torch.manual_seed(3)
    stacked = encode.tokens([*BATCH, *OTHERS])
    order, parts = encode._parts(stacked["attention_mask"])
    assert len(parts) >= 3
    vectors = torch.cat(
        [
            encode.encoder.pooled({name: tensor[order[own], :length] for name, tensor in stacked.items()})
            for own, length in parts
        ]
    )[order.argsort()]
    one, two = (encode.head(z) for z in vectors.unflatten(0, (2, 6)))
    (one @ two.T).logsumexp(1).sum().backward()
    theirs = [weight.grad for weight in encode.encoder.parameters() if weight.grad is not None]
    for a, b in zip(ours, theirs, strict=True):
        assert_close(a, b, rtol=0, atol=1e-6)


# ------------------------------------------------------------------------------------------ parts by length

SHORT, LONG = ["a cat", "a dog", "this bird"] * 8, [" ".join(["the old house"] * n) for n in (9, 10)]
MIXED = [*SHORT[:7], LONG[0], *SHORT[7:], LONG[1]]


@pytest.mark.parametrize("texts, cut", [(MIXED, [(48, 4), (4, 32)]), (SHORT, [(48, 4)])])
def test_a_few_long_texts_do_not_make_the_short_ones_long(encode, passes, widths, texts, cut):
    encode(texts, texts)
    assert widths == cut


def test_changed_tokens_keep_all_that_belongs_to_a_row(encode, passes, widths):
    tokens = encode.tokens(MIXED)
    rows, length = tokens["attention_mask"].shape
    embeds = encode.encoder.backbone.get_input_embeddings()(tokens["input_ids"]).detach().requires_grad_()
    mask = tokens["attention_mask"].clone()
    mask[7, 5:] = 0  # the first of the long ones ends early
    changed = {
        "attention_mask": mask,
        "inputs_embeds": embeds,
        "position_ids": torch.arange(length).flip(0).expand(rows, -1),
        "embedding_mask": torch.linspace(0, 1, rows * length).view(rows, length, 1),
    }
    widths.clear()
    ours = encode(changed, dropout=False, head=False)
    assert widths == [(25, 5), (1, 32)]
    encode.encoder.eval()
    theirs = encode.encoder.pooled(changed)
    assert_close(ours, theirs, rtol=0, atol=1e-6)
    slopes = [torch.autograd.grad(z.square().sum(), embeds)[0] for z in (ours, theirs)]
    assert_close(*slopes, rtol=0, atol=1e-6)


def test_a_row_that_pads_on_the_left_keeps_its_words(encode):
    tokens = encode.tokens(MIXED)
    turned = {name: tensor.flip(1) for name, tensor in tokens.items()}
    ours = encode(turned, dropout=False, head=False)
    encode.encoder.eval()
    assert_close(ours, encode.encoder.pooled(turned), rtol=0, atol=1e-6)


def test_a_device_with_a_queue_is_not_asked_how_long_its_rows(encode):
    """A device with a queue is not asked how long its rows are."""
    elsewhere = torch.ones(12, 30, dtype=torch.long, device="meta")  # has no numbers to give
    assert encode._parts(elsewhere)[1] == [(slice(0, 12), 30)]
    encode.mini_batch_size = 5
    assert encode._parts(elsewhere)[1] == [(slice(0, 5), 30), (slice(5, 10), 30), (slice(10, 15), 30)]
