"""Arguments of a wrong type are refused by name, at every public entrance, before any work."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from cells import cells_in
from tiny import make_encoder, make_sentences

from cselab import TrainConfig
from cselab._util.arguments import ArgumentError

TEXTS = make_sentences(8)


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


FIRST_CELL, CALLS = cells_in("_util/arguments.md")
exec(FIRST_CELL, NAMES := {})


@pytest.mark.parametrize("words, call", CALLS["calls"])
def test_an_argument_of_a_wrong_type_is_named(words, call):
    with pytest.raises(ArgumentError, match=re.escape(*words)):
        exec(call, dict(NAMES))
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
