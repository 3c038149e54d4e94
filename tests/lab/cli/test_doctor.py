import re
import sys

import pytest
from click.testing import CliRunner
from cselab_lab.cli import app, showing
from cselab_lab.experiments import PROFILES

from cselab.encoders import open as opening


def found(name):
    return next(finding for finding in showing.examine() if finding.what == name)


def test_each_thing_is_examined_once():
    findings = showing.examine()
    assert [finding.what for finding in findings] == [
        "python", "torch", "device", "precision", "bundled encoders", "data", "notebooks", "sizes of notebooks",
        *(f"profile {name}" for name in PROFILES),
    ]  # fmt: skip
    assert {f"profile {name}": profile.purpose for name, profile in PROFILES.items()}.items() <= {
        finding.what: finding.found for finding in findings
    }.items()
    printed = CliRunner().invoke(app, ["doctor"]).output.splitlines()
    assert len(printed) == len(findings) and re.match(rf"ok  torch +{re.escape(findings[1].found)}", printed[1])


def test_a_data_folder_is_named_a_wrong_one_is_a_finding(tmp_path, monkeypatch):
    for folder, good, words in ((tmp_path, True, str(tmp_path)), (tmp_path / "none", False, "not a folder")):
        monkeypatch.setenv("CSELAB_DATA", str(folder))
        assert found("data").good == good and words in found("data").found
    monkeypatch.setenv("CSELAB_DATA", "")
    assert not found("data").good and "set CSELAB_DATA" in found("data").found


def test_a_damaged_bundled_encoder_is_a_finding(tmp_path, monkeypatch):
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "model.safetensors").write_bytes(b"weights")
    digest = "9a129038d9a00aed0cf6a7ea059ca50a813449061ab87848cf1a13eafdf33b2c"  # of b"weights"
    (tmp_path / "checksums.json").write_text(f'{{"toy/model.safetensors": "{digest}"}}')
    monkeypatch.setattr(opening, "ASSETS", tmp_path)
    monkeypatch.setattr(opening, "CHECKSUMS", tmp_path / "checksums.json")
    monkeypatch.setattr(opening, "BUNDLED", ("toy",))
    opening.bundled_folder.cache_clear()
    assert (found("bundled encoders").found, found("bundled encoders").good) == ("toy", True)
    opening.bundled_folder.cache_clear()
    (tmp_path / "toy" / "model.safetensors").write_bytes(b"weight")
    finding = found("bundled encoders")
    opening.bundled_folder.cache_clear()
    assert not finding.good and "toy/model.safetensors is damaged" in finding.found


def test_missing_notebook_tools_are_named_with_a_remedy(monkeypatch):
    monkeypatch.setattr(showing, "find_spec", lambda name: None if name == "papermill" else object())
    assert not found("notebooks").good
    assert found("notebooks").found == "missing: papermill (pip install '.[notebooks]')"


@pytest.mark.parametrize("cuda, sizes", [(True, "smoke, classroom, paper"), (False, "paper needs a CUDA device")])
def test_the_report_depends_on_the_device(cuda, sizes, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: cuda)
    monkeypatch.setattr("torch.cuda.get_device_name", lambda: "a GPU")
    monkeypatch.setattr(sys.modules["cselab.encoders.speed"], "faster_in_bf16", lambda: cuda)
    assert sizes in found("sizes of notebooks").found
    assert ("a GPU" in found("device").found) == cuda
    assert ("bf16 autocast" in found("precision").found) == cuda
