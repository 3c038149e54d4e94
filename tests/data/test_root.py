import pytest

from cselab.data import MissingFile, data_root, folder_to_fill, senteval_folder


def test_the_variable_names_the_root(tmp_path, monkeypatch):
    monkeypatch.setenv("CSELAB_DATA", str(tmp_path))
    assert data_root() == tmp_path


def test_an_empty_variable_means_no_data(monkeypatch):
    monkeypatch.setenv("CSELAB_DATA", "")
    assert data_root() is None
    with pytest.raises(MissingFile, match="set CSELAB_DATA to a SentEval folder"):
        senteval_folder()


def test_a_variable_that_names_nothing_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("CSELAB_DATA", str(tmp_path / "gone"))
    with pytest.raises(MissingFile, match="gone"):
        data_root()
    assert folder_to_fill() == tmp_path / "gone"


def test_without_the_variable_the_root_is_in_the_users_cache(tmp_path, monkeypatch):
    """Without the variable the root is in the users cache if anywhere."""
    monkeypatch.delenv("CSELAB_DATA", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_root() is None and folder_to_fill() == tmp_path / ".cache/cselab/data"
    folder_to_fill().mkdir(parents=True)
    assert data_root() == tmp_path / ".cache/cselab/data"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert data_root() is None


@pytest.mark.parametrize("beneath", [".", "senteval", "downstream", "data/downstream", "SentEval/data/downstream"])
def test_a_senteval_folder_is_found_from_above(tmp_path, beneath):
    (tmp_path / beneath / "STS").mkdir(parents=True)
    assert senteval_folder(tmp_path).resolve() == (tmp_path / beneath).resolve()


def test_a_folder_without_data_sets_says_what_was_looked_for(tmp_path):
    with pytest.raises(MissingFile, match="holds no SentEval data: none of STS, SICK, MR"):
        senteval_folder(tmp_path)
    with pytest.raises(MissingFile, match="is not a folder"):
        senteval_folder(tmp_path / "gone")
