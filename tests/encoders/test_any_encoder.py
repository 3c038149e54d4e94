"""Whatever gives sentences vectors is scored as what encodes."""

import pytest
from families import write_checkpoint
from kinds_of_encoders import ENCODER, KINDS, PAIRS, TEXTS, VECTORS, service
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

from cselab.encoders import as_encoder
from cselab.evaluators import compare, evaluate, with_baselines, word_overlap


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_the_score_of_its_vectors(kind):
    scores = evaluate(KINDS[kind], PAIRS)
    assert scores.scores == pytest.approx(evaluate(ENCODER, PAIRS).scores)
    assert compare(scores, evaluate(ENCODER, PAIRS))[0].difference == pytest.approx(0)


def test_a_sentence_transformer_and_a_folder_are_encoders(tmp_path):
    transformer = Transformer(str(write_checkpoint(tmp_path / "plain", "bert")))
    theirs = SentenceTransformer(modules=[transformer, Pooling(16, "mean")], device="cpu")
    theirs.save(str(tmp_path / "st"))
    scores = [evaluate(given, PAIRS).scores["toy"] for given in (theirs, str(tmp_path / "st"), tmp_path / "st")]
    assert scores == pytest.approx([scores[0]] * 3, abs=0.01)
    beside = with_baselines(theirs, transforms=())
    assert "SentenceTransformer" in beside and not any("input embeddings" in name for name in beside)


def test_the_function_is_named_in_the_record_and_asked_once():
    asked = []

    def counted(texts):
        asked.append(list(texts))
        return service(texts)

    assert evaluate(counted, PAIRS).records[0].encoder == "counted"
    assert asked == [sorted(TEXTS)]
    assert evaluate(word_overlap, PAIRS).records[0].protocol == "scored without vectors"


@pytest.mark.parametrize(
    "given, sentences, error, said",
    [
        (VECTORS, None, TypeError, "ndarray is no encoder: an array needs the sentences of its rows"),
        (VECTORS, TEXTS[1:], ValueError, r"the argument is an array of shape \(24, 8\) for 23 sentences"),
        (7, None, TypeError, "int is no encoder; give something with encode"),
        (word_overlap, None, TypeError, "function is no encoder"),
    ],
)
def test_what_is_no_encoder_is_refused(given, sentences, error, said):
    with pytest.raises(error, match=said):
        as_encoder(given, sentences)


def test_sentences_without_a_vector_and_prompts():
    """Sentences without a vector and prompts without an encoder are named."""
    with pytest.raises(ValueError, match="none for 1 of 2 sentences, the first 'new'"):
        as_encoder({"old": [1.0]}).encode(["old", "new"])
    with pytest.raises(TypeError, match="service has no prompts: leave out prompt_name='query'"):
        evaluate(service, PAIRS, prompt_name="query")
