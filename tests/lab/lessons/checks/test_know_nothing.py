"""The check of an encoder that spreads evenly and knows nothing: by property, however it is built."""

import hashlib
import zlib

import numpy as np
import pytest
from cselab_lab.lessons.checks import know_nothing
from cselab_lab.lessons.exercises import diagnose

from cselab.evaluators import RandomEncoder


def drawn(seed, width=256):
    return np.random.default_rng(seed).standard_normal(width)


def signs_of_a_hash(sentences):
    digests = [hashlib.shake_256(text.encode()).digest(64) for text in sentences]
    return np.unpackbits(np.array([list(digest) for digest in digests], dtype=np.uint8), axis=1) * 2.0 - 1.0


def words(sentences):
    return np.stack([sum(drawn(zlib.crc32(word.encode())) for word in text.split()) for text in sentences])


RIGHT = {
    "crc32 of the text": lambda sentences: np.stack([drawn(zlib.crc32(text.encode())) for text in sentences]),
    "signs from a hash": signs_of_a_hash,
    "lists": lambda sentences: [drawn(list(text.encode())).tolist() for text in sentences],
    "cselab": RandomEncoder().encode,
}
WRONG = [
    ("return an array of shape", lambda sentences: drawn(0)),
    ("without NaN", lambda sentences: np.full((len(sentences), 256), np.nan)),
    ("return an array of shape", lambda sentences: np.zeros((len(sentences), 256))),
    ("every call draws anew", lambda sentences: np.random.default_rng().standard_normal((len(sentences), 256))),
    ("not the row number", lambda sentences: np.random.default_rng(0).standard_normal((len(sentences), 256))),
    ("not the row number", lambda sentences: np.stack([drawn(row) for row in range(len(sentences))])),
    ("hold the whole text", lambda sentences: np.ones((len(sentences), 256))),
    ("hold the whole text", lambda sentences: np.stack([drawn(len(text)) for text in sentences])),
    ("hold the whole text", lambda sentences: np.stack([drawn(zlib.crc32(text[:9].encode())) for text in sentences])),
    (
        "both sides of 0",
        lambda sentences: np.stack(
            [np.random.default_rng(zlib.crc32(text.encode())).random(256) for text in sentences]
        ),
    ),
    ("many of them", lambda sentences: np.stack([drawn(zlib.crc32(text.encode()), 8) for text in sentences])),
    ("both sides of 0", lambda sentences: np.stack([drawn(zlib.crc32(text.encode())) + 1 for text in sentences])),
    ("raised TypeError", lambda sentences: np.stack([drawn(text + 1) for text in sentences])),
    ("`return` missing", lambda sentences: None),
]


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_is_solved(answer):
    assert diagnose(answer, know_nothing.STAGES).solved


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG, ids=[f"{n}: {d}" for n, (d, _) in enumerate(WRONG)])
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, know_nothing.STAGES)
    assert verdict.lines[-1].startswith("not yet") and diagnosis in verdict.lines[-1]


def test_vectors_that_know_words_are_told_from_vectors_that_know_nothing():
    spread = [stage for stage in know_nothing.STAGES if "uniformity" not in stage.what]
    assert "which words two sentences share" in diagnose(words, spread).lines[-1]
