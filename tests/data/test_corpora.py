"""The training corpora from a local copy of the hub's layout, a few rows each."""

import gzip
import hashlib
import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from cselab_lab.cli import app
from cselab_lab.experiments.corpora import CORPORA, corpus, fetch_corpus

from cselab.data import DataError, MissingFile, read_rows, read_sentences
from cselab.data.fetch import ARCHIVE, Unreachable

WIKI = ["First sentence .", 'He said " no', "A café\u2028on one line"]
NLI = 'sent0,sent1,hard_neg\n"A man, old",A person,Nobody\n"Two\nlines","say ""yes""",No one\ta tab\n'


@pytest.fixture
def publish(hub, monkeypatch):
    """The corpora have two or three rows."""
    for name, rows in {"wiki1m": 3, "nli": 2, "simplewiki": 2}.items():
        monkeypatch.setitem(CORPORA, name, replace(CORPORA[name], rows=rows))
    return lambda name, content, source=ARCHIVE[:2]: hub(
        *source, name, content if isinstance(content, bytes) else content.encode()
    )


@pytest.fixture
def simple(publish, monkeypatch):
    """`simple(*lines)`: what is published of Simple English Wikipedia, and what is known of it."""

    def of_lines(*lines, known=True):
        content = gzip.compress("".join(f"{line}\n" for line in lines).encode())
        corpus = CORPORA["simplewiki"]
        publish(corpus.published, content, corpus.source)
        sha256 = hashlib.sha256(content if known else b"").hexdigest()
        monkeypatch.setitem(CORPORA, "simplewiki", replace(corpus, sha256=sha256))

    return of_lines


def test_wiki1m_comes_line_by_line_as_it_is(publish, tmp_path):
    publish("wiki1m_for_simcse.txt", "".join(f"{line}\n" for line in WIKI))
    place, fetched = fetch_corpus("wiki1m", tmp_path / "new")
    assert (place, fetched) == (tmp_path / "new" / "wiki1m.txt", True)
    assert list(read_sentences(place)) == WIKI
    assert fetch_corpus("wiki1m", tmp_path / "new") == (place, False)


def test_nli_becomes_a_table_that_methods_of_several_columns(publish, tmp_path):
    """Nli becomes a table that methods of several columns read."""
    publish("nli_for_simcse.csv", NLI)
    place, _ = fetch_corpus("nli", tmp_path)
    assert list(read_rows(place, ("sentence", "contradiction", "entailment"))) == [
        ("A man, old", "Nobody", "A person"),
        ("Two lines", "No one a tab", 'say "yes"'),
    ]


def test_the_published_file_beside_it_is_taken_without_the_hub(publish, tmp_path):
    with pytest.raises(Unreachable, match=r"Or copy nli_for_simcse\.csv into .* cselab then uses the copy"):
        fetch_corpus("nli", tmp_path)
    (tmp_path / "nli_for_simcse.csv").write_text(NLI)
    place, fetched = fetch_corpus("nli", tmp_path)
    assert fetched and next(read_rows(place, ("sentence", "entailment"))) == ("A man, old", "A person")


@pytest.mark.parametrize(
    "name, file, content, said",
    [
        ("wiki1m", "wiki1m_for_simcse.txt", "one\ntwo\n", "has 2 rows, 3 expected; is it complete"),
        ("nli", "nli_for_simcse.csv", NLI + "a,b,c\n", "has 3 rows, 2 expected"),
        ("nli", "nli_for_simcse.csv", "a,b\n1,2\n", "its header \\(a, b\\) has no column 'sentence'"),
        ("nli", "nli_for_simcse.csv", "sent0,sent1,hard_neg\na,b\n", "line 2: 2 fields, its header has 3"),
        ("nli", "nli_for_simcse.csv", 'sent0,sent1,hard_neg\na,"b,c\n', "line 2: unexpected end of data"),
    ],
)
def test_what_is_not_whole_is_refused_and_nothing_is_written(name, file, content, said, publish, tmp_path):
    publish(file, content)
    with pytest.raises(DataError, match=said):
        fetch_corpus(name, tmp_path / "data")
    assert not list((tmp_path / "data").glob("[!.]*"))


PAIR = json.dumps(["The feline , a café dweller , slept .", "The cat\u00a0slept ."])


def test_of_simple_wikipedia_comes_the_simple_side_of_each_pair(simple, tmp_path):
    simple(PAIR, json.dumps(["Long .", "Short ."]))
    place, fetched = fetch_corpus("simplewiki", tmp_path)
    assert (place, fetched) == (tmp_path / "simplewiki.txt", True)
    assert list(read_sentences(place)) == ["The cat slept .", "Short ."]
    assert fetch_corpus("simplewiki", tmp_path) == (place, False)


def test_another_text_than_the_known_is_refused_by_its_hash(simple, tmp_path):
    simple(PAIR, PAIR, known=False)
    with pytest.raises(DataError, match="is not the published file: its SHA-256 begins with"):
        fetch_corpus("simplewiki", tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_an_experiment_reads_what_was_fetched(publish, tmp_path, monkeypatch):
    publish("wiki1m_for_simcse.txt", "".join(f"{line}\n" for line in WIKI))
    monkeypatch.delenv("CSELAB_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(MissingFile, match=r"no wiki1m\.txt in .*get it with: cselab data fetch wiki1m"):
        corpus("wiki1m")
    fetched = CliRunner().invoke(app, ["data", "fetch", "wiki1m"])
    assert fetched.exit_code == 0 and str(tmp_path / "cselab/data/wiki1m.txt") in fetched.output
    assert "not verified" in fetched.output
    assert corpus("wiki1m") == WIKI


def test_a_file_that_is_there_is_not_overwritten(publish, tmp_path):
    publish("wiki1m_for_simcse.txt", "".join(f"{line}\n" for line in WIKI))
    (tmp_path / "wiki1m.txt").write_text("my own\n")
    with pytest.raises(DataError, match=r"wiki1m\.txt exists with 1 rows, not 3: move the file away"):
        fetch_corpus("wiki1m", tmp_path)
    assert (tmp_path / "wiki1m.txt").read_text() == "my own\n"


def test_without_a_network_and_for_an_unknown_name_it_says_so(publish, tmp_path):
    with pytest.raises(Unreachable, match=r"cannot be reached for .*wiki1m_for_simcse\.txt.*Run the command again"):
        fetch_corpus("wiki1m", tmp_path)
    with pytest.raises(ValueError, match=r"unknown corpus 'wiki2m'.* Choose one of wiki1m, nli, simplewiki"):
        fetch_corpus("wiki2m", tmp_path)
