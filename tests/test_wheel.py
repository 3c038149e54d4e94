"""What an installation brings: the wheel is built and looked into."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import cselab

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    (built,) = folder.glob(f"cselab_workbench-{cselab.__version__}-*.whl")
    return built


def test_it_holds_the_package_the_panels_the_encoders_and_the_notebooks_with_their_numbers(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"cselab/__init__.py", "cselab/py.typed", "cselab_widgets/__init__.py"} <= names
    assert {f"cselab/assets/{encoder}/model.safetensors" for encoder in ("micro", "mini")} <= names
    for file in (ROOT / "notebooks").glob("*.ipynb"):
        assert f"cselab_lab/notebooks/{file.name}" in names
    for file in (ROOT / "notebooks" / "recorded").glob("*.json"):
        assert f"cselab_lab/notebooks/recorded/{file.name}" in names
    for file in (ROOT / "results").glob("*.jsonl"):  # which lessons show
        assert f"cselab_lab/results/{file.name}" in names
    assert any(name.endswith("share/jupyter/labextensions/cselab/package.json") for name in names)
    assert not [name for name in names if "checkpoint" in name and name.endswith(".ipynb")]
    assert not [name for name in names if name.startswith(("tests/", "results/"))]


def test_installed_from_it_the_notebooks_are_found(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    command = [sys.executable, "-m", "cselab_lab.cli", "notebooks", "list"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=True
    )
    assert "00_tour" in done.stdout and "recorded: " in done.stdout
