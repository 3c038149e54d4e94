import numpy as np
import pytest
import torch
from pretraining.corpus import train_tokenizer
from pretraining.warm_start import FREQUENT, GAIN, SHARED, SPREAD, start_embeddings, token_vectors
from transformers import BertConfig, BertModel

from cselab import SentenceEncoder
from cselab.world import World

WIDTH = 32


@pytest.fixture(scope="module")
def text():
    return [sentence.text for sentence in World(seed=0).sentences(300)]


@pytest.fixture(scope="module")
def ours(text):
    return train_tokenizer(text, 500)


@pytest.fixture(scope="module")
def counts(ours, text):
    """How often each token stands in the text."""
    ids = [one for sentence in text for one in ours(sentence, add_special_tokens=False).input_ids]
    return np.bincount(ids, minlength=len(ours))


@pytest.fixture(scope="module")
def often(ours, counts):
    """The same, with each special token as often as the most frequent one: they stand in every row."""
    return [max(counts) if token in ours.all_special_ids else n for token, n in enumerate(counts)]


@pytest.fixture(scope="module")
def encoder():
    return SentenceEncoder.from_pretrained("micro")


@pytest.fixture(scope="module")
def folder(encoder, tmp_path_factory):
    path = tmp_path_factory.mktemp("encoder")
    encoder.save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def averaged(ours, encoder):
    """Each token's vector, or the mean of its pieces' vectors, by the encoder's own tokenizer, in float64."""
    table = encoder.backbone.get_input_embeddings().weight.detach().double()
    theirs, rows = encoder.tokenizer, []
    for token in ours.convert_ids_to_tokens(range(len(ours))):
        if token in theirs.get_vocab():
            rows.append(table[theirs.convert_tokens_to_ids(token)])
        else:
            pieces = theirs(token.removeprefix("##"), add_special_tokens=False).input_ids
            rows.append(torch.stack([table[piece] for piece in pieces]).mean(dim=0))
    return torch.stack(rows)


@pytest.fixture(scope="module")
def table(ours, folder, counts):
    return token_vectors(ours, folder, WIDTH, counts).double()


@pytest.fixture(scope="module")
def shared():
    return torch.tensor([SHARED, -SHARED] * (WIDTH // 2), dtype=torch.float64)


@pytest.mark.slow
def test_the_table_is_that_of_a_slow_reference(table, shared, counts, often, averaged):
    """The eigenvectors of the covariance over running text, each token repeated as often as it occurs."""
    text = averaged.repeat_interleave(torch.from_numpy(counts), dim=0)
    covariance = torch.cov(text.T, correction=0)
    _, vectors = torch.linalg.eigh(covariance)
    kept = vectors.flip(1)[:, 1 : 1 + WIDTH]  # 128 // 100 is one component less
    wanted = (averaged - text.mean(dim=0)) @ kept
    wanted = torch.stack([v * FREQUENT / (FREQUENT + n / sum(often)) for v, n in zip(wanted, often, strict=True)])
    found = table - shared
    wanted = wanted * (wanted * found).sum(dim=0).sign()  # a component has no sign, but the mean in std has
    wanted = wanted * SPREAD / wanted.std()
    assert torch.allclose(found.abs(), wanted.abs(), rtol=1e-3, atol=3e-4)  # a component has no sign
    assert torch.allclose(found @ found.T, wanted @ wanted.T, rtol=1e-3, atol=3e-4)


@pytest.fixture
def embeddings(table):
    """BERT's own embedding layer, without dropout."""
    return BertModel(BertConfig(vocab_size=len(table), hidden_size=WIDTH, num_attention_heads=1)).embeddings.eval()


def test_the_embedding_layer_keeps_what_tokens_share_and_lets_the_rest_stand_out(table, counts, embeddings):
    """Through the module itself, at a position that is like all others."""
    ids = torch.arange(len(table))
    with torch.no_grad():
        embeddings.position_embeddings.weight[:] = torch.randn(WIDTH) * 0.02
        embeddings.word_embeddings.weight[:] = table
        before = embeddings(ids[None])[0].double()
        start_embeddings(embeddings, table.float(), counts, length=16)
        after = embeddings(ids[None])[0].double()
    shares = torch.from_numpy(counts / counts.sum())
    assert torch.allclose(shares @ after, shares @ before, atol=1e-4)
    assert torch.allclose(after - shares @ after, GAIN * (before - shares @ before), atol=1e-4)
    assert torch.equal(embeddings.word_embeddings.weight, table.float())


@pytest.mark.parametrize("width", [128, 256])
def test_a_width_that_the_vectors_cannot_fill_is_refused(ours, folder, counts, width):
    with pytest.raises(ValueError, match=rf"width {width} is more .* of 128 numbers, of which 1 "):
        token_vectors(ours, folder, width, counts)
