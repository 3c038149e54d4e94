"""The GitHub workflows call what there is: targets of the Makefile, options of the command line, files."""

import re
from pathlib import Path

import pytest
import yaml
from cselab_lab.cli.notebooks import notebooks

ROOT = Path(__file__).parents[1]
WORKFLOWS = {
    file.stem: yaml.safe_load(file.read_text(encoding="utf-8")) for file in ROOT.glob(".github/workflows/*.yml")
}


def steps(name):
    return [step for job in WORKFLOWS[name]["jobs"].values() for step in job["steps"]]


def commands(name):
    return "\n".join(step["run"] for step in steps(name) if "run" in step)


def test_a_push_is_linted_tested_run_as_a_regression_compared_cell_by_cell_and_printed_as_a_book():
    said = commands("ci")
    for command in ("make lint", "make browser", "make test", "make nbval", "make book"):
        assert command in said
    for option in ("--profile smoke", "--junit", "--summary"):
        assert option in said
    assert "--require-recorded" in said


def test_each_night_the_class_is_run_a_training_made_again_and_an_installation_without_a_network():
    said = commands("nightly")
    assert re.findall(r"cselab experiment (\w+)", said) == ["check"]
    for command in ("--profile classroom", "--junit", "make book", "make wheelhouse", "--no-index", "unshare --net"):
        assert command in said
    assert WORKFLOWS["nightly"][True]["schedule"]  # YAML reads the key `on` as a truth value


@pytest.mark.parametrize("name", WORKFLOWS)
def test_targets_and_options_exist(name):
    said = commands(name)
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"make ([a-z]+)", said)) <= targets
    run = notebooks.commands["run"]
    options = {option for parameter in run.params for option in parameter.opts}
    for line in re.findall(r"cselab notebooks run(.*?)(?:\n\S*make|\Z)", said, re.DOTALL):
        assert set(re.findall(r"--[a-z-]+", line)) - {"--no-index", "--find-links", "--net"} <= options


@pytest.mark.parametrize("name", WORKFLOWS)
def test_jobs_read_only_end_and_keep_what_they_made(name):
    workflow = WORKFLOWS[name]
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 120
    kept = [step for step in steps(name) if "upload-artifact" in step.get("uses", "")]
    assert len(kept) == 1 and kept[0]["if"] == "always()" and "build/book/html/" in kept[0]["with"]["path"]
