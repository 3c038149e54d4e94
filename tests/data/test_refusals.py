"""Readers refuse what is no corpus and no pairs: the message names the file or row, and what is expected."""

import pytest
from refusals import check_refused, refusals

NAMES, each_refusal = refusals("data/refusals.md")


@pytest.mark.filterwarnings("ignore:.*(no line of names|only test is taken)")
@each_refusal
def test_readers_refuse_what_they_cannot_read(kind, words, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_refused(kind, words, call, NAMES)
