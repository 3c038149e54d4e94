import pytest

from cselab._util import progress
from cselab._util.progress import Progress


@pytest.fixture
def headless(monkeypatch):
    monkeypatch.setenv("CSELAB_HEADLESS", "1")


@pytest.fixture
def watched(monkeypatch):
    monkeypatch.setattr(progress, "_is_watched", lambda: True)


def test_one_line_a_tenth_is_printed_when_nobody_watches(headless, capsys):
    with Progress(200, "train") as work:
        for step in range(200):
            work.update(note=f"loss {step}")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == [f"{20 * tenth}/200" for tenth in range(1, 11)]
    assert lines[4].startswith("train: 100/200") and lines[4].endswith("loss 99")


def test_work_taken_up_again_counts_what_was_done_before(headless, capsys):
    with Progress(100, "train") as work:
        work.done = 80
        for _ in range(20):
            work.update()
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()] == ["90/100", "100/100"]


def test_a_bar_is_drawn_for_a_person(watched, capsys):
    with Progress(4, "encode") as work:
        work.update(3, "loss 0.5")
        assert (work.bar.n, work.bar.total, work.bar.desc) == (3, 4, "encode")
        assert "loss 0.5" in str(work.bar)
        bar = work.bar
    captured = capsys.readouterr()
    assert bar.disable and "encode" in captured.err and captured.out == ""


def test_the_bar_is_closed_when_the_work_fails(watched, capsys):
    with pytest.raises(KeyError), Progress(4, "encode") as work:
        bar = work.bar
        raise KeyError
    assert bar.disable


def test_a_pipe_gets_no_progress(monkeypatch, capsys):
    monkeypatch.delenv("CSELAB_HEADLESS", raising=False)
    monkeypatch.setattr(progress, "_is_watched", lambda: False)
    with Progress(4, "encode") as work:
        work.update(4)
    progress.say("step 4")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("mode", ["headless", "watched"])
def test_nothing_is_shown_when_it_is_not_wanted(mode, request, capsys):
    request.getfixturevalue(mode)
    with Progress(4, "encode", show=False) as work:
        work.update(4)
    captured = capsys.readouterr()
    assert captured.out == captured.err == "" and work.done == 4


@pytest.mark.parametrize("mode", ["headless", "watched"])
def test_work_without_a_step_is_no_error(mode, request, capsys):
    request.getfixturevalue(mode)
    with Progress(0, "encode") as work:
        work.update(0)
        work.update(1)
    assert work.done == 1


def test_a_terminal_or_a_notebook_is_watched(monkeypatch):
    monkeypatch.delenv("CSELAB_HEADLESS", raising=False)
    monkeypatch.setattr("sys.stderr", type("Terminal", (), {"isatty": lambda self: True})())
    assert progress._is_watched()
    monkeypatch.setenv("CSELAB_HEADLESS", "1")
    assert not progress._is_watched()
