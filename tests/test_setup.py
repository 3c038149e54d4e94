"""The set-up files agree with one another."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def requirements():
    return [
        *PROJECT["dependencies"],
        *(one for part in PROJECT["optional-dependencies"].values() for one in part),
    ]


def name_of(requirement):
    return re.match(r"[A-Za-z0-9_.-]+", requirement)[0].lower().replace("_", "-")


def pins():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return dict(
        line.lower().replace("_", "-").split("==") for line in lines if line and not line.startswith("#")
    )


def test_conda_environment_asks_for_what_the_project_asks_for():
    text = (ROOT / "environment.yml").read_text(encoding="utf-8")
    listed = re.findall(r"^      - (?!-c)(.+)$", text, flags=re.MULTILINE)
    assert listed == requirements()
    assert f"python{PROJECT['requires-python']}" in text


def test_every_requirement_is_pinned_to_a_version_it_allows():
    from packaging.requirements import Requirement

    for requirement in requirements():
        pinned = pins().get(name_of(requirement))
        assert pinned, f"{requirement} has no pin in constraints.txt"
        assert Requirement(requirement).specifier.contains(pinned)


def test_torch_is_the_version_whose_cpu_build_is_found():
    assert pins()["torch"] == "2.13.0"
    assert "torch==2.13.0" in PROJECT["dependencies"]
