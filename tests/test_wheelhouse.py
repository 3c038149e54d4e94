"""The folder of wheels for a room without a network: what pip is asked for, and what the folder tells its reader.

What pip answers is written down here, for there is no network; nightly, a real one is installed without one.
"""

import sys
from pathlib import Path

import pytest
import wheelhouse

ROOT = Path(__file__).parents[1]


class Pip:
    """Makes the files that pip would, and remembers what it was asked for."""

    def __init__(self, fails=()):
        self.asked, self.fails = [], fails

    def __call__(self, command):
        assert command[:3] == [sys.executable, "-m", "pip"]
        self.asked.append(command[4:])
        if any(word in command for word in self.fails):
            return 1, "Looking\nERROR: cannot be reached\n"
        option = "--wheel-dir" if "--wheel-dir" in command else "--dest"
        folder = Path(command[command.index(option) + 1])
        names = {1: "cselab-0.1.0-py3-none-any", 2: "torch-2-cp311", 3: "numpy-2-cp311"}
        (folder / f"{names[len(self.asked)]}.whl").write_bytes(b"0" * 1000)
        return 0, ""


@pytest.fixture
def pip(monkeypatch):
    fake = Pip()
    monkeypatch.setattr(wheelhouse, "run_telling", fake)
    return fake


def test_it_builds_cselab_takes_the_cpu_build_of_torch_and_everything_that_is_pinned(pip, tmp_path, capsys):
    wheelhouse.main(tmp_path / "stick", "notebooks", None, None)
    build, torch, rest = pip.asked
    assert build[0] == "wheel" and build[-1] == str(ROOT)
    assert torch[0] == "download" and torch[-1].startswith("torch==") and wheelhouse.CPU_BUILDS in torch
    assert rest[-1].endswith(".whl[notebooks]") and str(ROOT / "constraints.txt") in rest
    assert "--only-binary=:all:" in torch and "--only-binary=:all:" in rest
    assert "3 wheels" in capsys.readouterr().out


def test_the_folder_says_how_to_install_without_a_network(pip, tmp_path):
    wheelhouse.main(tmp_path / "stick", "notebooks", None, None)
    told = (tmp_path / "stick" / "README.txt").read_text(encoding="utf-8")
    assert 'pip install --no-index --find-links stick "cselab[notebooks]"' in told
    assert "notebooks copy work" in told and "jupyter lab work/00_tour.ipynb" in told


def test_wheels_for_another_system_are_asked_for_by_its_name(pip, tmp_path):
    wheelhouse.main(tmp_path, "notebooks", "win_amd64", "3.12")
    for asked in pip.asked[1:]:
        assert asked[asked.index("--platform") + 1] == "win_amd64"
        assert asked[asked.index("--python-version") + 1] == "3.12"


def test_an_old_wheel_of_cselab_does_not_stay(pip, tmp_path):
    (tmp_path / "cselab-0.0.1-py3-none-any.whl").write_bytes(b"old")
    wheelhouse.main(tmp_path, "notebooks", None, None)
    assert [file.name for file in tmp_path.glob("cselab-*.whl")] == ["cselab-0.1.0-py3-none-any.whl"]


def test_without_the_index_of_cpu_builds_torch_comes_from_the_package_index(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(wheelhouse, "run_telling", Pip(fails=[wheelhouse.CPU_BUILDS]))
    wheelhouse.main(tmp_path, "notebooks", None, None)
    assert "taking torch from the package index" in capsys.readouterr().out


def test_a_wheelhouse_that_is_not_complete_says_so_in_the_words_of_pip(monkeypatch, tmp_path):
    monkeypatch.setattr(wheelhouse, "run_telling", Pip(fails=["--constraint"]))
    with pytest.raises(SystemExit, match="ERROR: cannot be reached\nThe wheelhouse is not complete"):
        wheelhouse.main(tmp_path, "notebooks", None, None)
    assert not (tmp_path / "README.txt").exists()
