"""Files and tables as people bring them: the right rows, or a message that says what is wrong and what is wanted."""

import re
from collections import namedtuple

import numpy as np
import pandas
import pytest

from cselab import evaluate
from cselab.data import DataError, as_pairs, read_pairs, read_rows, read_sentences
from cselab.data.pairs import is_pairs
from cselab.data.rows import check_rows
from cselab.evaluators import word_overlap


def written(file, content):
    """The file with this text, these bytes or this table in it."""
    if isinstance(content, pandas.DataFrame):
        pytest.importorskip("pyarrow")
        content.to_parquet(file)
    else:
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


@pytest.mark.parametrize(
    "name, content, expected",
    [
        ("t.json", '[{"id": 1, "text": "one"}, {"text": "two", "id": 2}]', ["one", "two"]),
        ("t.json", '[\n "one",\n "two"\n]', ["one", "two"]),
        ("t.json", '{"text": "one"}\n{"text": "two"}\n', ["one", "two"]),
        ("t.jsonl", '"one"\n"two"\n', ["one", "two"]),
        ("t.txt", '["Hi," he said.\n[1] A note\n', ['["Hi," he said.', "[1] A note"]),
        ("t.txt", "--- he said\n---\n", ["--- he said", "---"]),
        ("t.txt", "<3 this is love\n<unk> is a token", ["<3 this is love", "<unk> is a token"]),
        ("t.txt", "one\ttab\n", ["one\ttab"]),
        ("t.txt", "one\rtwo\r", ["one", "two"]),
        ("corpus", "One \u2028 sentence\ntwo", ["One \u2028 sentence", "two"]),
        ("t.txt", "one\r\r\ntwo\r\r\n", ["one", "two"]),
        ("t.csv", "id,text\r1,one\r2,two\r", ["one", "two"]),
        ("t.csv", f"text\n{'one ' * 50_000}two\n", ["one " * 50_000 + "two"]),
        ("t.csv", 'id;text\n1;"one; a, b"\n2;c, two\n', ["one; a, b", "c, two"]),
        ("t.csv", "sep=;\nid;text\n1;one\n", ["one"]),
        ("t.tsv", 'id\ttext\n1\t"say ""no"""\n2\t"two\nlines"\n', ['say "no"', "two\nlines"]),
        ("t.tsv", 'id\ttext\n1\t"one" and a "\n2\t"two"\n', ['"one" and a "', '"two"']),
        ("t.tsv", 'id\ttext\n1\t" one\n2\ttwo "\n', ['" one', 'two "']),
        ("t.tsv", 'text\tid\n"tab\there"\t1\n', ["tab\there"]),
        ("t.jsonl", '{"text": "\\ud83d\\ude00"}\n', ["\U0001f600"]),
    ],
)
def test_a_corpus_is_read_as_it_is_meant(name, content, expected, tmp_path):
    file = written(tmp_path / name, content)
    assert list(read_sentences(file)) == list(read_sentences(file, every_row=True)) == expected


@pytest.mark.parametrize(
    "name, content, kept, said",
    [
        ("t.csv", "id,text\n1,one\n2,\n3,three\n4,   \n", ["one", "three"], "2 rows have no text (lines 3, 5)"),
        ("t.tsv", "text\tid\none\t1\n\t2\n", ["one"], "1 row has no text (line 3)"),
        ("t.txt", "one\n\n \ntwo\n", ["one", "two"], "2 rows have no text (lines 2, 3)"),
        ("t.txt", "one\n" + "\n" * 6, ["one"], "6 rows have no text (lines 2, 3, 4, 5, 6 ...)"),
        (
            "t.jsonl",
            '{"text": "one"}\n{"sentence": "two"}\n{"text": null}\n\n{}\n{"text": ["six"]}\n',
            ["one"],
            "5 rows",
        ),
        ("t.json", '["one", {"body": "two"}, ""]', ["one"], "2 rows have no text (lines 2, 3)"),
        ("t.parquet", pandas.DataFrame({"text": ["one", None, "", "four"]}), ["one", "four"], "2 rows"),
        ("t.parquet", pandas.DataFrame({"text": [1.5, float("nan")]}), ["1.5"], "1 row has no text (line 2)"),
    ],
)
def test_rows_without_text_are_counted_in_a_corpus_and_refused(name, content, kept, said, tmp_path):
    """Rows without text are counted in a corpus and refused where each is wanted."""
    file = written(tmp_path / name, content)
    with pytest.warns(UserWarning) as warned:
        assert list(read_sentences(file)) == kept
    assert said in str(warned[0].message) and len(warned) == 1
    with pytest.raises(DataError, match=f"{re.escape(said)}.*every row must have text"):
        read_sentences(file, every_row=True)


ONE = (["a dog"], ["a cat"], [3.5], "")
SPLITS = "score,split,sentence1,sentence2\n1,train,x,y\n3.5,test,a dog,a cat\n"


@pytest.mark.filterwarnings("ignore:.*(no line of names|only test is taken)")
@pytest.mark.parametrize(
    "name, content, expected",
    [
        ("t.csv", "sentence_a,sentence_b,similarity\na dog,a cat,3.5\n", ONE),
        ("t.txt", "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tlabel\n1\ta dog\ta cat\t3.5\t0\n", ONE),
        ("t.tsv", "ID\tText 1\tText 2\tGold\n7\ta dog\ta cat\t3.5\n", ONE),
        ("t.jsonl", '{"sentence_pair_id": "1", "sentence1": "a dog", "sentence2": "a cat", "label": 3.5}\n', ONE),
        ("t.json", '[{"score": 3.5, "text1": "a dog", "text2": "a cat"}]', ONE),
        ("t.parquet", pandas.DataFrame({"s1": ["a dog"], "s2": ["a cat"], "similarity_score": [3.5]}), ONE),
        ("t.tsv", 'sentence1\tsentence2\tscore\n"a ""dog"""\ta cat\t3.5\n', (['a "dog"'], ["a cat"], [3.5], "")),
        ("t.tsv", "12\t2012\t3.5\ta dog\ta cat\n", ONE),
        ("t.csv", "main\tMSR\t2012test\t0001\t3.500\ta dog\ta cat\n", ONE),
        ("t.tsv", "a dog\ta cat\t3.5\tMSR\n", ONE),
        ("t.csv", "S1,S2,x,y,1\nS1,S3,a dog,a cat,0\n", (["x", "a dog"], ["y", "a cat"], [1.0, 0.0], "")),
        ("t.tsv", "x\ty\t1\tdev\na dog\ta cat\t3.5\ttest\n", (*ONE[:3], "test")),
        ("t.csv", SPLITS, (["a dog"], ["a cat"], [3.5], "test")),
        ("t.csv", SPLITS.replace("train", "TEST").replace(",test", ",dev"), (["x"], ["y"], [1.0], "test")),
        ("t.csv", SPLITS.replace("test", "train"), (["x", "a dog"], ["y", "a cat"], [1.0, 3.5], "train")),
        ("t.csv", SPLITS.replace("split", "Fold"), (*ONE[:3], "test")),
        ("t.csv", SPLITS.replace("split", "fold").replace("train", "1"), (*ONE[:3], "test")),
    ],
)
def test_pairs_are_found_by_name_or_content(name, content, expected, tmp_path):
    file = written(tmp_path / name, content)
    pairs = read_pairs(file)
    assert (pairs.sentences1, pairs.sentences2, pairs.scores, pairs.split) == expected


def test_what_was_chosen_is_said_and_a_split_can_be_asked_for(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text(SPLITS)
    with pytest.warns(UserWarning, match="its column split names the splits train, test: only test is taken"):
        read_pairs(file)
    assert read_pairs(file, "train").scores == as_pairs(pandas.read_csv(file), split="train").scores == [1.0]
    with pytest.raises(DataError, match="the splits train, test, not dev"):
        read_pairs(file, "dev")
    file.write_text("3.5,a dog,a cat\n")
    with pytest.warns(UserWarning, match="columns 2 and 3 are taken for the sentences, 1 for the score"):
        read_pairs(file)


def test_of_a_folder_of_data_sets_pairs_are_those_of_test(tmp_path):
    datasets = pytest.importorskip("datasets", reason="reading a data set needs datasets")
    splits = {name: datasets.Dataset.from_list([dict(zip(NAMES, row, strict=True))]) for name, row in FOLDER.items()}
    datasets.DatasetDict(splits).save_to_disk(tmp_path / "pairs")
    assert as_pairs(tmp_path / "pairs").scores == [3.5] and is_pairs(str(tmp_path / "pairs"))
    assert read_pairs(tmp_path / "pairs").split == "test"
    assert read_pairs(tmp_path / "pairs", "train").scores == [1.0]
    with pytest.raises(DataError, match=r"a dictionary of train, test was given.*dataset\['test'\]"):
        as_pairs(datasets.DatasetDict(splits))


NAMES = ("sentence1", "sentence2", "score")
FOLDER = {"train": ("x", "y", 1.0), "test": ("a dog", "a cat", 3.5)}
ROWS = [("a dog runs", "a dog runs", 5.0), ("a dog runs", "a cat runs", 2.0), ("a dog", "no", 0.0)]
FRAME = pandas.DataFrame(ROWS, columns=NAMES)


class Example:
    """As `sentence_transformers.InputExample` holds a row."""

    def __init__(self, texts, label=0):
        self.texts, self.label = texts, label


def in_memory(frame):
    """The same table in every form in which Python holds one."""
    names = list(frame.columns)
    yield "frame", frame
    yield "dicts", frame.to_dict("records")
    yield "generator of dicts", (row for row in frame.to_dict("records"))
    yield "columns", frame.to_dict("list")
    yield "series", frame.to_dict("series")
    yield "records", frame.to_records(index=False)
    yield "itertuples", frame.itertuples()
    yield "named tuples", list(map(namedtuple("Row", names)._make, frame.values))
    yield "zip", zip(*(frame[name] for name in names), strict=True)
    yield "values", frame.values
    yield "objects", np.array(frame.values.tolist(), dtype=object)
    datasets, pyarrow = pytest.importorskip("datasets"), pytest.importorskip("pyarrow")
    yield "arrow", pyarrow.Table.from_pandas(frame)
    yield "data set", datasets.Dataset.from_pandas(frame)
    yield "streamed", datasets.Dataset.from_pandas(frame).to_iterable_dataset()


def test_pairs_in_memory_are_the_same_in_every_form():
    for form, held in [*in_memory(FRAME), ("examples", [Example(list(row[:2]), row[2]) for row in ROWS])]:
        assert evaluate(word_overlap, held).scores == evaluate(word_overlap, ROWS).scores, form
    for form, held in in_memory(FRAME[["score", "sentence2", "sentence1"]].rename(columns={"score": "similarity"})):
        if form not in ("zip", "values", "objects"):
            assert as_pairs(held).scores == FRAME["score"].tolist(), form
    dicts = FRAME.to_dict("records")
    mixed = [dicts[0], *(dict(reversed(one.items())) for one in dicts[1:])]  # by name, whatever the order
    assert as_pairs(mixed).sentences1 == FRAME["sentence1"].tolist()


def test_rows_in_memory_are_the_same_in_every_form():
    texts, names = ["one two", "three"], ("sentence", "entailment", "contradiction")
    for form, held in [*in_memory(pandas.DataFrame({"text": texts})), ("examples", [Example([t, t]) for t in texts])]:
        assert check_rows(held, ("sentence",), "simcse") == texts, form
    triples = pandas.DataFrame([("a", "b", "c"), ("d", "e", "f")], columns=names)
    for form, held in [*in_memory(triples), ("examples", map(Example, triples.values.tolist()))]:
        assert check_rows(held, names, "supervised_simcse") == list(map(tuple, triples.values)), form


def test_blank_lines_in_a_table_of_several_columns_are_no_rows(tmp_path):
    (tmp_path / "t.tsv").write_text("sentence\tnegation\na\tb\n\nc\td\n")
    assert list(read_rows(tmp_path / "t.tsv", ("negation", "sentence"))) == [("b", "a"), ("d", "c")]
