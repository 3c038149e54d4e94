from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tiny import make_encoder, make_sentences, write_checkpoint

from cselab.data import MissingFile, Pairs
from cselab.evaluators import (
    RandomEncoder,
    StaticEmbeddings,
    TransformedEncoder,
    evaluate,
    evaluate_beside,
    fitted,
    named_encoder,
    random_weights,
    with_baselines,
    word_overlap,
)
from cselab.metrics import DegenerateEmbeddings
from cselab.transforms import BertFlow, BertWhitening


def test_the_random_encoder_knows_a_text_again():
    """The random encoder knows a text again whatever its company."""
    encoder = RandomEncoder(dim=16)
    together, alone = encoder.encode(["one", "two", "three"]), RandomEncoder(dim=16).encode(["two"])
    assert (together[1] == alone[0]).all()
    assert not (RandomEncoder(dim=16, seed=1).encode(["two"]) == alone).any()
    assert together.shape == (3, 16) and together.dtype == np.float32


@pytest.mark.parametrize(
    "first, second, overlap", [("a b c", "a b c", 1), ("a b", "c d", 0), ("a a b", "b a", 1), ("a b c", "b c d", 0.5)]
)
def test_word_overlap_is_intersection_over_union(first, second, overlap):
    assert word_overlap([first], [second]) == [overlap]


def test_a_models_own_input_embeddings_are_averaged():
    """A models own input embeddings are averaged without special tokens."""
    import torch

    class Backbone:
        def get_input_embeddings(self):
            return torch.nn.Embedding.from_pretrained(torch.arange(8.0).reshape(4, 2))

    class Encoder:
        name, backbone = "toy", Backbone()

        @staticmethod
        def tokenizer(sentence, add_special_tokens):
            assert add_special_tokens is False
            return {"input_ids": [int(word) for word in sentence.split()]}

    encoder = StaticEmbeddings.from_encoder(Encoder())
    assert encoder.encode(["0 3", "2"]).tolist() == [[3, 4], [4, 5]]
    assert encoder.name == "input embeddings of toy"


def test_a_transformed_encoder_passes_its_vectors_through(angles, pairs):
    """A transformed encoder passes its vectors through the transform."""

    class Turn:
        """A quarter turn, which leaves every cosine as it is."""

        def transform(self, vectors):
            return vectors @ np.array([[0, 1], [-1, 0]], dtype=vectors.dtype)

    turned = TransformedEncoder(angles, Turn())
    assert turned.encode(["0 a"]) == pytest.approx(np.array([[0, 1]]))
    assert turned.name == "angles + Turn" and turned.pooling == "none"
    assert evaluate(turned, pairs).scores == pytest.approx(evaluate(angles, pairs).scores)


# ------------------------------------------------------------------------------------ fitted transforms


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(make_sentences(90, seed=3)) + "\n")
    return path


@pytest.fixture
def scored():
    """Pairs of other sentences than those of the corpus."""
    sentences = make_sentences(40, seed=4)
    return Pairs(sentences[:20], sentences[20:], [float(row % 6) for row in range(20)], "toy", "test")


@pytest.mark.parametrize(  # the layer norm of the tiny encoder leaves seven of its eight directions
    ("transform", "alone"), [("whitening", BertWhitening(n_components=7)), ("flow", BertFlow())]
)
def test_a_transform_is_fitted_on_the_text(transform, alone, corpus, scored):
    """A transform is fitted on the text and named in the record."""
    encoder = make_encoder()
    model = fitted(encoder, transform, corpus)
    vectors = alone.fit(encoder.encode(make_sentences(90, seed=3))).transform(encoder.encode(scored.sentences))
    assert_allclose(model.encode(scored.sentences), vectors, rtol=1e-4, atol=1e-5)
    (record, *_) = evaluate(model, scored).records
    assert record.encoder == f"tiny + {transform} fitted on 90 sentences of corpus.txt"
    assert (record.pooling, record.max_length) == ("mean", encoder.max_length)
    assert record.truncated == 0


def test_as_many_sentences_are_fitted_on_as_asked(tmp_path):
    """As many sentences are fitted on as asked and all where nothing is asked."""
    text = tmp_path / "long.txt"
    text.write_text("".join(f"sentence {row}\n" for row in range(7001)))
    encoder = RandomEncoder(4)
    assert fitted(encoder, "whitening", text).name == ("random + whitening fitted on 7001 sentences of long.txt")
    model = fitted(encoder, "whitening", text, limit=50)
    assert model.name == "random + whitening fitted on 50 sentences of long.txt"
    assert fitted(encoder, "whitening", limit=40).name.endswith("fitted on 40 sentences of the world")
    first = encoder.encode([f"sentence {row}" for row in range(50)])
    assert_allclose(model.transform.mean_, first.mean(axis=0), atol=1e-6)


def test_a_transform_that_cannot_be_fitted_says_why(tmp_path, corpus):
    with pytest.raises(ValueError, match="unknown transform 'ica'; choose one of centred, without K, whitening, flow"):
        fitted(make_encoder(), "ica", corpus)
    with pytest.raises(ValueError, match="whitening transforms sentence vectors; word_overlap has none"):
        fitted(word_overlap, "whitening", corpus)
    with pytest.raises(MissingFile, match=r"none\.txt"):
        fitted(make_encoder(), "whitening", tmp_path / "none.txt")
    with pytest.raises(DegenerateEmbeddings, match="constant embeddings: all 90"):
        fitted(SimpleNamespace(encode=lambda sentences: np.ones((len(sentences), 8))), "flow", corpus)
    (tmp_path / "few.txt").write_text("the cat\n")
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        fitted(make_encoder(), "centred", tmp_path / "few.txt")


# ------------------------------------------------------------------------------------ by name, side by side


def test_encoders_and_baselines_have_names(tmp_path):
    folder = write_checkpoint(tmp_path / "tiny")
    assert named_encoder("word-overlap") is word_overlap
    assert isinstance(named_encoder("random"), RandomEncoder)
    assert named_encoder(f"static:{folder}").name.startswith("input embeddings of ")
    assert named_encoder(str(folder), pooling="cls").pooling == "cls"
    with pytest.raises(ValueError, match="none"):
        named_encoder(f"static:{tmp_path}/none")


def test_an_encoder_stands_beside_its_baselines(corpus, scored):
    encoder = make_encoder()
    found = evaluate_beside(encoder, scored, text=corpus)
    assert list(found) == [
        "random",
        "word overlap",
        "input embeddings of tiny",
        "tiny with random weights (seed 0)",
        "tiny",
        "tiny + whitening fitted on 90 sentences of corpus.txt",
        "tiny + flow fitted on 90 sentences of corpus.txt",
    ]
    for name, alone in {
        "random": RandomEncoder(),
        "word overlap": word_overlap,
        "input embeddings of tiny": StaticEmbeddings.from_encoder(encoder),
        "tiny with random weights (seed 0)": random_weights(encoder),
        "tiny": encoder,
        "tiny + whitening fitted on 90 sentences of corpus.txt": fitted(encoder, "whitening", corpus),
    }.items():
        assert found[name].scores == pytest.approx(evaluate(alone, scored).scores, abs=1e-4)
    assert found["tiny"].records[0].pooling == "mean"


def test_random_weights_depend_on_the_seed_alone():
    """Neither the encoder's weights nor the state of the random numbers matter; the encoder does not change."""
    import torch

    encoder, trained = make_encoder(), make_encoder()
    for weight in trained.backbone.parameters():
        weight.data.mul_(3.0)
    sentences = make_sentences(5, seed=1)
    before, state = encoder.encode(sentences), torch.get_rng_state()
    drawn = random_weights(encoder, 1)
    assert torch.equal(torch.get_rng_state(), state) and (encoder.encode(sentences) == before).all()
    assert (drawn.encode(sentences) == random_weights(trained, 1).encode(sentences)).all()
    assert not np.allclose(drawn.encode(sentences), random_weights(encoder, 2).encode(sentences))
    encoder.add_adapter(1)
    with pytest.raises(ValueError, match="tiny has adapters"):
        random_weights(encoder)


def test_a_prompt_changes_plain_and_transformed_vectors(corpus, scored):
    encoder = make_encoder()
    encoder.prompts = {"query": "find the dog"}
    white = fitted(encoder, "whitening", corpus, prompt_name="query")
    for model in (encoder, white):
        with_prompt = evaluate(model, scored, prompt_name="query").scores
        assert with_prompt != pytest.approx(evaluate(model, scored).scores, abs=1e-4)


def test_a_baseline_without_vectors_is_left_out_where_all_tasks(corpus):
    """A baseline without vectors is left out where all tasks need them."""
    found = evaluate_beside(make_encoder(), "geometry", make_sentences(30, seed=5), text=corpus)
    assert "word overlap" not in found and len(found) == 6
    assert (
        found["tiny + whitening fitted on 90 sentences of corpus.txt"].scores["uniformity"]
        < found["tiny"].scores["uniformity"]
    )


def test_an_encoder_without_input_embeddings(angles, tmp_path):
    """An encoder without input embeddings has the other baselines."""
    assert list(with_baselines(angles, transforms=())) == ["random", "word overlap", "angles"]
