"""The clustering sets, from files of synthetic rows with the published numbers of them."""

import pytest

from cselab.data import data_root
from cselab.data.clustering import CLUSTERING_SIZES, CLUSTERING_TASKS, FILES, load_clustering
from cselab.data.files import DataError, MissingFile


def lines(task, end="\n"):
    rows, classes = CLUSTERING_SIZES[task]
    return [f"{n % classes + 1}\ttext number {n}{end}" for n in range(rows)]


def write(folder, task, content):
    folder.mkdir(exist_ok=True, parents=True)
    (folder / FILES[task]).write_bytes("".join(content).encode())


@pytest.mark.parametrize("task", CLUSTERING_TASKS)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\t\r\n"])
def test_every_set_has_its_rows_whatever_ends_its_lines(tmp_path, task, end):
    """Every set has its rows and classes whatever ends its lines."""
    write(tmp_path, task, lines(task, end))
    loaded = load_clustering(task, tmp_path)
    assert (len(loaded), len(loaded.classes)) == CLUSTERING_SIZES[task]
    assert loaded.sentences[:2] == ["text number 0", "text number 1"]
    assert [loaded.classes[label] for label in loaded.labels[:3]] == ["1", "2", "3"]
    assert loaded.provenance == "unknown text"


def test_the_files_may_lie_in_a_folder_beneath(tmp_path):
    """The files may lie in a folder beneath and their case does not matter."""
    (tmp_path / "clustering").mkdir()
    (tmp_path / "clustering" / "Tweet.tsv").write_text("".join(lines("Tweet")))
    assert len(load_clustering("Tweet", tmp_path)) == 2472


def test_a_tab_within_a_text_becomes_a_space(tmp_path):
    content = lines("Tweet")
    content[0] = "1\tone\ttwo\n"
    write(tmp_path, "Tweet", content)
    assert load_clustering("Tweet", tmp_path).sentences[0] == "one two"


@pytest.mark.parametrize(
    "changed, said",
    [
        (lambda lines: lines[:7000], "7000 rows found, 8000 expected"),
        (lambda lines: [line.replace("4\t", "3\t", 1) for line in lines], "3 classes found, 4 expected"),
        *(
            (lambda lines, bad=bad: [*lines[:41], bad, *lines[42:]], "expected a label, a tab and a text")
            for bad in ("\n", "3\n", "3\t \n", "\ttext\n", "only a text\n")
        ),
    ],
)
def test_missing_rows_classes_labels_and_texts_are_named(tmp_path, changed, said):
    write(tmp_path, "AgNews", changed(lines("AgNews")))
    with pytest.raises(DataError, match=rf"agnews-8000\.tsv(, line 42)?: {said}"):
        load_clustering("AgNews", tmp_path)


def test_a_set_that_is_absent_and_an_unknown_one(tmp_path, monkeypatch):
    monkeypatch.setenv("CSELAB_DATA", "")
    with pytest.raises(MissingFile, match="set CSELAB_DATA"):
        load_clustering("Tweet")
    with pytest.raises(MissingFile, match=r"Biomedical: no file biomedical\.tsv"):
        load_clustering("Biomedical", tmp_path)
    with pytest.raises(ValueError, match=r"unknown clustering set 'News'.* Choose one of AgNews"):
        load_clustering("News", tmp_path)


def test_the_real_sets_that_are_on_this_machine_are_as_published():
    for task, size in CLUSTERING_SIZES.items():
        try:
            loaded = load_clustering(task, data_root())
        except MissingFile:
            continue
        assert (len(loaded), len(loaded.classes)) == size
        if task not in ("Biomedical", "Tweet"):
            assert loaded.provenance == "as published"
