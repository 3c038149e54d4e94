"""The first cell of each notebook installs cselab in Google Colab, and does nothing elsewhere."""

import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace

import nbformat
import pytest
from cselab_lab.headless.notebook_folder import bundled_notebooks, find_notebooks

WHEEL = "cselab_workbench-9.0-py3-none-any.whl"


def cells(path):
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


@pytest.fixture(scope="module")
def source():
    first = {cells(path)[0].source for path in find_notebooks(bundled_notebooks())}
    assert len(first) == 1
    return first.pop()


def test_it_is_the_first_cell_is_folded_and_does_nothing_elsewhere(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(source, names)
    assert {*names} == {"__builtins__", "sys"}
    assert all(cells(path)[0].metadata.jupyter.source_hidden for path in find_notebooks(bundled_notebooks()))


@pytest.mark.parametrize("is_there", [True, False])
def test_in_colab_it_asks_for_the_wheel_installs_it_and_allows_panels(source, is_there, tmp_path, monkeypatch):
    done = []
    monkeypatch.chdir(tmp_path)
    colab = ModuleType("google.colab")
    colab.files = SimpleNamespace(upload=lambda: done.append("upload") or Path(WHEEL).touch())
    colab.output = SimpleNamespace(enable_custom_widget_manager=lambda: done.append("panels"))
    for name, module in {"google": ModuleType("google"), "google.colab": colab}.items():
        monkeypatch.setitem(sys.modules, name, module)
    if is_there:
        Path(WHEEL).touch()
    shell = SimpleNamespace(run_line_magic=lambda *line: done.append(line))
    exec(source, {"get_ipython": lambda: shell})
    assert done == ["upload"] * (not is_there) + [("pip", f"install --quiet {WHEEL}[colab]"), "panels"]


def test_what_it_installs_leaves_the_jupyter_of_colab_alone():
    pyproject = bundled_notebooks().parent / "pyproject.toml"
    extras = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert {*extras["colab"]} < {*extras["notebooks"]}
    assert [one for one in extras["colab"] if one.startswith(("ipykernel", "jupyter", "pandas"))] == []
