import sys

import pytest
from cselab_lab.cli import doctor
from cselab_lab.cli.doctor import examine
from cselab_lab.experiments import PROFILES

from cselab.encoders import open as opening


def found(what):
    return next(finding for finding in examine() if finding.what == what)


def test_each_thing_is_looked_at_once_and_said_in_words():
    findings = examine()
    names = [finding.what for finding in findings]
    assert names == [
        "python", "torch", "device", "precision", "bundled encoders", "data", "notebooks", "sizes of notebooks",
        *(f"profile {name}" for name in PROFILES),
    ]  # fmt: skip
    assert all(finding.found for finding in findings)


def test_a_data_folder_is_named_and_its_absence_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("CSELAB_DATA", str(tmp_path))
    assert (found("data").found, found("data").good) == (str(tmp_path), True)
    monkeypatch.setenv("CSELAB_DATA", "")
    assert not found("data").good and "set CSELAB_DATA" in found("data").found


def test_a_wrong_data_folder_is_a_finding_and_not_the_end(tmp_path, monkeypatch):
    monkeypatch.setenv("CSELAB_DATA", str(tmp_path / "none"))
    assert not found("data").good and "which is not a folder" in found("data").found


@pytest.fixture
def assets(tmp_path, monkeypatch):
    """An bundled encoder that is one file."""
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "model.safetensors").write_bytes(b"weights")
    # of b"weights"
    digest = "9a129038d9a00aed0cf6a7ea059ca50a813449061ab87848cf1a13eafdf33b2c"
    (tmp_path / "checksums.json").write_text(f'{{"toy/model.safetensors": "{digest}"}}')
    monkeypatch.setattr(opening, "ASSETS", tmp_path)
    monkeypatch.setattr(opening, "CHECKSUMS", tmp_path / "checksums.json")
    monkeypatch.setattr(opening, "BUNDLED", ("toy",))
    opening.bundled_folder.cache_clear()
    yield tmp_path
    opening.bundled_folder.cache_clear()


def test_the_bundled_encoders_are_named(assets):
    assert (found("bundled encoders").found, found("bundled encoders").good) == ("toy", True)


def test_a_damaged_bundled_encoder_is_a_finding_and_not_the_end(assets):
    (assets / "toy" / "model.safetensors").write_bytes(b"weight")
    finding = found("bundled encoders")
    assert not finding.good and "toy/model.safetensors is damaged" in finding.found


def test_missing_notebook_tools_are_named_with_the_way_to_get_them(monkeypatch):
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name == "papermill" else object())
    assert not found("notebooks").good
    assert found("notebooks").found == "missing: papermill (pip install 'cselab[notebooks]')"


def test_each_profile_is_told_with_what_it_is_good_for():
    for name, profile in PROFILES.items():
        assert found(f"profile {name}").found == profile.purpose


@pytest.mark.parametrize("cuda, sizes", [(True, "smoke, classroom, paper"), (False, "paper wants a CUDA device")])
def test_what_would_run_depends_on_the_device(cuda, sizes, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: cuda)
    monkeypatch.setattr("torch.cuda.get_device_name", lambda: "a GPU")
    monkeypatch.setattr(sys.modules["cselab.encoders.speed"], "faster_in_bf16", lambda: cuda)
    assert sizes in found("sizes of notebooks").found
    assert ("a GPU" in found("device").found) == cuda
    assert ("bf16 autocast" in found("precision").found) == cuda
