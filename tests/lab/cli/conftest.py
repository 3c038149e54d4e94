"""A folder to work in, with an encoder, a corpus, pairs and STS-B, all tiny."""

import sys
from pathlib import Path

import pytest
from stsb import write_stsb
from tiny import make_encoder, make_sentences, write_checkpoint

from cselab.evaluators import SUITES

CORPUS = make_sentences(64)
SENTENCES = make_sentences(400, seed=1)


def graded(row):
    """A pair of sentences and their grade: the share of words in common."""
    first = SENTENCES[row % 400]
    second = f"{first} today" if row % 5 == 0 else SENTENCES[(3 * row + row // 400 + 1) % 400]
    a, b = set(first.split()), set(second.split())
    return f"{5 * len(a & b) / len(a | b):.3f}", first, second


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """What commands read: STS-B has the right row counts, and the words that the encoder has."""
    home = tmp_path_factory.mktemp("home")
    write_checkpoint(home / "tiny")
    encoder = make_encoder()
    encoder.prompts = {"query": "this cat sees ", "document": "the old "}
    encoder.save_pretrained(home / "prompted")
    write_stsb(home / "data", lambda _, row: graded(row))
    (home / "corpus.txt").write_text("\n".join(CORPUS) + "\n")
    rows = ["\t".join((first, second, grade)) for grade, first, second in map(graded, range(60))]
    (home / "ours.tsv").write_text("\n".join(rows) + "\n")
    return home


@pytest.fixture
def here(home, tmp_path, monkeypatch, registered):
    """The working directory, with all of that; the same arithmetic on every machine, and no data but these.

    Lines of progress are printed even after a test that loaded a kernel, and what a user registers is forgotten.
    """
    monkeypatch.chdir(tmp_path)
    for name in ("tiny", "prompted", "data"):
        Path(name).symlink_to(home / name)
    for name in ("corpus.txt", "ours.tsv"):
        Path(name).write_bytes((home / name).read_bytes())
    for name, value in {"CSELAB_HEADLESS": "1", "CSELAB_DATA": ""}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.modules["cselab.encoders.speed"], "faster_in_bf16", lambda: False)
    before = dict(SUITES)
    yield
    SUITES.clear()
    SUITES.update(before)
