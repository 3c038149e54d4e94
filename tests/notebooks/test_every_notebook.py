"""The form that every notebook keeps."""

import ast
import re
from pathlib import Path
from statistics import median

import lessons
import nbformat
import pytest
from cselab_lab.headless.notebook_folder import bundled_notebooks, find_notebooks
from cselab_lab.parameters import parameters_of


@pytest.fixture(params=find_notebooks(bundled_notebooks()), ids=lambda path: path.stem)
def notebook(request):
    read = nbformat.read(request.param, as_version=4)
    read.metadata["name"] = Path(request.param).stem
    return read


@pytest.fixture
def lesson(notebook):
    if notebook.metadata["name"] == "gallery":
        pytest.skip("the gallery is no lesson")
    return notebook


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def asks_only(cell):
    """Whether a cell asks for guesses and does nothing else."""
    first, *others = ast.parse(cell.source).body or [None]
    shows_them = all(isinstance(line, ast.Expr) and isinstance(line.value, ast.Name) for line in others)
    return isinstance(first, ast.Assign) and ast.unparse(first.value).startswith("lesson.guess(") and shows_them


def sketches_only(cell):
    """Whether a cell draws a sketch and does nothing else."""
    *others, drawn = [""] + [line for line in cell.source.splitlines() if line.strip()]
    return drawn.startswith("sketches.") and all(not line or line.startswith("from ") for line in others)


def tagged(notebook, tag):
    return [at for at, cell in enumerate(notebook.cells) if tag in cell.metadata.get("tags", [])]


def test_one_cell_has_the_parameters_and_the_profile(notebook):
    assert parameters_of(notebook, notebook.metadata["name"])["profile"] == "classroom"


def test_cells_are_few_and_short(notebook):
    lengths = [len([line for line in cell.source.splitlines() if line.strip()]) for cell in code_cells(notebook)]
    hidden = sum(cell.metadata.get("jupyter", {}).get("source_hidden", False) for cell in code_cells(notebook))
    told = sum(
        asks_only(cell) or (sketches_only(cell) and not cell.metadata.get("jupyter")) for cell in code_cells(notebook)
    )
    assert len(lengths) - len(tagged(notebook, "exercise")) - hidden - told <= 18
    assert median(lengths) <= 8
    assert max(lengths) <= 30


def test_a_lesson_keeps_its_forty_five_minutes(lesson):
    assert lessons.over(lessons.measured(lesson)) == []


def test_the_measure_counts_what_a_reader_meets():
    cell, text = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    notebook = nbformat.v4.new_notebook(
        cells=[
            text("# one two $a + b$, 2 of them computing\n\n<details><summary>Hint</summary> not these</details>"),
            text(" ".join(["word"] * 150) + " [link](http://not.counted) $$x$$"),
            text("<details><summary>Explain</summary> three more words</details>"),
            cell("guess_both = lesson.guess(first=..., second=..., unit='points')"),
            cell("lesson.recall('00_tour', ..., ...)"),
            cell("x = 1\n\ny = 2\nz = 3"),
            cell("hidden = 1\n" * 20, metadata={"jupyter": {"source_hidden": True}}),
            cell("def yours(): ...", metadata={"tags": ["exercise"]}),
            cell("check"),
            text("<details><summary>Solution</summary>\n```python\ndef b():\n    x = 1\n    return x\n```\n</details>"),
            cell("def more(): ...", metadata={"tags": ["exercise", "further"]}),
        ]
    )
    found = lessons.measured(notebook)
    expected = {"words": 163, "guesses": 2, "pieces": 1, "further": 1}
    assert {name: found[name] for name in expected} == expected
    piece, reading, code = 3 + 2 * 1.5, 163 / 200 + 1, found["lines"] / 15
    assert found["minutes"] == round(piece + reading + code + 2 + 2 / 2 + 2)


def test_a_lesson_states_its_minutes_and_those_of_each_piece(lesson):
    assert f"**Time.** {lessons.measured(lesson)['minutes']} minutes, " in lesson.cells[0].source
    for at in tagged(lesson, "exercise"):
        asked = max(k for k in range(at) if lesson.cells[k].cell_type == "markdown")
        stated = lessons.EFFORT.findall("".join(c.source for c in lesson.cells[asked - 2 : asked + 1]))
        assert str(round(lessons.minutes_of_piece(lesson.cells[at + 2].source))) in dict(stated)


def test_the_teachers_pages_have_the_minutes_of_each_lesson():
    pages = [(lessons.NOTEBOOKS / "README.md"), lessons.NOTEBOOKS.parent / "docs" / "teaching.md"]
    notes, plans = (page.read_text(encoding="utf-8") for page in pages)
    for name, found in lessons.lessons().items():
        assert f"| `{name}` | {found['minutes']}" in notes
        row = " | ".join(str(found[what]) for what in ("minutes", "guesses", "pieces", "further"))
        assert f"| `{name}` | {row} |" in plans
    plan = plans.partition("### 3 hours")[2].partition("### ")[0]
    parts = {name: int(minutes) for minutes, name in re.findall(r"^\| (\d+) \| `?(\w+)", plan, re.MULTILINE)}
    minutes = [int(found) for found in re.findall(r"^\| (\d+) \|", plan, re.MULTILINE)]
    assert sum(minutes) == 180
    assert all(parts[name] == lessons.lessons()[name]["minutes"] for name in ("00_tour", "02_simcse", "10_benchmarks"))


def test_each_guess_has_a_name_and_a_folded_explanation(notebook):
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    assert [text for text in texts if "**Explain" in text] == []
    assert sum(text.count("<details>") for text in texts) == sum(text.count("</details>") for text in texts)
    names = [cell.source.partition(" = ")[0] for cell in code_cells(notebook) if "lesson.guess(" in cell.source]
    assert len(set(names)) == len(names) and all(name.startswith("guess_") for name in names)
    for cell in code_cells(notebook):
        if ".compare(" in cell.source and ".guess(" not in cell.source:
            assert re.findall(r"(\w+)\.compare\(", cell.source)[0] in names


def test_a_students_cell_imports_no_internals(lesson):
    seen = [cell for cell in code_cells(lesson) if not cell.metadata.get("jupyter", {}).get("source_hidden")]
    assert [
        cell.id for cell in seen if re.search(r"cselab_widgets\.kit|lessons\.(checks|exercises)", cell.source)
    ] == []


def test_the_top_has_the_goal_the_time_and_the_data(notebook):
    title = notebook.cells[0]
    assert title.cell_type == "markdown" and title.source.startswith("# ")
    for part in (r"\*\*(Goal\.|After this lesson you can)\*\*", r"\*\*Time\.\*\*", r"\*\*(Data|What is read)\.\*\*"):
        assert re.search(part, title.source), part


def test_versions_are_shown_and_numbers_recorded(notebook):
    """`lesson.setup` shows the versions, folded; a notebook without it prints them."""
    code = "\n".join(cell.source for cell in code_cells(notebook))
    assert re.search(r"versions\(\)|lesson\.setup\(", code) and "record(" in code


GIVES_AWAY = re.compile(r"Picture\(|\.show\(\)|print\(|lab\.record\(|px\.|\n(panel|[A-Z]\w+\(.*\))$")


def test_a_guess_is_compared_before_anything_is_shown(notebook):
    asking = [cell for cell in code_cells(notebook) if "lesson.guess(" in cell.source]
    assert [cell.id for cell in asking if not asks_only(cell)] == []
    comparing = [cell for cell in code_cells(notebook) if ".compare(" in cell.source]
    assert [cell.id for cell in comparing if GIVES_AWAY.search(cell.source.partition(".compare(")[0])] == []


LINK = re.compile(r"\[(\d\d · [^\]]+)\]\((\d\d_\w+\.ipynb)\)")


def test_a_link_calls_another_lesson_by_its_title(notebook):
    links = [link for cell in notebook.cells if cell.cell_type == "markdown" for link in LINK.findall(cell.source)]
    titles = {name: nbformat.read(bundled_notebooks() / name, as_version=4).cells[0].source for _, name in links}
    assert [words for words, name in links if not titles[name].startswith(f"# {words}")] == []


def test_no_output_and_no_state_of_a_run_is_kept(notebook):
    assert [cell.id for cell in code_cells(notebook) if cell.outputs or cell.execution_count] == []
    assert set(notebook.metadata) <= {"kernelspec", "language_info", "name"}
    assert all(set(cell.metadata) <= {"tags", "jupyter"} for cell in notebook.cells)


def test_cells_are_called_by_what_they_hold(notebook):
    names = [cell.id for cell in notebook.cells]
    assert len(set(names)) == len(names)
    assert [name for name in names if name.isalnum() and any(map(str.isdigit, name))] == []


def test_the_text_of_each_check_is_compared_by_nbval(notebook):
    assert set(tagged(notebook, "nbval-check-output")) >= set(tagged(notebook, "check"))


def test_each_exercise_has_its_check_and_a_folded_solution(notebook):
    exercises = tagged(notebook, "exercise")
    assert exercises
    for at in exercises:
        check, solution = notebook.cells[at + 1 : at + 3]
        assert "check" in check.metadata.get("tags", []) and (
            "lesson.check(" in check.source or "staged_check(" in check.source
        )
        assert solution.cell_type == "markdown"
        assert solution.source.startswith("<details>") and solution.source.endswith("</details>")
