"""More sentences than fit into memory: windows of them, straight into a file."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tiny import make_encoder, make_sentences

import cselab.encoders.encoder
from cselab import encode_to_file
from cselab.encoders import streaming
from cselab.encoders.encoder import TruncationWarning, UnknownTokensWarning
from cselab.encoders.text import encodings

SENTENCES = make_sentences(40) + make_sentences(10)  # ten of them twice


@pytest.fixture
def encoder():
    return make_encoder(layers=1)


@pytest.fixture(autouse=True)
def small_windows(monkeypatch):
    monkeypatch.setattr(streaming, "WINDOW", 16)
    monkeypatch.setattr(cselab.encoders.encoder, "WINDOW", 16)


def test_a_file_holds_the_vectors_of_encode_in_their_order(encoder, tmp_path):
    found = encode_to_file(encoder, iter(SENTENCES), tmp_path / "v.npy", batch_size=7, show_progress_bar=False)
    assert isinstance(found, np.memmap) and found.dtype == np.float32
    one_by_one = np.stack([encoder.encode(text) for text in SENTENCES])
    assert_allclose(found, one_by_one, atol=1e-6)
    assert_allclose(np.load(tmp_path / "v.npy"), one_by_one, atol=1e-6)


def test_encode_itself_tokenises_window_by_window(encoder, monkeypatch):
    whole, sizes = encoder.encode(SENTENCES), []

    def watched(tokenizer, texts, max_length):
        sizes.append(len(texts))
        return encodings(tokenizer, texts, max_length)

    monkeypatch.setattr("cselab.encoders.text.encodings", watched)
    assert_allclose(encoder.encode(SENTENCES), whole, atol=1e-6)
    assert max(sizes) <= 16 and sum(sizes) == len(set(SENTENCES))


def test_no_more_than_a_window_is_taken_from_a_generator(encoder, tmp_path):
    """No more than a window is taken from a generator before its vectors are written."""
    taken = []

    def endless():
        for number, text in enumerate(SENTENCES):
            if number == 20:
                taken.extend(file.stat().st_size for file in tmp_path.glob("*.part"))
            yield text

    encode_to_file(encoder, endless(), tmp_path / "v.npy", show_progress_bar=False)
    assert taken == [128 + 16 * 8 * 4] and [file.name for file in tmp_path.iterdir()] == ["v.npy"]
    assert len(np.load(tmp_path / "v.npy")) == len(SENTENCES)


LONG = ["the cat sees a dog " * 30 + str(number) for number in range(20)]
STRANGE = [f"何か {'猫' * number}" for number in range(20)]


@pytest.mark.parametrize(
    "more, kind, said",
    [
        (LONG, TruncationWarning, "^20 of 70 sentences were cut"),
        (STRANGE, UnknownTokensWarning, "cannot read 20 of 70 sentences"),
    ],
)
def test_what_was_not_read_is_told_once_for_all_windows(encoder, tmp_path, more, kind, said):
    with pytest.warns(kind, match=said) as told:
        found = encode_to_file(encoder, SENTENCES + more, tmp_path / "v.npy", 8, False, True)
    assert len(told) == 1 and encoder.last_truncation.of == 70
    assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


def test_the_sentences_done_are_counted(encoder, tmp_path, monkeypatch, capsys):
    """The sentences done are counted though nobody knows how many there are."""
    monkeypatch.setenv("CSELAB_HEADLESS", "1")
    encode_to_file(encoder, SENTENCES, tmp_path / "v.npy")
    counts = re.findall(r"encode: (\d+) ", capsys.readouterr().out)
    assert counts == ["16", "32", "48", "50"]


@pytest.mark.parametrize(
    "sentences, name, said",
    [
        ([], "v.npy", "nothing to encode"),
        (["a cat", ""], "v.npy", r"sentences\[1\] is an empty string"),
        (["a cat"] * 20 + [" "], "v.npy", r"sentences\[20\] is an empty string"),
        ("a cat", "v.npy", "sentences is 'a cat'; expected a list"),
        (["a cat"], "v.csv", r"must end in \.npy"),
    ],
)
def test_what_cannot_be_encoded_leaves_what_was_there(encoder, tmp_path, sentences, name, said):
    (tmp_path / name).write_bytes(b"before")
    with pytest.raises((TypeError, ValueError), match=said):
        encode_to_file(encoder, sentences, tmp_path / name, show_progress_bar=False)
    assert (tmp_path / name).read_bytes() == b"before"
    assert [file.name for file in tmp_path.iterdir()] == [name]
