"""Notebooks are copied to work in, and nobody's work is lost when they are copied again."""

import nbformat
import pytest
from cselab_lab.headless.notebook_folder import copy_notebooks
from nbformat.v4 import new_code_cell, new_notebook, new_output


def write(path, source, outputs=()):
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=[new_code_cell(source, outputs=list(outputs))]), path)


def source(path):
    return nbformat.read(path, as_version=4).cells[0].source


@pytest.fixture
def course(tmp_path):
    write(tmp_path / "course" / "00_tour.ipynb", "one = 1")
    (tmp_path / "course" / "recorded").mkdir()
    (tmp_path / "course" / "recorded" / "00_tour.smoke.json").write_text("{}")
    return tmp_path / "course"


def test_a_copy_holds_the_notebooks_and_what_lies_beside_them(course, tmp_path):
    assert copy_notebooks(course, tmp_path / "work") == {"00_tour.ipynb": "copied"}
    assert source(tmp_path / "work" / "00_tour.ipynb") == "one = 1"
    assert (tmp_path / "work" / "recorded" / "00_tour.smoke.json").exists()


def test_copying_again_brings_new_notebooks_and_new_versions(course, tmp_path):
    work = tmp_path / "work"
    copy_notebooks(course, work)
    write(course / "00_tour.ipynb", "one = 'new'")
    write(course / "01_more.ipynb", "more = 1")
    assert copy_notebooks(course, work) == {"00_tour.ipynb": "updated", "01_more.ipynb": "copied"}
    assert source(work / "00_tour.ipynb") == "one = 'new'"
    assert set(copy_notebooks(course, work).values()) == {"unchanged"}


def test_an_edited_copy_is_never_touched(course, tmp_path):
    work = tmp_path / "work"
    copy_notebooks(course, work)
    write(work / "00_tour.ipynb", "one = 2  # mine")
    write(course / "00_tour.ipynb", "one = 'new'")
    for _ in range(2):
        assert copy_notebooks(course, work) == {"00_tour.ipynb": "yours kept"}
        assert source(work / "00_tour.ipynb") == "one = 2  # mine"


def test_a_copy_keeps_outputs_until_its_notebook_changes(course, tmp_path):
    work = tmp_path / "work"
    copy_notebooks(course, work)
    write(work / "00_tour.ipynb", "one = 1", [new_output("stream", text="ran")])
    assert copy_notebooks(course, work) == {"00_tour.ipynb": "unchanged"}
    assert nbformat.read(work / "00_tour.ipynb", as_version=4).cells[0].outputs
    write(course / "00_tour.ipynb", "one = 'new'")
    assert copy_notebooks(course, work) == {"00_tour.ipynb": "updated"}


def test_a_folder_is_not_copied_onto_itself(course):
    with pytest.raises(ValueError, match="own folder"):
        copy_notebooks(course, course)
