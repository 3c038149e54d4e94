"""Arguments of a wrong type are refused by name, at every public entrance, before any work."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tiny import make_encoder, make_sentences

from cselab import SentenceEncoder, TrainConfig, encode_to_file, evaluate, train
from cselab._util.arguments import ArgumentError
from cselab.data import as_pairs, read_pairs, read_sentences
from cselab.evaluators import RandomEncoder, evaluate_beside, fitted, named_encoder, read_scores, register, word_overlap
from cselab.evaluators.geometry import positives
from cselab.metrics import alignment, bootstrap_interval, cosine_gradients, rank_means, rank_predictions
from cselab.metrics.degenerate import require_rows
from cselab.sgw import covariance, group_whiten
from cselab.world import World

TEXTS = make_sentences(8)
ROWS = np.arange(24.0).reshape(12, 2)
CONFIG = TrainConfig(steps=1, batch_size=4, max_length=8)


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda e: train("micro", "simcse", TEXTS), "encoder is 'micro'; expected a SentenceEncoder"),
        (lambda e: train(e, 5, TEXTS), "method is 5; expected a Method, or text"),
        (lambda e: train(e, "simcse", TEXTS, {"steps": 1}), "config is {'steps': 1}; expected a TrainConfig, or None"),
        (lambda e: train(e, "simcse", TEXTS, CONFIG, 5), "evaluator is 5; expected a function, or None"),
        (lambda e: train(e, "simcse", TEXTS, CONFIG, callbacks=[5]), r"callbacks is \[5\]; expected a list"),
        (lambda e: train(e, "simcse", TEXTS, CONFIG, output=5), "output is 5; expected text, or a path, or None"),
        (lambda e: train(e, "simcse", TEXTS, CONFIG, output=""), "output is ''; expected text, or a path, or None"),
        (lambda e: e.save_pretrained(""), "path is ''; expected text, or a path"),
        (lambda e: e.encode(TEXTS, batch_size="4"), "batch_size is '4'; expected a whole number of at least 1"),
        (lambda e: e.encode(TEXTS, normalize_embeddings="no"), "normalize_embeddings is 'no'; expected True or False"),
        (lambda e: encode_to_file(e, TEXTS, None), "path is None; expected text, or a path"),
        (lambda e: SentenceEncoder.from_pretrained("micro", precision="fp8"), "precision is 'fp8'; expected one of"),
        (lambda e: read_pairs(5), "path is 5; expected text, or a path"),
        (lambda e: read_sentences(b"a"), "path is b'a'; expected text, or a path"),
        (lambda e: World(0).sentences("5"), "n is '5'; expected a whole number"),
        (
            lambda e: require_rows([[1.0, 2.0]], 1),
            r"x is \[\[1.0, 2.0\]\]; expected an array of numbers \[n d\], or a tensor",
        ),
        (lambda e: alignment(ROWS, "b"), "y is 'b'; expected an array"),
        (lambda e: require_rows(np.array([["a"]]), 1), "expected an array of numbers"),
        (lambda e: bootstrap_interval(ROWS[:, 0], ROWS[:, 1], resamples=0), "resamples is 0; expected a whole number"),
        (lambda e: rank_means(5), r"scores is 5; expected an array of numbers \[m n\]"),
        (lambda e: rank_predictions(5, 5), r"predicted is 5; expected an array of numbers \[m n\]"),
        (lambda e: word_overlap(5, 5), "sentences1 is 5; expected a list"),
        (lambda e: fitted(e, "centred", limit=""), "limit is ''; expected a whole number of at least 1, or None"),
        (lambda e: evaluate_beside(e, "world", text=5), "text is 5; expected text, or a path"),
        (lambda e: evaluate(e, "world", seed="x"), "seed is 'x'; expected a whole number"),
        (lambda e: named_encoder(5), "name is 5; expected text"),
        (lambda e: read_scores(5), "path is 5; expected text, or a path"),
        (lambda e: positives(as_pairs([("a b", "c d", 5.0)]), "4"), "threshold is '4'; expected a number"),
        (lambda e: cosine_gradients(sum, "ab", ROWS), "rows is 'ab'; expected an array of numbers"),
        (lambda e: RandomEncoder(dim=0), "dim is 0; expected a whole number of at least 1"),
        (lambda e: register(5), "suite is 5; expected a type"),
        (lambda e: covariance(ROWS), "expected a tensor of numbers"),
        (lambda e: group_whiten(torch.ones(8, 4), "2"), "num_groups is '2'; expected a whole number"),
    ],
)
def test_an_argument_of_a_wrong_type_is_named_and_nothing_is_written(call, said):
    with pytest.raises(ArgumentError, match=said):
        call(make_encoder())
    assert list(Path().iterdir()) == []


def test_numbers_of_numpy_and_torch_count_as_python_s():
    config = TrainConfig(steps=np.int64(1), lr=np.float32(0.5), seed=torch.tensor(3))
    assert [type(value) for value in (config.steps, config.lr, config.seed)] == [int, float, int]
    encoder = make_encoder()
    np.testing.assert_array_equal(encoder.encode(TEXTS, batch_size=np.int64(3)), encoder.encode(TEXTS, batch_size=3))


def test_a_list_is_anything_with_elements():
    encoder, expected = make_encoder(), make_encoder().encode(TEXTS)
    for given in (tuple(TEXTS), np.array(TEXTS, dtype=object), iter(TEXTS)):
        assert encoder.encode(given).shape == expected.shape
