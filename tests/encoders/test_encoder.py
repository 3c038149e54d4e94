"""`SentenceEncoder.encode` against one sentence at a time, and everything it promises to users."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from tiny import (
    FAMILIES,
    LONGEST,
    PROMPTS,
    make_backbone,
    make_encoder,
    make_sentences,
    make_tokenizer,
    seeded,
    write_checkpoint,
)
from transformers import CamembertConfig, CamembertModel

from cselab.encoders.encoder import (
    SentenceEncoder,
    Truncation,
    TruncationWarning,
    UnknownTokensWarning,
    UntrainedPositionsWarning,
    UntrainedWeightsError,
    check_sentences,
    eval_mode,
)
from cselab.encoders.heads import MLPHead, WhitenedHead
from cselab.encoders.pooling import POOLINGS
from cselab.sgw import ShuffledGroupWhitening

SENTENCES = make_sentences(7)
CLOSE = {"rtol": 1e-5, "atol": 1e-5}


def one_by_one(encoder, sentences):
    """The vectors, written out: each sentence alone, without padding."""
    rows = []
    for sentence in sentences:
        features = encoder.tokenizer([sentence], return_tensors="pt")
        with torch.no_grad():
            output = encoder.backbone(**features, output_hidden_states=True)
        layers, tokens = [layer[0] for layer in output.hidden_states], features["input_ids"][0]
        match encoder.pooling:
            case "cls":
                row = layers[-1][0]
            case "cls_pooler":
                dense = encoder.backbone.pooler.dense
                row = torch.tanh(dense.weight @ layers[-1][0] + dense.bias)
            case "mean":
                row = layers[-1].mean(0)
            case "last_token":
                row = layers[-1][-1]
            case "emb_last_mean":
                row = (layers[0].mean(0) + layers[-1].mean(0)) / 2
            case "layer1_last_mean":
                row = (layers[1].mean(0) + layers[-1].mean(0)) / 2
            case "last2_mean":
                row = (layers[-2].mean(0) + layers[-1].mean(0)) / 2
            case "mask":
                (place,) = (tokens == encoder.tokenizer.mask_token_id).nonzero()[0]
                row = layers[-1][place]
        rows.append(row.detach().numpy())
    return np.stack(rows)


@pytest.fixture
def encoder():
    return make_encoder()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_batch_gives_the_vectors_of_each_sentence_alone(pooling, family):
    encoder = make_encoder(family, pooling=pooling)
    found = encoder.encode(SENTENCES)
    assert found.dtype == np.float32 and found.shape == (7, 8)
    assert_allclose(found, one_by_one(encoder, SENTENCES), **CLOSE)
    assert np.ptp(found, axis=0).min() > 1e-2  # and they are different vectors


def test_each_distinct_sentence_is_encoded_once(encoder, monkeypatch):
    """Each distinct sentence is encoded once and short ones together."""
    shapes = []
    plain = encoder.pooled

    def spy(features):
        shapes.append(tuple(features["input_ids"].shape))
        return plain(features)

    monkeypatch.setattr(encoder, "pooled", spy)
    few = ["the cat sees a dog in the house", "a dog", "the cat", "a small red house"]
    found = encoder.encode([few[0], few[1], few[0], few[2], few[3], few[1]], batch_size=2)
    assert shapes == [(2, 4), (2, 10)]
    assert np.array_equal(found[0], found[2]) and np.array_equal(found[1], found[5])
    assert_allclose(found[[0, 1, 3, 4]], one_by_one(encoder, few), **CLOSE)


def test_a_single_string_gives_a_single_vector(encoder):
    assert_allclose(encoder.encode(SENTENCES[2]), encoder.encode(SENTENCES)[2], **CLOSE)
    assert encoder.encode("the cat", convert_to_tensor=True).shape == (8,)


def test_a_tensor_can_be_asked_for_and_used_in_a_loss(encoder):
    vectors = encoder.encode(SENTENCES, convert_to_tensor=True)
    (vectors * torch.ones(8, requires_grad=True)).sum().backward()
    assert not vectors.requires_grad and np.array_equal(vectors.numpy(), encoder.encode(SENTENCES))


def test_normalised_vectors_have_length_one(encoder):
    """Normalised vectors have length one and the same direction."""
    plain, unit = encoder.encode(SENTENCES), encoder.encode(SENTENCES, normalize_embeddings=True)
    assert_allclose(unit, plain / np.linalg.norm(plain, axis=1, keepdims=True), rtol=1e-6)
    always = SentenceEncoder(encoder.backbone, encoder.tokenizer, normalize=True)
    assert np.array_equal(always.encode(SENTENCES), unit)


def test_similarity_is_the_cosine_of_each_with_each(encoder):
    a = encoder.encode(SENTENCES)
    found = SentenceEncoder.similarity(a, a[:3])
    expected = [[np.dot(x, y) / np.linalg.norm(x) / np.linalg.norm(y) for y in a[:3]] for x in a]
    assert_allclose(found, expected, rtol=1e-5)


# ------------------------------------------------------------------------------------ wrong input


def test_check_sentences_takes_generators_and_arrays():
    assert check_sentences(word for word in ("a", "b")) == check_sentences(np.array(["a", "b"])) == ["a", "b"]
    assert make_encoder().max_length == make_encoder("roberta").max_length == LONGEST


# ------------------------------------------------------------------------------------ truncation


def test_truncation_is_reported_and_cuts_at_the_longest_input():
    encoder = SentenceEncoder(make_backbone(), make_tokenizer(), max_length=5)
    with pytest.warns(TruncationWarning, match="3 of 5 sentences were cut at 5 tokens") as caught:
        found = encoder.encode(["the cat sees a dog", "a dog", "the cat sees a dog", "the red cat", "a red cat today"])
    assert caught[0].filename == __file__
    assert encoder.last_truncation == Truncation(cut=3, of=5, max_length=5)
    assert_allclose(found[[0, 3]], one_by_one(encoder, ["the cat sees", "the red cat"]), **CLOSE)
    encoder.encode(["a dog"])
    assert encoder.last_truncation == Truncation(cut=0, of=1, max_length=5)


def test_a_sentence_longer_than_the_pretraining_rows_warns(tmp_path):
    """A sentence longer than the pretraining rows warns and says what to do."""
    encoder = make_encoder()
    sentences = ["the cat", "the cat sleeps and the dog runs", "the dog"]
    encoder.encode(sentences)  # an encoder that does not say how long its rows were
    encoder.backbone.config.trained_positions = 5
    encoder.save_pretrained(tmp_path)
    again = SentenceEncoder.from_pretrained(tmp_path)  # travels with the weights
    with pytest.warns(UntrainedPositionsWarning, match="1 of 3 different sentences are longer than the 5 tokens"):
        again.encode(sentences)
    again.encode(["the cat", "the dog"])
    with pytest.warns(TruncationWarning):
        SentenceEncoder.from_pretrained(tmp_path, max_length=5).encode(sentences)


UNREADABLE = ["何か", "😊😊", "猫 the 猫", "the 猫 猫 猫"]  # by a tokenizer of English
READABLE = ["the cat", "the cat sees a 猫"]


def test_sentences_of_mostly_unknown_tokens_are_counted():
    """Sentences of mostly unknown tokens are counted with their repeats and said once."""
    encoder = make_encoder()
    encoder.encode(READABLE)
    assert encoder.last_truncation.unknown == 0
    with pytest.warns(UnknownTokensWarning, match="cannot read 5 of 7 sentences") as caught:
        encoder.encode([*UNREADABLE, *READABLE, UNREADABLE[0]])
    assert [one.filename for one in caught] == [__file__]
    assert encoder.last_truncation == Truncation(cut=0, of=7, max_length=48, unknown=5)


@pytest.mark.parametrize("text", UNREADABLE)
def test_the_tokens_of_a_template_do_not_make_a_text_readable(text):
    encoder = SentenceEncoder(make_backbone(), make_tokenizer(), "mask", template=PROMPTS["bert"])
    with pytest.warns(UnknownTokensWarning, match="1 of 1 sentences"):
        encoder.encode([text])


def test_a_tokenizer_of_bytes_reads_every_text():
    make_encoder("roberta").encode(["the cat 何か"])


@pytest.mark.parametrize("kind", ["bert", "roberta", "camembert"])
def test_the_positions_of_the_model_bound_a_tokenizer(kind):
    """The positions of the model bound a tokenizer without a limit."""
    backbone, tokenizer = make_backbone("bert" if kind == "bert" else "roberta"), make_tokenizer("roberta")
    if kind == "camembert":
        with torch.random.fork_rng(devices=[]):
            backbone = CamembertModel(CamembertConfig(**{**backbone.config.to_dict(), "model_type": kind})).eval()
    if kind == "bert":
        tokenizer = make_tokenizer()
    tokenizer.model_max_length = int(1e30)
    encoder = SentenceEncoder(backbone, tokenizer)
    assert encoder.max_length == LONGEST
    with pytest.warns(TruncationWarning):
        assert np.isfinite(encoder.encode(["cat " * 60])).all()
    assert SentenceEncoder("micro").trained_positions == 64


# ------------------------------------------------------------------------------------ modes and gradients


def test_dropout_is_off_while_encoding_and_every_mode_comes_back():
    encoder = make_encoder(dropout=0.5)
    quiet = encoder.encode(SENTENCES)
    encoder.train()
    encoder.backbone.embeddings.eval()
    modes = [part.training for part in encoder.modules()]
    assert np.array_equal(encoder.encode(SENTENCES), quiet)
    with pytest.raises(RuntimeError), eval_mode(encoder):
        raise RuntimeError
    assert [part.training for part in encoder.modules()] == modes
    features = encoder.tokenize(SENTENCES)
    assert not torch.equal(encoder(features), encoder(features))  # dropout is on again


def test_a_copy_goes_its_own_way(encoder):
    encoder.attach_head(WhitenedHead(ShuffledGroupWhitening(8), MLPHead(8, seeded())))
    other, before = encoder.copy(), encoder.encode(SENTENCES)
    assert np.array_equal(other.encode(SENTENCES), before)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(0.1)
    other.max_length = 4
    assert np.array_equal(encoder.encode(SENTENCES), before)
    assert encoder.head.whitening.generator is not other.head.whitening.generator


# ------------------------------------------------------------------------------------ representation


def test_the_representation_says_which_vector_is_given(encoder):
    head = MLPHead(8, seeded())
    both = SentenceEncoder(encoder.backbone, encoder.tokenizer, head=head.eval())
    backbone = both.encode(SENTENCES)
    assert np.array_equal(backbone, encoder.encode(SENTENCES))
    both.representation = "head"
    expected = head(torch.from_numpy(backbone)).detach().numpy()
    assert_allclose(both.encode(SENTENCES), expected, **CLOSE)
    assert both.embedding_dimension == both.get_embedding_dimension() == 8


def test_an_untrained_head_is_an_error_until_it_is_trained(encoder, tmp_path):
    encoder.attach_head(MLPHead(8, seeded()))
    assert encoder.encode(SENTENCES).shape == (7, 8)  # the backbone's vectors are sound
    encoder.representation = "head"
    with pytest.raises(UntrainedWeightsError, match="the head of tiny was neither trained nor loaded"):
        encoder.encode(SENTENCES)
    with pytest.raises(UntrainedWeightsError, match="representation='backbone'"):
        encoder.save_pretrained(tmp_path / "encoder")
    assert not (tmp_path / "encoder").exists()


def test_the_pooling_may_be_changed(encoder):
    encoder.pooling = "cls"
    assert_allclose(encoder.encode(SENTENCES), one_by_one(encoder, SENTENCES), **CLOSE)


def test_the_hash_follows_the_weights_that_make_the_vectors(encoder):
    assert encoder.weights_hash() == make_encoder().weights_hash()
    assert encoder.weights_hash() != make_encoder(seed=1).weights_hash()
    before = encoder.weights_hash()
    encoder.attach_head(MLPHead(8, seeded()))
    assert encoder.weights_hash() == before
    encoder.representation = "head"
    assert encoder.weights_hash() != before


@pytest.mark.gpu
def test_vectors_on_the_gpu_are_those_on_the_cpu(encoder):
    on_cpu = encoder.encode(SENTENCES)
    assert_allclose(encoder.to("cuda").encode(SENTENCES), on_cpu, rtol=1e-3, atol=1e-3)
    assert encoder.encode(SENTENCES, convert_to_tensor=True).is_cuda


def test_a_name_or_folder_alone_opens_an_encoder(tmp_path):
    """A name or folder alone opens an encoder as from pretrained does."""
    folder = write_checkpoint(tmp_path / "tiny")
    opened, usual = SentenceEncoder(folder, pooling="cls"), SentenceEncoder.from_pretrained(folder, pooling="cls")
    assert (opened.encode(["a cat"]) == usual.encode(["a cat"])).all() and not opened.training
    assert (opened.name, opened.pooling, opened.max_length) == (usual.name, usual.pooling, usual.max_length)
    assert SentenceEncoder("micro").pooling == "mean"
    with pytest.raises(TypeError, match="brings its tokenizer, head and prefix: leave them out"):
        SentenceEncoder(folder, usual.tokenizer)
