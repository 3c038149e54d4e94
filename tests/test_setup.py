"""The set-up files agree with one another."""

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path
from statistics import mean

import browser
import install
import pytest
import yaml
from cselab_lab.cli import COMMANDS
from cselab_lab.headless.notebook_folder import read_notebook, title_of
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from cselab.world import World

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, PYTEST = SETTINGS["project"], SETTINGS["tool"]["pytest"]["ini_options"]


def requirements(without=()):
    extras = {name: part for name, part in PROJECT["optional-dependencies"].items() if name not in without}
    return [*PROJECT["dependencies"], *(one for part in extras.values() for one in part)]


def name_of(requirement):
    return re.match(r"[A-Za-z0-9_.-]+", requirement)[0].lower().replace("_", "-")


def pins():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.lower().replace("_", "-").split("==") for line in lines if line and not line.startswith("#"))


def test_conda_environment_asks_for_what_the_project_asks_for():
    text = (ROOT / "environment.yml").read_text(encoding="utf-8")
    listed = re.findall(r"^      - (?!-c)(.+)$", text, flags=re.MULTILINE)
    assert listed == requirements(without=["mteb"])  # hundreds of megabytes, for one test
    assert f"python{PROJECT['requires-python']}" in text


def test_every_requirement_is_pinned_to_a_version_it_allows():
    for requirement in requirements():
        pinned = pins().get(name_of(requirement))
        assert pinned, f"{requirement} has no pin in constraints.txt"
        assert Requirement(requirement).specifier.contains(pinned)


def test_every_pin_installs_on_the_oldest_python_the_project_takes():
    """Debian's Python is 3.11.2: a pin that wants 3.11.5 ends its `make install`."""
    oldest = f"{PROJECT['requires-python'].removeprefix('>=')}.0"
    installed = {name_of(one.name): one.metadata.get("Requires-Python") for one in distributions()}
    wants = {name: installed[name] for name in pins() if installed.get(name)}
    assert wants
    assert {name: python for name, python in wants.items() if oldest not in SpecifierSet(python)} == {}


def test_torch_is_the_version_whose_cpu_build_is_found():
    assert pins()["torch"] == "2.13.0"
    assert "torch>=2.13.0" in PROJECT["dependencies"]  # a newer CUDA build that somebody has stays


def run_suite(pytester, **environment):
    """The suite's conftest over one browser test and one other, where no browser is found."""
    conftest = (ROOT / "tests" / "conftest.py").read_text(encoding="utf-8")
    pytester.makeconftest(f"import browser\n\nbrowser.find_browser = lambda: None\n{conftest}")
    pytester.makepyfile(
        """
        import pytest
        @pytest.mark.browser
        def test_with_a_browser(): raise AssertionError("it ran")
        def test_without(): pass
        """
    )
    pytester.makeini(f"[pytest]\nmarkers = browser: x\npythonpath = {ROOT / 'scripts'} {ROOT / 'tests'}\n")
    for name, value in {"CI": "", **environment}.items():
        pytester._monkeypatch.setenv(name, value)
    options = (word for word in PYTEST["addopts"] if word != "--doctest-modules")
    return pytester.runpytest_subprocess(*options)


@pytest.mark.process
def test_without_a_browser_its_tests_are_skipped_with_how_to_get_one(pytester):
    result = run_suite(pytester)
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*::test_with_a_browser*no Chromium, Chrome or Edge*'make browser'*"])


@pytest.mark.process
def test_in_ci_a_missing_browser_fails(pytester):
    result = run_suite(pytester, CI="true")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*no Chromium, Chrome or Edge*"])


def test_a_browser_that_does_not_start_is_passed_over(tmp_path, monkeypatch):
    stub, edge = tmp_path / "chromium", tmp_path / "microsoft-edge"
    stub.write_text("#!/bin/sh\necho 'install snap first' >&2\nexit 1\n")
    edge.write_text("#!/bin/sh\necho Edge\n")
    for file in (stub, edge):
        file.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert browser.find_browser.__wrapped__() == str(edge)


def test_the_news_of_an_installation_are_neither_warnings_nor_a_list_of_all_packages():
    said = ["Collecting torch==2.13.0 (from -r x)\n", "  Downloading torch\n", "WARNING: Location is ignored\n"]
    assert install.newest(said) == "Collecting torch==2.13.0"
    said.append("Installing collected packages: a, b, c\n")
    assert install.newest(said) == "unpacking 3 packages, still at work" and install.newest([]) == "starting"


def test_a_long_command_says_every_few_seconds_what_it_is_doing(capsys):
    script = (
        "import time; print('Collecting numpy (from x)\\n  more', flush=True); time.sleep(.5); print('done'); exit(3)"
    )
    code, said = install.run_telling([sys.executable, "-c", script], seconds=0.2)
    assert code == 3 and said.endswith("done\n")
    assert " s  Collecting numpy\n" in capsys.readouterr().out


@pytest.mark.process
def test_the_lines_of_the_readme_run_as_they_stand(tmp_path):
    lines = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[0]
    assert len(lines.strip().splitlines()) <= 12
    environment = os.environ | {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([sys.executable, "-c", lines], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    before, after = (float(score) for score in re.findall(r"World-STS +test +\d+ +spearman +([\d.]+)", done.stdout))
    assert after > before + 2  # whoever tries it sees training help
    assert (tmp_path / "my-encoder" / "model.safetensors").exists()


def test_the_readme_names_files_commands_and_notebooks_that_are_there():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for place in re.findall(r"\]\((?!http)([^)]+)\)", text):
        assert (ROOT / place).exists(), place
    for line in re.findall(r"^(?:cselab|`cselab) ([\w-]+)", text, re.MULTILINE):
        assert line in COMMANDS, line
    for lesson in (ROOT / "notebooks").glob("[0-9]*.ipynb"):
        assert f"](notebooks/{lesson.name})" in text, lesson.name


def test_the_table_of_the_readme_has_the_titles_that_the_notebooks_have():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        title = title_of(read_notebook(notebook), notebook.stem).split(" · ")[-1]  # as `cselab notebooks list` has it
        assert f"](notebooks/{notebook.name}) | {title} |" in text


def test_the_pip_road_of_the_readme_makes_an_environment_and_takes_the_versions_that_were_tested():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (road,) = re.findall(r"```console\n(python3 -m venv.*?)```", text, re.DOTALL)
    environment, torch, everything = road.splitlines()
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    assert environment == "python3 -m venv .venv && . .venv/bin/activate" and ".venv/" in ignored
    # the index of CPU builds does not have all that torch needs in the versions of constraints.txt
    assert torch == f"pip install -c constraints.txt --no-deps torch --index-url {install.CPU_BUILDS}"
    assert everything == 'pip install -c constraints.txt ".[notebooks]"'
    assert "`cselab notebooks copy work && jupyter lab work`" in text and "/work/" in ignored
    assert install.pinned("torch") and "*.whl" in ignored and "dist/" in ignored
    (wheel,) = re.findall(r'pip install -c constraints.txt "(cselab-.*?)\[notebooks\]"', text)
    assert wheel == f"cselab-{PROJECT['version']}-py3-none-any.whl"
    assert f"Requires Python {PROJECT['requires-python'].removeprefix('>=')} or newer" in text


def test_the_readme_and_make_help_name_the_same_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    helped = set(re.findall(r"^# +make ([a-z-]+) ", makefile, re.MULTILINE))
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    assert helped == (targets - {"clean"})
    shown = set(re.findall(r"^make ([a-z-]+)", text, re.MULTILINE))
    assert {"demo", "lab", "test", "test-quick", "browser"} <= shown <= helped


@pytest.mark.slow
def test_the_readme_says_why_the_pairs_of_grade_2_lie_above_those_of_grade_4():
    """The share of words that the two sentences of a pair have in common, in the pairs of the picture."""
    pairs = World().sts(1200, "test")
    words = [set(re.findall(r"\w+", sentence.lower())) for sentence in pairs.sentences]
    shared = {2: [], 4: []}
    for one, two, grade in zip(words[:1200], words[1200:], pairs.scores, strict=True):
        if round(grade) in shared:
            shared[round(grade)].append(len(one & two) / len(one | two))
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"those of grade 2 share {100 * mean(shared[2]):.0f} % of their words" in text
    assert f"those of grade 4 share {100 * mean(shared[4]):.0f} %" in text
    assert {"negation", "roles"} < {kind for kind, grade in zip(pairs.subsets, pairs.scores, strict=True) if grade == 2}


def test_the_citation_and_the_changes_name_the_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == PROJECT["version"] and citation["license"] == "MIT"
    assert f"## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
