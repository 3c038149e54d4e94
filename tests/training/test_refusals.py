"""Training refuses what it cannot train on or with, before it writes anything."""

from pathlib import Path

from refusals import check_refused, refusals

NAMES, each_refusal = refusals("training/refusals.md")


@each_refusal
def test_training_refuses_and_writes_nothing(kind, words, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_refused(kind, words, call, NAMES)
    assert not list(Path().iterdir())
