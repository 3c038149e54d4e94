"""The folder of a run: what is read there, and what is told when it changed."""

import pytest

from cselab.encoders.checkpoint import CheckpointError
from cselab.training.run_folder import RunFolder

SAYS_NOTHING = ["{}", "[]", '"text"', '{"finished": false}', '{"finished": true, "identity": []}', "", "null", "3"]


@pytest.mark.parametrize("content", [*SAYS_NOTHING, "[" * 60_000, '{"a":' * 60_000, None])
def test_a_run_json_of_any_other_content_is_damage(content, tmp_path):
    if content is None:
        (tmp_path / "run.json").mkdir()
    else:
        (tmp_path / "run.json").write_text(content)
    with pytest.raises(CheckpointError, match=r"run\.json is damaged"):
        RunFolder(tmp_path).read()


def test_a_checkpoint_stays_until_the_end_of_the_run_is_written(tmp_path):
    folder = RunFolder(tmp_path)
    folder.checkpoint.touch()
    (tmp_path / "run.json").mkdir()  # cannot be written
    with pytest.raises(OSError, match="could not be written"):
        folder.finish({})
    assert folder.checkpoint.exists()


def test_a_run_that_goes_on_under_other_versions_is_told(tmp_path, monkeypatch):
    folder = RunFolder(tmp_path)
    monkeypatch.setattr("cselab.training.run_folder.versions", lambda: {"torch": "2.1", "numpy": "2.0"})
    assert folder.reserve({"seed": 1})["versions"] == {"torch": "2.1", "numpy": "2.0"}
    folder.checkpoint.touch()
    folder.reserve({"seed": 1})
    monkeypatch.setattr("cselab.training.run_folder.versions", lambda: {"torch": "2.2", "numpy": "2.0"})
    with pytest.warns(UserWarning, match=r"was started with torch 2\.1, now 2\.2: the weights may differ"):
        folder.reserve({"seed": 1})
    folder.write({"identity": {"seed": 1}, "finished": True})
    folder.reserve({"seed": 1})
