"""The set-up: versions that fit together, the README's first lines, the folder of wheels."""

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path
from types import SimpleNamespace

import pytest
import wheelhouse
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import cselab

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
REQUIREMENTS = [*PROJECT["dependencies"], *(one for part in PROJECT["optional-dependencies"].values() for one in part)]


def normal(name):
    return name.lower().replace("_", "-")


def pins(file="constraints.txt"):
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    return dict(normal(line).split("==") for line in lines if line and not line.startswith("#"))


def test_nothing_says_to_install_the_stranger_that_the_package_index_has_under_our_name():
    """`cselab` there is a different project: extras are installed from a clone, a wheel, or as cselab-workbench."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    stranger = re.compile(rb"\bcselab\[[a-z]|pip3? install (?:-\S+ )*['\"]?cselab(?![-\w.])")
    files = [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    assert len(files) > 500 and [file for file in files if stranger.search(file.read_bytes())] == []


def test_conda_installs_what_pip_installs():
    listed = re.findall(r"^      - (?!-c)(.+)$", (ROOT / "environment.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(listed) == set(REQUIREMENTS) - {"mteb>=2.0"}  # hundreds of megabytes, for one test


@pytest.mark.parametrize("requirement", [*map(Requirement, REQUIREMENTS)], ids=str)
def test_a_requirement_is_pinned_to_a_version_that_it_allows(requirement):
    assert requirement.specifier.contains(pins()[normal(requirement.name)])


def test_the_nightly_job_tests_the_lower_bounds_themselves():
    oldest = pins("constraints-lowest.txt")
    for one in map(Requirement, set(REQUIREMENTS) - {"mteb>=2.0"}):
        bound, pinned = next(iter(one.specifier)).version, oldest[normal(one.name)]
        newer = SpecifierSet(f">{bound}.999")  # a bound of two numbers allows any release of these two
        assert one.specifier.contains(pinned) and not newer.contains(pinned), f"{one} is tested with {pinned}"


def test_every_pin_installs_on_the_oldest_python():
    """Debian's Python is 3.11.2: a pin that requires 3.11.5 would end its installation."""
    oldest = f"{PROJECT['requires-python'].removeprefix('>=')}.0"
    needs = {normal(one.name): one.metadata.get("Requires-Python") or "" for one in distributions()}
    assert {name: needs[name] for name in pins().keys() & needs if oldest not in SpecifierSet(needs[name])} == {}


def test_the_citation_names_the_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == cselab.__version__ and citation["license"] == "MIT"


@pytest.mark.slow
def test_the_lines_of_the_readme_run_and_training_helps(tmp_path):
    lines = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[0]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([sys.executable, "-c", lines], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    before, after = (float(score) for score in re.findall(r"World-STS +test +\d+ +spearman +([\d.]+)", done.stdout))
    assert after > before + 2
    assert (tmp_path / "my-encoder" / "model.safetensors").exists()


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "results").glob("*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files(page):
    links = re.findall(r"\]\((?!http|#)([^)#\s]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("fails", [None, "--index-url", "--find-links"])
def test_the_folder_of_wheels_has_torchs_cpu_build_and_all_that_is_pinned(fails, tmp_path, monkeypatch):
    asked = []

    def run(command):
        asked.append(command[5:])
        if command[4] == "wheel":
            (tmp_path / "cselab_workbench-0.1.0-py3-none-any.whl").touch()
        return SimpleNamespace(returncode=int(fails in command))

    (tmp_path / "cselab_workbench-0.0.1-py3-none-any.whl").touch()  # an old one must not stay
    monkeypatch.setattr(wheelhouse.subprocess, "run", run)
    options = ["--platform", "win_amd64", "--python-version", "3.12"]
    if fails == "--find-links":
        with pytest.raises(SystemExit, match="not complete"):
            wheelhouse.main(tmp_path, *options)
        assert not (tmp_path / "README.txt").exists()
        return
    wheelhouse.main(tmp_path, *options)
    _, torch, rest = asked
    assert torch[-1] == "torch" and rest[-1] == f"{tmp_path / 'cselab_workbench-0.1.0-py3-none-any.whl'}[notebooks]"
    assert all({"--only-binary=:all:", str(ROOT / "constraints.txt"), *options} <= {*asked} for asked in (torch, rest))
    assert f"--find-links {tmp_path.name}" in (tmp_path / "README.txt").read_text(encoding="utf-8")
