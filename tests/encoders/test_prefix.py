"""The deep prefix: what it adds to attention, and that it stays with its encoder."""

import pytest
import torch
from tiny import make_encoder, make_sentences, seeded
from torch.testing import assert_close

from cselab.encoders.adapters import DeepPrefix
from cselab.encoders.checkpoint import CheckpointError
from cselab.encoders.encoder import SentenceEncoder

SENTENCES = make_sentences(6)


def with_prefix(family="bert", length=3, scale=1.0, **options):
    encoder = make_encoder(family, **options)
    encoder.prefix = DeepPrefix.fresh(encoder.backbone, length, seeded())
    with torch.no_grad():
        for weight in encoder.prefix.parameters():
            weight.mul_(50 * scale)
    return encoder


def test_attention_agrees_with_the_formula():
    """One layer, by hand: the keys and values of the prefix stand before those of the tokens."""
    encoder = with_prefix(layers=1)
    tokens = encoder.tokenize(SENTENCES[:1])
    attention = encoder.backbone.encoder.layer[0].attention
    seen = {}
    attention.self.register_forward_hook(lambda module, given, out: seen.update(out=out[0]))
    states = encoder.backbone.embeddings(tokens["input_ids"])[0]
    encoder.pooled(tokens)
    query, key, value = (
        part(states).unflatten(1, (2, 4)).transpose(0, 1)
        for part in (attention.self.query, attention.self.key, attention.self.value)
    )
    keys = torch.cat([encoder.prefix.keys[0], key], dim=1)
    values = torch.cat([encoder.prefix.values[0], value], dim=1)
    expected = (query @ keys.mT / 2).softmax(2) @ values
    assert_close(seen["out"][0], expected.transpose(0, 1).flatten(1))


def test_in_training_each_row_drops_numbers():
    """In training each row drops numbers of the prefix out and the rest makes up for them."""
    encoder = with_prefix(layers=1, dropout=0.5, length=50)
    tokens = encoder.tokenize(SENTENCES)
    encoder.train()
    keys = encoder.prefix.before(tokens, encoder.backbone)["past_key_values"].layers[0].keys
    gone = keys == 0
    assert 0.4 < gone.float().mean() < 0.6 and not torch.equal(gone[0], gone[1])
    assert_close(keys[~gone], (2 * encoder.prefix.keys).expand_as(keys)[~gone])
    encoder.eval()
    keys = encoder.prefix.before(tokens, encoder.backbone)["past_key_values"].layers[0].keys
    assert torch.equal(keys, encoder.prefix.keys.expand_as(keys))


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_padding_does_not_matter_and_positions_stay(family):
    encoder = with_prefix(family)
    alone = torch.cat([encoder.pooled(encoder.tokenize([text])) for text in SENTENCES])
    assert_close(encoder.pooled(encoder.tokenize(SENTENCES)), alone, atol=1e-5, rtol=1e-5)
    plain = make_encoder(family)
    assert not torch.allclose(plain.pooled(plain.tokenize(SENTENCES)), alone, atol=1e-2)


def test_it_is_part_of_weights_hash_and_copy():
    encoder = with_prefix()
    before, other = encoder.weights_hash(), encoder.copy()
    with torch.no_grad():
        encoder.prefix.keys[0, 0, 0, 0] += 1
    assert encoder.weights_hash() != before == other.weights_hash() != make_encoder().weights_hash()


def test_it_is_saved_and_opened_with_the_encoder(tmp_path):
    encoder = with_prefix("roberta")
    encoder.save_pretrained(tmp_path / "kept")
    opened = SentenceEncoder.from_pretrained(tmp_path / "kept")
    assert opened.weights_hash() == encoder.weights_hash()
    assert (opened.encode(SENTENCES) == encoder.encode(SENTENCES)).all()
    make_encoder("roberta").save_pretrained(tmp_path / "kept")
    assert SentenceEncoder.from_pretrained(tmp_path / "kept").prefix is None


def test_sentence_transformers_refuses_the_folder(tmp_path):
    """Sentence transformers refuses the folder and says what opens it."""
    sentence_transformers = pytest.importorskip("sentence_transformers")
    with_prefix().save_pretrained(tmp_path / "kept")
    folder = str(tmp_path / "kept")
    with pytest.raises(ValueError, match=r"cselab\.encoders\.adapters\.DeepPrefix"):
        sentence_transformers.SentenceTransformer(folder, device="cpu")
    with pytest.raises(ValueError, match=r"deep prefix.*open it with cselab\.SentenceEncoder"):
        sentence_transformers.SentenceTransformer(folder, device="cpu", trust_remote_code=True)


@pytest.mark.parametrize("damage", ["missing", "cut"])
def test_a_damaged_prefix_is_named(tmp_path, damage):
    with_prefix().save_pretrained(tmp_path / "kept")
    file = tmp_path / "kept" / "prefix.safetensors"
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:40])
    with pytest.raises(CheckpointError, match=r"prefix\.safetensors"):
        SentenceEncoder.from_pretrained(tmp_path / "kept")
