"""The handout of the teacher's page: students get no solutions, the teacher gets them all."""

import nbformat
import pytest
import student_version
from cselab_lab.headless.notebook_folder import bundled_notebooks, find_notebooks

NOTEBOOKS = find_notebooks(bundled_notebooks())


@pytest.fixture(scope="module")
def handout(tmp_path_factory):
    target = tmp_path_factory.mktemp("class") / "handout"
    student_version.main(bundled_notebooks(), target)
    return target


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_handout_is_the_notebook_without_its_solutions(path, handout):
    whole, student = (nbformat.read(file, as_version=4) for file in (path, handout / path.name))
    left_out = [cell for cell in whole.cells if cell.id not in {kept.id for kept in student.cells}]
    exercises = [cell for cell in whole.cells if "exercise" in cell.metadata.get("tags", [])]
    assert len(left_out) == len(exercises) >= 1
    assert all(cell.source.startswith("<details><summary>Solution</summary>") for cell in left_out)
    assert not any("Solution</summary>" in cell.source for cell in student.cells)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_teacher_has_each_solution_unfolded(path, handout):
    teacher = nbformat.read(handout / "solutions" / path.name, as_version=4)
    asked, solved = teacher.cells[::2], teacher.cells[1::2]
    assert len(asked) == len(solved) >= 1
    assert all("```python" in cell.source for cell in solved)
    assert not any(cell.id.startswith("solution") for cell in asked)
    assert not any("Solution</summary>" in cell.source for cell in teacher.cells)


def test_the_recorded_numbers_lie_beside_the_handout(handout):
    recorded = sorted(file.name for file in (bundled_notebooks() / "recorded").iterdir())
    assert sorted(file.name for file in (handout / "recorded").iterdir()) == recorded
