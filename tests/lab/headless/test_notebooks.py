import json

import nbformat
import pytest
from cselab_lab.headless.notebook_folder import find_notebooks
from cselab_lab.headless.notebooks import run_notebooks
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

pytestmark = pytest.mark.lesson

PARAMETERS = "profile = 'classroom'\nsteps = 200"
RECORDS = """
from cselab_lab.headless.record import record
record("steps", steps)
record("rho", steps / 1000, tolerance=0.05)
record("profile", profile)
"""


class Course:
    """A folder of notebooks, and somewhere to run them."""

    def __init__(self, path):
        self.folder, self.output, self.recorded = path / "notebooks", path / "out", path / "recorded"
        self.said = []

    def write(self, name, *sources, parameters=(PARAMETERS,)):
        """A notebook of code cells below a title and its parameters; a source in a tuple is text."""
        cells = [new_markdown_cell(f"# The {name} notebook")]
        cells += [new_code_cell(source, metadata={"tags": ["parameters"]}) for source in parameters]
        cells += [new_markdown_cell(*one) if isinstance(one, tuple) else new_code_cell(one) for one in sources]
        self.folder.mkdir(exist_ok=True)
        nbformat.write(new_notebook(cells=cells), self.folder / f"{name}.ipynb")

    def run(self, *names, profile="smoke", overrides=None, **more):
        more |= {"folder": self.folder, "recorded": self.recorded, "echo": self.said.append}
        return run_notebooks(names, profile, overrides, self.output, **more)


@pytest.fixture
def course(tmp_path):
    return Course(tmp_path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Three notebooks that ran once: a good one, one that fails in a later section, one whose kernel dies."""
    course = Course(tmp_path_factory.mktemp("course"))
    course.write("00_good", RECORDS, "from ipywidgets import IntSlider\nIntSlider()", "print('the', 'end')")
    course.write("01_bad", RECORDS, ("## Second section",), "\n1 / 0\n", "record('late', 1)")
    course.write("02_dead", "import os; os._exit(1)", parameters=("width = 3",))
    course.results = course.run()
    return course


def test_parameters_and_profile_reach_the_notebook(finished):
    good, bad, dead = finished.results
    assert good.parameters == bad.parameters == {"profile": "smoke"}
    assert dead.parameters == {}
    assert [entry["value"] for entry in good.records] == [200, 0.2, "smoke"]


def test_a_failure_names_the_cell_and_keeps_what_ran(finished):
    bad = finished.results[1]
    assert bad.problems == ["cell 4/5 (Second section: 1 / 0) failed with ZeroDivisionError: division by zero"]
    partial = nbformat.read(bad.executed, as_version=4)
    assert [cell.execution_count for cell in partial.cells if cell.cell_type == "code"] == [1, 2, 3, 4, None]
    assert [entry["name"] for entry in bad.records] == ["steps", "rho", "profile"]
    page = bad.page.read_text(encoding="utf-8")
    assert "division by zero" in page and "<title>The 01_bad notebook</title>" in page


def test_a_kernel_that_dies_names_the_cell_too(finished):
    dead = finished.results[2]
    assert dead.problems == ["cell 2/2 (The 02_dead notebook: import os; os._exit(1)) stopped the kernel: Kernel died"]
    assert dead.executed.exists() and dead.page.exists()


def test_progress_names_each_cell_and_shows_what_it_prints(finished):
    said = "\n".join(finished.said)
    assert "[1/5]" in said and "[5/5]" in said
    assert "Second section: 1 / 0" in said
    assert "      the end" in finished.said


def test_no_widget_state_is_stored(finished):
    executed = finished.results[0].executed
    assert "widgets" not in nbformat.read(executed, as_version=4).metadata
    assert executed.stat().st_size < 20_000


def test_the_records_of_all_notebooks_stand_in_one_file(finished):
    good, bad, dead = json.loads((finished.output / "records.json").read_text(encoding="utf-8"))
    assert (good["notebook"], good["profile"], good["parameters"]) == ("00_good", "smoke", {"profile": "smoke"})
    assert good["records"][1] == {"name": "rho", "value": 0.2, "tolerance": 0.05}
    assert good["seconds"] > 0 and good["versions"].keys() >= {"cselab", "python", "torch"}
    assert len(bad["records"]) == 3 and dead["records"] == []


def test_the_notebooks_themselves_are_left_as_they_were(finished):
    source = nbformat.read(finished.folder / "00_good.ipynb", as_version=4)
    assert len(source.cells) == 5
    assert not any(cell.get("outputs") for cell in source.cells)


def test_a_notebook_without_a_baseline_passes_and_says_so(finished):
    assert finished.results[0].notes == [f"no recorded numbers yet: {finished.recorded / '00_good.smoke.json'}"]


def test_numbers_are_held_against_the_baseline_that_was_agreed(course):
    course.write("00_tour", RECORDS)
    (agreed,) = course.run("00", update_recorded=True)
    assert agreed.passed and "recorded numbers written" in agreed.notes[0]
    course.said.clear()
    (again,) = course.run("00", quiet=True)
    assert again.passed and not again.notes
    said = [" ".join(line.split()) for line in course.said]  # a table, and nothing of the cells
    assert said[0] == "recorded now difference tolerance ok"
    assert said[2] == "rho 0.2 0.2 +0 0.05 ok"
    assert said[4] == "3 of 3 within tolerance" and said[5].startswith("00_tour passed in")

    course.write("00_tour", RECORDS, parameters=[PARAMETERS.replace("200", "251")])
    (moved,) = course.run("00")
    assert moved.problems == [
        "'steps' is 251, recorded was 200 (tolerance 1e-06)",
        "'rho' is 0.251, recorded was 0.2 (tolerance 0.05)",
    ]


def test_numbers_of_overridden_parameters_are_not_compared(course):
    bars = "from tqdm.auto import tqdm\nfor _ in tqdm(range(steps), desc='bar'):\n    pass"
    course.write("00_tour", RECORDS, bars)
    course.recorded.mkdir()
    (course.recorded / "00_tour.smoke.json").write_text('{"records": []}')
    (result,) = course.run(overrides={"steps": "3"})
    assert result.records[0]["value"] == 3
    assert result.passed and result.notes == ["not compared with recorded numbers: steps overridden"]

    # a bar of another library leaves its last line, not a widget frozen at 0 %
    assert any("bar: 100%" in line for line in course.said)
    executed = result.executed.read_text(encoding="utf-8")
    assert "widget-view" not in executed and "100%" in executed


def test_a_name_recorded_twice_is_a_problem(course):
    course.write("00_twice", RECORDS, "record('rho', 0.2)")
    (result,) = course.run()
    assert result.problems == ["'rho' is recorded twice"]


@pytest.mark.parametrize("count", [0, 2])
def test_a_notebook_has_exactly_one_cell_of_parameters(course, count):
    course.write("00_tour", "x = 1", parameters=[PARAMETERS] * count)
    with pytest.raises(ValueError, match=f"00_tour: .*exactly one cell tagged 'parameters'; this one has {count}"):
        course.run()


def test_names_are_stems_or_numbers_and_all_when_none_is_given(course):
    for name in ("01_whitening", "00_tour", "02_noise"):
        course.write(name)

    def stems(*names):
        return [path.stem for path in find_notebooks(course.folder, names)]

    assert stems() == ["00_tour", "01_whitening", "02_noise"]
    assert stems("02", "00_tour", "00_tour.ipynb") == ["02_noise", "00_tour"]
    with pytest.raises(
        ValueError, match=r"unknown notebook 'tour'\. Did you mean '00_tour'\? Known: 00_tour, 01_whitening, 02_noise"
    ):
        stems("tour")
    course.write("00_again")
    with pytest.raises(ValueError, match="several notebooks are numbered '00'"):
        stems("00")


@pytest.mark.parametrize(
    "given, said",
    [
        ({"profile": "quick"}, r"unknown profile 'quick'\. Choose one of smoke, classroom, paper"),
        ({"overrides": {"steps": "1"}, "update_recorded": True}, "without overriding parameters"),
        ({"overrides": {"profile": "paper"}}, "the profile is an argument"),
        ({"overrides": {"steps": "20"}}, r"01_other: unknown parameter 'steps'. It has: profile, layers"),
        ({"seeds": [0, 1]}, "seeds are for update_recorded"),
        ({"timeout": 0.0}, "timeout must be more than 0"),
    ],
)
def test_a_mistaken_call_stops_everything_before_the_first_cell(given, said, course):
    with pytest.raises(FileNotFoundError, match=r"no notebooks in .*pass the folder that holds some"):
        course.run()
    course.write("00_tour", "x = 1")
    course.write("01_other", "x = 1", parameters=["profile = 'smoke'\nlayers = 2"])
    with pytest.raises(ValueError, match=said):
        course.run(**given)
    with pytest.raises(ValueError, match=r"00_tour: parameter 'steps' needs an int .*got 'many'"):
        course.run("00", overrides={"steps": "many"})
    with pytest.raises(ValueError, match="would overwrite them"):
        run_notebooks(output=course.folder, folder=course.folder)
    assert not course.output.exists() and not course.said


def test_a_baseline_may_hold_the_numbers_of_several_seeds(course):
    seeded = RECORDS + "record('seeded', 10 + seed)"
    course.write("00_tour", seeded, parameters=[PARAMETERS + "\nseed = 0"])
    (result,) = course.run(update_recorded=True, seeds=[0, 3])
    assert result.passed
    recorded = json.loads((course.recorded / "00_tour.smoke.json").read_text(encoding="utf-8"))
    assert recorded["records"][-1]["value"] == 10
    assert recorded["records"][-1]["seeds"] == {"0": 10, "3": 13}
    assert {folder.name for folder in result.executed.parent.glob("seed-*")} == {"seed-3"}  # 0 is the run itself
    (again,) = course.run()
    assert again.passed


def test_a_cell_that_takes_too_long_is_stopped_and_named(course):
    course.write("00_slow", "import time; time.sleep(60)")
    (result,) = course.run(timeout=2)
    assert result.problems == [
        "cell 3/3 (The 00_slow notebook: import time; time.sleep(60)) exceeded 2 s, and was stopped"
    ]


@pytest.mark.parametrize("stop", ["import sys; sys.exit(0)", "import os; os._exit(0)", "exit()"])
def test_a_notebook_that_stops_itself_has_not_passed(course, stop):
    course.write("00_stops", "print(1)", stop, "assert 1 == 2", parameters=("width = 3",))
    (result,) = course.run()
    assert not result.passed
    assert any("cell 3/4" in problem or "cell 4/4" in problem for problem in result.problems)


def test_nothing_is_written_into_the_home_folder(course, tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    course.write("00_tour", RECORDS, "import plotly.express, ipywidgets; plotly.express.line([1, 2])")
    (result,) = course.run()
    assert result.passed and [*home.rglob("*")] == []


def test_what_did_not_change_is_not_run_again_but_compared_again(course):
    course.write("00_tour", RECORDS, "print('running')")
    course.run(update_recorded=True)

    def runs(**more):
        course.said.clear()
        (result,) = course.run(changed=True, **more)
        return result, any("running" in line for line in course.said)

    result, ran = runs()
    assert not ran and result.passed and len(result.comparisons) == 3
    assert result.notes == ["not run again, because nothing changed since its last run"]

    recorded = course.recorded / "00_tour.smoke.json"
    recorded.write_text(recorded.read_text(encoding="utf-8").replace("0.2", "0.9"), encoding="utf-8")
    result, ran = runs()
    assert not ran and not result.passed

    course.write("00_tour", RECORDS, "print('running', 2)")
    assert runs()[1] and not runs()[1]
    assert runs(overrides={"steps": "3"})[1]


def test_a_run_that_failed_runs_again(course):
    course.write("00_bad", "print('running'); 1 / 0")
    course.run()
    course.said.clear()
    (result,) = course.run(changed=True)
    assert not result.passed and any("running" in line for line in course.said)


@pytest.mark.parametrize(
    "content, said",
    [(None, "is a file"), ("{", "no recorded numbers"), ("[" * 60_000, "no recorded"), ("[]", "no recorded")],
)
def test_an_unreadable_record_stops_before_the_first_cell(course, content, said):
    course.write("00_good", "steps = 1")
    if content is None:
        course.recorded.write_text("numbers")
    else:
        course.recorded.mkdir()
        (course.recorded / "00_good.smoke.json").write_text(content)
    with pytest.raises(ValueError, match=said):
        course.run()
    assert not course.said and not (course.output / "00_good.ipynb").exists()


def test_a_notebook_of_format_3_is_named_with_a_remedy(course):
    cell = {"cell_type": "code", "input": ["steps = 1"], "metadata": {"tags": ["parameters"]}, "outputs": []}
    cells = [cell | {"language": "python"}]
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]}
    course.folder.mkdir()
    (course.folder / "old one.ipynb").write_text(json.dumps(old))
    with pytest.raises(
        ValueError, match=r"format 3: convert it with jupyter nbconvert --to notebook --inplace 'old one'\.ipynb"
    ):
        course.run()
