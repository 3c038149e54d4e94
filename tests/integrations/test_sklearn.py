import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from tiny import make_encoder, make_sentences

from cselab.integrations.sklearn import SentenceVectors
from cselab.transforms import BertWhitening

SENTENCES = make_sentences(20)


@pytest.fixture(scope="module")
def encoder():
    return make_encoder().eval()


def test_the_vectors_are_those_of_the_encoder(encoder):
    vectors = encoder.encode(SENTENCES)
    for held in (
        SENTENCES,
        tuple(SENTENCES),
        np.array(SENTENCES),
        pd.Series(SENTENCES),
        pd.DataFrame({"x": SENTENCES}),
    ):
        assert_array_equal(SentenceVectors(encoder).fit_transform(held), vectors)
    lengths = np.linalg.norm(SentenceVectors(encoder, normalize=True).transform(SENTENCES), axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-6)


def test_a_pipeline_is_searched_cloned_and_gives_tables(encoder, tmp_path):
    encoder.save_pretrained(tmp_path)
    pipeline = make_pipeline(SentenceVectors(str(tmp_path)), BertWhitening(n_components=3), LogisticRegression())
    labels = [len(sentence.split()) > 6 for sentence in SENTENCES]
    search = GridSearchCV(pipeline, {"bertwhitening__n_components": [2, 4], "sentencevectors__normalize": [True]}, cv=2)
    search.fit(SENTENCES, labels)
    assert search.best_params_["sentencevectors__normalize"]
    steps = clone(pipeline)[:-1].set_output(transform="pandas")
    table = steps.fit_transform(pd.Series(SENTENCES, index=range(100, 120)))
    assert list(table.columns) == [f"bertwhitening{k}" for k in range(3)] == list(steps.get_feature_names_out())
    assert list(table.index) == list(range(100, 120))
    names = clone(steps[0]).fit(SENTENCES).get_feature_names_out()
    assert len(names) == encoder.embedding_dimension and names[0] == "sentencevectors0"


def test_a_column_of_a_table_is_one_feature_among_others(encoder):
    table = pd.DataFrame({"review": SENTENCES, "stars": range(20)})
    columns = ColumnTransformer([("text", SentenceVectors(encoder), "review"), ("rest", "passthrough", ["stars"])])
    assert columns.fit_transform(table).shape == (20, encoder.embedding_dimension + 1)


def test_a_clone_copies_a_given_encoder(encoder):
    step = clone(SentenceVectors(encoder))
    assert step.encoder is not encoder and not hasattr(step, "encoder_")
    assert_array_equal(step.transform(SENTENCES[:2]), encoder.encode(SENTENCES[:2]))


@pytest.mark.parametrize(
    "given, told",
    [
        (["a dog", ""], r"sentences\[1\] is an empty string"),
        (pd.DataFrame({"a": ["x"], "b": ["y"]}), r"columns \(a, b\).*name one: table\['a'\]"),
    ],
)
def test_what_is_no_list_of_sentences_is_refused_in_words(encoder, given, told):
    with pytest.raises(ValueError, match=told):
        SentenceVectors(encoder).fit(given)
