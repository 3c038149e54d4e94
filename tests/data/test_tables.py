import csv
import gzip
import json
import lzma
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cselab.data import DataError, read_pairs, read_rows, read_sentences
from cselab.data.files import is_blank
from cselab.data.rows import check_rows, check_sentences, numbered_sentences
from cselab.data.tables import text_column

TEXTS = ["A cat, old", "Two words", 'say "yes"', "caf\xe9"]
PACKED = {"": open, ".gz": gzip.open, ".xz": lzma.open}
TEXT = st.text(min_size=1).filter(
    lambda text: text == text.strip() and not is_blank(text) and not {"\r", "\0"} & set(text)
)


@given(
    st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=5),
    st.sampled_from([".csv", ".tsv", ".jsonl", ".ndjson"]),
    st.sampled_from([*PACKED]),
)
def test_read_rows_gives_what_was_written(rows, ending, packing):
    """Whatever the form: quotation marks, separators and ends of lines in a text are part of it."""
    names = ("sentence", "negation")
    with TemporaryDirectory() as folder:
        file = Path(folder, f"t{ending}{packing}")
        with PACKED[packing](file, "wt", encoding="utf-8", newline="") as opened:
            if ending in (".csv", ".tsv"):
                csv.writer(opened, delimiter="," if ending == ".csv" else "\t").writerows([names, *rows])
            else:
                opened.writelines(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)
        assert list(read_rows(file, names[::-1])) == [row[::-1] for row in rows]
        assert list(read_sentences(file)) == [row[0] for row in rows]
        assert text_column(file)[0] == "sentence"


def rows_of(table):
    return list(read_sentences(table)), list(read_rows(table, ("text", "id")))[2]


def test_parquet_is_read_a_block_at_a_time(tmp_path):
    pytest.importorskip("pyarrow", reason="reading Parquet needs pyarrow")
    frame = pandas.DataFrame({"id": range(4), "text": TEXTS, "tags": [["a"]] * 4})
    frame.to_parquet(tmp_path / "t.parquet")
    assert rows_of(tmp_path / "t.parquet") == (TEXTS, ('say "yes"', "2"))
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "t.parquet").read_bytes()[:-20])
    with pytest.raises(DataError, match=r"cut\.parquet cannot be read as Parquet"):
        list(read_sentences(tmp_path / "cut.parquet"))


def test_the_folder_of_a_data_set_is_a_table(tmp_path):
    """The folder of a data set is a table and of several splits train."""
    datasets = pytest.importorskip("datasets", reason="reading a data set needs datasets")
    found = datasets.Dataset.from_dict({"id": range(4), "text": TEXTS})
    found.save_to_disk(tmp_path / "one")
    datasets.DatasetDict({"train": found, "test": found.select([0])}).save_to_disk(tmp_path / "splits")
    datasets.DatasetDict({"test": found.select([0])}).save_to_disk(tmp_path / "test alone")
    assert rows_of(tmp_path / "one") == rows_of(tmp_path / "splits") == (TEXTS, ('say "yes"', "2"))
    assert text_column(tmp_path / "one")[0] == "text"
    assert list(read_sentences(tmp_path / "splits/test")) == TEXTS[:1]
    with pytest.raises(DataError, match=r"none is called train: name one .*test alone/test"):
        read_sentences(tmp_path / "test alone")


@pytest.mark.parametrize(
    "name, module, said",
    [
        ("t.parquet", "pyarrow", r"t\.parquet: reading Parquet needs pyarrow: pip install pyarrow, or save a \.csv"),
        ("t", "datasets", "t: reading a data set needs datasets: pip install datasets"),
    ],
)
def test_what_needs_a_library_that_is_not_installed_names_it(name, module, said, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, "compression", None)
    file = tmp_path / name / "dataset_info.json" if name == "t" else tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("{}")
    with pytest.raises(DataError, match=said):
        list(read_sentences(tmp_path / name))


def test_a_pandas_table_is_taken_where_sentences_or_rows_are():
    table = pandas.DataFrame({"id": range(4), "Text": TEXTS, "negation": TEXTS[::-1]})
    assert check_sentences(table) == check_sentences(table["Text"]) == check_sentences(table[["Text"]]) == TEXTS
    assert check_rows(table, ("negation", "Text"), "sncse")[0] == (TEXTS[3], TEXTS[0])
    assert check_rows(table["Text"], ("sentence",), "simcse") == TEXTS
    with pytest.raises(ValueError, match=r"columns \(id, negation\) was given, and none is called sentence, text"):
        check_sentences(table.drop(columns="Text"))
    with pytest.raises(ValueError, match=r"sncse needs rows of 2 texts .* and the table has no column 'sentence'"):
        check_rows(table, ("sentence", "negation"), "sncse")


def test_the_column_is_the_one_that_is_named(tmp_path):
    """The column is the one that is named or numbered else one that is known."""
    file = tmp_path / "t.csv"
    file.write_text("Title,Sentence\nold,A cat\nnew,A dog\n")
    assert list(read_sentences(file)) == list(read_sentences(file, "sentence")) == ["A cat", "A dog"]
    assert list(read_sentences(file, "title")) == ["old", "new"]
    assert list(numbered_sentences(file, "2")) == [(1, "Sentence"), (2, "A cat"), (3, "A dog")]


@pytest.mark.parametrize("header", ["sentence,sentence", "sentence,x,Sentence", "text,TEXT", "x,sentence,sentence"])
def test_two_columns_of_one_name_are_no_column_of_sentences(header, tmp_path):
    width = header.count(",") + 1
    (tmp_path / "t.csv").write_text(f"{header}\n" + ",".join(["a dog"] * width) + "\n")
    with pytest.raises(DataError, match=r"t\.csv: 2 columns are called"):
        list(read_sentences(tmp_path / "t.csv"))


def test_two_columns_of_one_name_are_refused_in_rows_and_pairs(tmp_path):
    (tmp_path / "t.tsv").write_text("sentence\tentailment\tsentence\na\tb\tc\n")
    (tmp_path / "p.tsv").write_text("sentence1\tSentence_1\tsentence2\tscore\na dog\ta cat\ta cow\t3\n")
    with pytest.raises(DataError, match="2 columns are called 'sentence'"):
        list(read_rows(tmp_path / "t.tsv", ("sentence", "entailment")))
    with pytest.raises(DataError, match="2 columns are called 'sentence1'"):
        read_pairs(tmp_path / "p.tsv")
    (tmp_path / "p.tsv").write_text("sentence1\tx\tx\tsentence2\tscore\na dog\t1\t2\ta cow\t3\n")
    assert read_pairs(tmp_path / "p.tsv").scores == [3]
