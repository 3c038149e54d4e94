import copy

import pytest
import torch
from tiny import differing, make_encoder, make_sentences, make_tokenizer, seeded
from transformers import BertConfig, BertForMaskedLM

from cselab import SentenceEncoder
from cselab.encoders.checkpoint import CheckpointError
from cselab.methods import DiffCSE
from cselab.methods.components import MaskedLMGenerator


def tokens_and_blanks(encoder, share=0.5):
    tokens = encoder.tokenize(make_sentences(20))
    inner = tokens["attention_mask"].bool()
    return tokens, inner & (torch.rand(inner.shape, generator=seeded(1)) < share)


def test_the_term_is_the_cross_entropy(viewed, batch):
    """The term is the cross entropy of which tokens were replaced."""
    method = DiffCSE(weight=0.5, masked=0.6)
    v, *_ = viewed(method, batch, dropout=0.5)
    said = torch.where(v.replaced == 1, v.detected.sigmoid(), 1 - v.detected.sigmoid())
    assert 0 < v.replaced.mean() < 0.8
    assert method.loss(v).floats()["replaced_tokens"] == pytest.approx(-0.5 * said.log().mean().item(), rel=1e-5)


@pytest.mark.parametrize("masked, expected", [(0.0, 0.0), (1.0, 0.5)])
def test_only_masked_tokens_are_replaced(masked, expected, trainer, batch):
    method = DiffCSE(masked=masked)
    v = method.views(trainer(method)[0], batch)
    assert v.replaced.mean() >= expected and (masked or v.replaced.sum() == 0)


def test_only_the_sentence_s_own_tokens_are_judged(trainer, batch):
    """Only the sentence's own tokens are judged and in the released code all places."""
    lengths = make_encoder().tokenize(batch)["attention_mask"]
    detected = {}
    for variant in ("paper", "released"):
        method = DiffCSE(variant=variant)
        detected[variant] = len(method.views(trainer(method)[0], batch).detected)
    assert detected == {"paper": int((lengths.sum(1) - 2).sum()), "released": lengths.numel()}


def test_the_encoder_learns_from_the_discriminator_through(trainer, batch):
    """The encoder learns from the discriminator through the sentence vector alone."""
    method = DiffCSE()
    encode, encoder = trainer(method, dropout=0)
    tokens = encode.tokens(batch)
    h = torch.randn(12, 8, requires_grad=True)
    method.detected(h, tokens).sum().backward()
    assert h.grad.abs().max() > 0
    assert encoder.backbone.embeddings.word_embeddings.weight.grad is None
    assert method.discriminator.embeddings.word_embeddings.weight.grad.abs().max() > 0
    other = method.detected(torch.zeros(12, 8), tokens)
    assert not torch.allclose(other, method.detected(h, tokens))
    assert not method.discriminator.embeddings._forward_hooks


def test_h_stands_where_the_first_token_was_embedded(trainer, batch):
    """With its own first embedding put in, the discriminator reads the sentence as if nothing were replaced."""
    method = DiffCSE()
    encode, _ = trainer(method, dropout=0)
    tokens = encode.tokens(batch)
    with torch.no_grad():
        own = method.discriminator.embeddings(tokens["input_ids"], tokens["token_type_ids"])[:, 0]
        plain = method.verdict(method.discriminator(**tokens).last_hidden_state)[..., 0]
        torch.testing.assert_close(method.detected(own, tokens), plain)


def test_the_generator_stays_as_it_was_and_fills_blanks_only():
    encoder = make_encoder(layers=1)
    generator = MaskedLMGenerator(encoder)
    before = copy.deepcopy(generator.state_dict())
    generator.train()
    tokens, blanks = tokens_and_blanks(encoder)
    mask = encoder.tokenizer.mask_token_id
    filled = generator.fill(tokens, blanks, mask, seeded())
    assert torch.equal(filled[~blanks], tokens["input_ids"][~blanks])
    assert (filled[blanks] != tokens["input_ids"][blanks]).float().mean() > 0.3
    assert torch.equal(filled, generator.fill(tokens, blanks, mask, seeded()))
    assert not torch.equal(filled, generator.fill(tokens, blanks, mask, seeded(1)))
    assert not any(weight.requires_grad for weight in generator.parameters())
    assert not differing(generator, before)


def test_a_masked_language_model_of_one_s_own_guesses(tmp_path):
    """A masked language model of one's own guesses from its softmax."""
    encoder = make_encoder(layers=1)
    config = BertConfig(
        vocab_size=len(make_tokenizer()),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
    )
    lm = BertForMaskedLM(config).eval()
    with torch.no_grad():
        lm.cls.predictions.bias[:] = -100
        lm.cls.predictions.bias[7] = 100
    lm.save_pretrained(tmp_path / "lm")
    tokens, blanks = tokens_and_blanks(encoder)
    generator = MaskedLMGenerator(encoder, str(tmp_path / "lm"))
    assert (generator.fill(tokens, blanks, 4, seeded())[blanks] == 7).all()
    assert (generator.fill(tokens, blanks, 4, seeded(), "argmax") == 7).all()
    encoder.save_pretrained(tmp_path / "encoder")
    with pytest.raises(CheckpointError, match=r"is no masked language model: cls\."):
        MaskedLMGenerator(encoder, str(tmp_path / "encoder"))
    with pytest.raises(ValueError, match=r"micro has a vocabulary of 8192 tokens, the encoder one of \d+: use a"):
        MaskedLMGenerator(encoder, "micro")


def test_a_bundled_encoder_guesses_with_the_output_layer():
    """A bundled encoder guesses with the output layer of its pretraining."""
    encoder = SentenceEncoder.from_pretrained("micro")
    tokens = encoder.tokenize(["The dog slept in the [MASK]."])
    blanks = tokens["input_ids"] == encoder.tokenizer.mask_token_id
    logits = MaskedLMGenerator(encoder).lm(**tokens).logits[blanks]
    likely = encoder.tokenizer.convert_ids_to_tokens(logits[0].topk(50).indices.tolist())
    assert {"room", "house", "park", "garden", "street", "water", "city"} & set(likely), likely
