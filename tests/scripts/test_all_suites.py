import all_suites
import pytest


def test_word_overlap_on_a_suite_that_needs_vectors_is_an_error_in_words(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", "all_suites.py word-overlap --suite world-transfer".split())
    with pytest.raises(SystemExit):
        all_suites.main()
    assert "error: word-overlap: " in capsys.readouterr().err
