import all_suites
import pytest


@pytest.mark.slow
def test_word_overlap_has_no_vectors_and_says_so(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", "all_suites.py word-overlap --suite world-transfer".split())
    with pytest.raises(SystemExit):
        all_suites.main()
    assert "error: word-overlap: " in capsys.readouterr().err
