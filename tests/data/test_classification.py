"""The transfer sets, from folders of synthetic rows with the published numbers of them."""

import csv
import re

import pytest

from cselab.data.classification import (
    CLASSIFICATION_ROWS,
    CLASSIFICATION_TASKS,
    FILES_BY_CLASS,
    FILES_BY_SPLIT,
    Labelled,
    load_classification,
)
from cselab.data.files import DataError, MissingFile
from cselab.data.published import published_parts


def sentence(number):
    return f"w{number} " + "x " * (number % 3) + "."


def sst_lines(rows):
    return [f"{sentence(n)} \t{n % 2}" for n in range(rows)]


def trec_lines(rows):
    kinds = ("ABBR:exp", "DESC:def", "ENTY:food", "HUM:ind", "LOC:city", "NUM:date")
    return [f"{kinds[n % 6]} What is {sentence(n)}" for n in range(rows)]


def mrpc_lines(rows):
    header = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String"
    return [header, *(f'{n % 2}\t{n}\t{n + 1}\tHe said " {sentence(n)}\t{sentence(n + 1)}' for n in range(rows))]


LINES = {"SST-2": sst_lines, "TREC": trec_lines, "MRPC": mrpc_lines}
MANY_FILES = sorted(part for parts in FILES_BY_CLASS.values() for part in parts)


def write(path, lines, encoding="utf-8", end="\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(line + end for line in lines).encode(encoding))


@pytest.fixture(scope="module")
def senteval(tmp_path_factory):
    """A whole SentEval folder with the right numbers of rows, none of them published text."""
    folder = tmp_path_factory.mktemp("senteval")
    for part in MANY_FILES:
        write(folder / part, [sentence(n) for n in range(published_parts("labelled")[part]["rows"])])
    for task, parts in FILES_BY_SPLIT.items():
        for part in parts.values():
            write(folder / part, LINES[task](published_parts("labelled")[part]["rows"]))
    return folder


@pytest.fixture
def mr(tmp_path):
    """Only MR, to be damaged."""
    for part in FILES_BY_CLASS["MR"]:
        write(tmp_path / part, [sentence(n) for n in range(5331)])
    return tmp_path


@pytest.mark.parametrize("task", CLASSIFICATION_TASKS)
def test_every_set_has_its_published_rows_and_classes(senteval, task):
    for split, rows in CLASSIFICATION_ROWS[task].items():
        loaded = load_classification(task, senteval, split)
        assert len(loaded) == rows
        assert set(loaded.labels) == set(range(len(loaded.classes)))
        assert loaded.provenance == "unknown text"
        assert bool(loaded.sentences2) == (task == "MRPC")


def test_rows_are_sorted_by_tokens_then_label(mr, senteval):
    """Rows are sorted by tokens then label and ties keep the order of the files."""
    rows = load_classification("MR", mr)
    order = [(len(text.split()), label) for text, label in zip(rows.sentences, rows.labels, strict=True)]
    assert order == sorted(order)
    assert rows.sentences[:2] == ["w0 .", "w3 ."] and rows.labels[:2] == [0, 0]
    pairs = load_classification("MRPC", senteval, "test")
    rows = zip(pairs.sentences, pairs.sentences2, pairs.labels, strict=True)
    order = [(len(a.split()), len(b.split()), label) for a, b, label in rows]
    assert order == sorted(order)


@pytest.mark.parametrize(
    "task, positive",
    [("MR", "rt-polarity.pos"), ("CR", "custrev.pos"), ("SUBJ", "subj.objective"), ("MPQA", "mpqa.pos")],
)
def test_class_one_is_sentevals_class_one(senteval, task, positive):
    rows = load_classification(task, senteval)
    assert sum(rows.labels) == published_parts("labelled")[f"{task}/{positive}"]["rows"]


def test_blank_rows_count_come_first_and_read_as_a_full_stop(mr):
    path = mr / "MR/rt-polarity.neg"
    write(path, ["", " ", *(sentence(n) for n in range(5329))])
    rows = load_classification("MR", mr)
    assert len(rows) == 10662
    assert rows.sentences[:3] == [".", ".", "w0 ."] and rows.labels[:2] == [0, 0]


def test_white_space_and_line_ends_of_windows_make_no_difference(mr):
    before = load_classification("MR", mr)
    write(mr / "MR/rt-polarity.pos", [f" {sentence(n)} ".replace(" ", "  ") for n in range(5331)], end="\r\n")
    assert load_classification("MR", mr).hash == before.hash


def test_trec_is_read_as_latin_1(senteval, tmp_path):
    lines = trec_lines(5452)
    lines[7] = "LOC:city Where is Besan\xe7on ?"
    write(tmp_path / FILES_BY_SPLIT["TREC"]["train"], lines, encoding="latin-1")
    assert "Where is Besan\xe7on ?" in load_classification("TREC", tmp_path, "train").sentences


def test_a_byte_order_mark_and_single_quotes_do_not_shift(senteval):
    """A byte order mark and single quotes do not shift the columns."""
    rows = load_classification("MRPC", senteval, "train")
    assert all(text.startswith('He said " w') for text in rows.sentences)
    assert not any('"' in text for text in rows.sentences2)


def test_the_truncated_subj_file_in_circulation_is_recognised(senteval, tmp_path):
    write(tmp_path / "SUBJ/subj.objective", [sentence(n) for n in range(5000)])
    write(tmp_path / "SUBJ/subj.subjective", [sentence(n) for n in range(20)])
    with pytest.raises(DataError, match=r"subj\.subjective: 20 rows found, 5000 expected; this is the trunc"):
        load_classification("SUBJ", tmp_path)


TREC_LINE, SST_LINE = "LOC:city Where is Besan\xe7on ?", "a clich\xe9 of a film\t0"
GARBLED = "accented letters are garbled"
DAMAGE = [
    ("SST-2", "dev", -1, "no label here", "utf-8", "line 872: 1 tab-separated fields"),
    ("SST-2", "dev", -1, "a film\t7", "utf-8", "line 872: label '7'"),
    ("TREC", "test", 0, "What is it ?", "utf-8", "line 1: expected 'CLASS:detail"),
    ("TREC", "test", 0, "WHAT:x is it ?", "utf-8", "line 1: label 'WHAT'"),
    ("MRPC", "test", 0, "1\t1\t2\tone\tanother", "utf-8", "line 1: a header"),
    ("TREC", "test", 5, TREC_LINE, "utf-8", GARBLED),
    ("SST-2", "dev", 5, SST_LINE.encode().decode("cp1252"), "utf-8", GARBLED),
    ("SST-2", "dev", 5, SST_LINE.replace("\xe9", "\ufffd"), "utf-8", GARBLED),
    ("SST-2", "dev", 5, SST_LINE, "latin-1", "line 6: byte 0xe9 is not utf-8"),
]


@pytest.mark.parametrize("task, split, row, line, encoding, said", DAMAGE)
def test_a_damaged_line_or_another_encoding_is_named(tmp_path, task, split, row, line, encoding, said):
    path, lines = tmp_path / FILES_BY_SPLIT[task][split], LINES[task](CLASSIFICATION_ROWS[task][split])
    lines[row] = line
    write(path, lines, encoding=encoding)
    with pytest.raises(DataError, match=f"{re.escape(path.name)}.*{said}"):
        load_classification(task, tmp_path, split)


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC])
def test_a_file_from_a_csv_writer_is_noticed(tmp_path, quoting):
    path = tmp_path / FILES_BY_SPLIT["MRPC"]["test"]
    path.parent.mkdir(parents=True)
    header, *lines = mrpc_lines(1725)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(header + "\n")
        writer = csv.writer(file, delimiter="\t", quoting=quoting)
        for quality, *fields in (line.split("\t") for line in lines):
            writer.writerow([int(quality), *fields])
    with pytest.raises(DataError, match=r"paraphrase_test\.txt: quotes were added"):
        load_classification("MRPC", tmp_path, "test")


def test_unknown_names_list_the_allowed(mr):
    with pytest.raises(ValueError, match=r"unknown transfer set 'SST5'.* Choose one of MR, CR, SUBJ"):
        load_classification("SST5", mr)
    with pytest.raises(ValueError, match=r"unknown split of MR 'test'\. Choose one of all"):
        load_classification("MR", mr, "test")
    with pytest.raises(MissingFile, match=r"subj\.objective"):
        load_classification("SUBJ", mr)


def test_labelled_rows_must_fit_together():
    with pytest.raises(ValueError, match="2 sentences for 1 labels"):
        Labelled(["a", "b"], [0], ("no", "yes"))
    with pytest.raises(ValueError, match="1 second sentences for 2 labels"):
        Labelled(["a", "b"], [0, 1], ("no", "yes"), sentences2=["c"])
    with pytest.raises(ValueError, match="label 2 is none of the 2 classes"):
        Labelled(["a", "b"], [0, 2], ("no", "yes"))


def test_the_hash_sees_sentences_labels_and_order():
    hashes = {
        Labelled(["a", "b"], [0, 1], ("no", "yes")).hash,
        Labelled(["a", "c"], [0, 1], ("no", "yes")).hash,
        Labelled(["a", "b"], [1, 1], ("no", "yes")).hash,
        Labelled(["b", "a"], [1, 0], ("no", "yes")).hash,
        Labelled(["a", "b"], [0, 1], ("no", "yes"), sentences2=["b", "a"]).hash,
    }
    assert len(hashes) == 5
