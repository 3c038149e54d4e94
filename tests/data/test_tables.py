import gzip
import json
import lzma

import pandas
import pytest

from cselab.data import DataError, read_rows, read_sentences
from cselab.data.rows import numbered_sentences
from cselab.data.tables import text_column

TEXTS = ["A cat, old", "Two words", 'say "yes"', "caf\xe9"]
TABLES = {
    "t.csv": 'id,text\n1,"A cat, old"\n2,Two words\n\n3,"say ""yes"""\n4,caf\xe9\n',
    "t.tsv": 'id\ttext\n1\tA cat, old\n2\tTwo words\n3\tsay "yes"\n4\tcaf\xe9\n',
    "t.jsonl": "".join(json.dumps({"id": row, "text": text}) + "\n" for row, text in enumerate(TEXTS)),
    "t.ndjson": "\n".join(json.dumps({"text": text, "id": None}) for text in TEXTS),
    "t.txt": "\n".join(TEXTS),
    "t": "\n".join(TEXTS),
}
PACKING = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("packing", PACKING)
@pytest.mark.parametrize("name", TABLES)
def test_the_same_sentences_whatever_the_form_of_the_file(name, packing, tmp_path):
    file = tmp_path / f"{name}{packing}"
    file.write_bytes(PACKING[packing](TABLES[name].encode()))
    assert list(read_sentences(file)) == TEXTS
    found = text_column(file)
    assert found is None if name in ("t", "t.txt") else found[0] == "text"


def test_parquet_is_read_where_there_is_pyarrow_and_says_what_is_missing_elsewhere(tmp_path, monkeypatch):
    file = tmp_path / "t.parquet"
    file.write_bytes(b"PAR1")
    monkeypatch.setattr(pandas, "read_parquet", lambda path: pandas.DataFrame({"id": range(4), "text": TEXTS}))
    assert list(read_sentences(file)) == TEXTS
    assert list(read_rows(file, ("text", "id")))[2] == ('say "yes"', "2")

    def missing(path):
        raise ImportError("Unable to find a usable engine")

    monkeypatch.setattr(pandas, "read_parquet", missing)
    with pytest.raises(DataError, match=r"t\.parquet: Parquet is read with pyarrow: pip install pandas pyarrow"):
        list(read_sentences(file))


def test_the_column_is_the_one_that_is_named_or_numbered_else_one_that_is_known(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("Title,Sentence\nold,A cat\nnew,A dog\n")
    assert list(read_sentences(file)) == list(read_sentences(file, "sentence")) == ["A cat", "A dog"]
    assert list(read_sentences(file, "title")) == ["old", "new"]
    assert list(numbered_sentences(file, "2")) == [(1, "Sentence"), (2, "A cat"), (3, "A dog")]


NLI = "sent0,sent1,hard_neg\nA man,A person,Nobody\n"


def test_the_published_table_of_inference_needs_no_other_header(tmp_path):
    file = tmp_path / "nli_for_simcse.csv"
    file.write_text(NLI)
    assert list(read_rows(file, ("sentence", "contradiction"))) == [("A man", "Nobody")]


@pytest.mark.parametrize(
    ("name", "content", "column", "said"),
    [
        ("t.csv", "review,stars\nGood,5\n", None, r"none of its columns \(review, stars\) is called sentence, text"),
        ("t.csv", "a cat sat\na dog ran\n", None, r"`--column NAME`\), or number it, from 1 on"),
        ("t.csv", "text,id\nGood,5\n", "txt", "no column 'txt'; its columns are text, id"),
        ("t.csv", "text,id\nGood,5\n", "3", "has 2 columns, no column 3"),
        ("t.csv", "text,id\nGood\n", None, "line 2: 1 fields, its header has 2"),
        ("t.csv", 'text,id\n"Good,5\n', None, "line 2: unexpected end of data"),
        ("t.csv", "", None, "it is empty"),
        ("t.csv", "text\n\n", None, "no sentence in it"),
        ("t.jsonl", "A cat\n", None, "line 1: it is not JSON"),
        ("t.jsonl", "[1]\n", None, "line 1: an object such as"),
        ("t.jsonl", '{"text": "a"}\n{"text": \n', None, "line 2: it is not JSON"),
        ("t.txt", '{"text": "A cat"}\n', None, r"JSON lines have the ending \.jsonl"),
        ("t.txt", "A cat\n", "text", "is plain text, a sentence a line: it has no column 'text'"),
        ("t.txt.zst", "A cat\n", None, r"unpack it first \(zstd -d "),
    ],
)
def test_a_file_that_would_be_read_as_something_else_is_refused(name, content, column, said, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=said):
        list(read_sentences(tmp_path / name, column))
