"""Output on a terminal and in a pipe."""

import io
import os
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner
from cselab_lab.cli import app, overview, terminal

ESCAPE = "\x1b["


class Screen(io.TextIOWrapper):
    """A standard output of some encoding that is a terminal."""

    def __init__(self, encoding="utf-8", watched=True):
        super().__init__(io.BytesIO(), encoding=encoding)
        self.watched = watched

    def isatty(self):
        return self.watched


@pytest.mark.parametrize(
    "screen, variables, rich",
    [
        (Screen(), {}, True),
        (Screen(watched=False), {}, False),
        (Screen("latin-1"), {}, False),
        (Screen(), {"NO_COLOR": "1"}, False),
        (Screen(), {"TERM": "dumb"}, False),
    ],
)
def test_only_a_terminal_with_colours_and_utf8_gets_rich_tables(monkeypatch, screen, variables, rich):
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", screen)
    assert terminal.is_rich() is rich


@pytest.fixture
def watched(monkeypatch):
    """Runs a command on a terminal with colours, `wide` columns."""
    monkeypatch.setattr(terminal, "is_rich", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in {"FORCE_COLOR": "1", "COLORTERM": "truecolor", "TERM": "xterm-256color"}.items():
        monkeypatch.setenv(name, value)

    def run(*arguments, wide=80):
        monkeypatch.setenv("COLUMNS", str(wide))
        return CliRunner().invoke(app, arguments).output

    return run


def plain(text):
    return re.sub(r"\x1b\[[\d;]*m", "", text)


@pytest.mark.parametrize("wide", [60, 80, 160])
def test_the_methods_fit_the_width_of_the_terminal(watched, wide):
    printed = watched("methods", wide=wide)
    assert ESCAPE in printed and "whitenedcse" in printed
    assert max(map(len, plain(printed).splitlines())) <= max(wide, 100 if wide == 60 else wide)


@pytest.mark.parametrize("wide", [30, 80])
def test_a_table_wider_than_the_terminal_keeps_names_and_numbers(watched, wide):
    printed = plain(watched("words", "micro", "A cat sleeps.", "The cat slept.", "--pooling", "mean", wide=wide))
    assert all(name in printed for name in ("[CLS]", "sleeps", "slept", "sum")) and "…" not in printed


def test_words_that_make_two_sentences_alike_are_a_heat_map(watched):
    """The background of the largest contribution is the full colour."""
    printed = watched("words", "micro", "A cat sleeps.", "The cat slept.", "--pooling", "mean", wide=120)
    assert "48;2;0;114;178" in printed or "48;2;194;82;0" in printed
    assert "cat" in plain(printed) and "sum" in plain(printed)


def test_a_line_wider_than_the_terminal_is_not_broken(watched, monkeypatch, capsys):
    """A printed command can be copied."""
    monkeypatch.setenv("COLUMNS", "40")
    command = "cselab evaluate " + "/".join(["folder"] * 20)
    terminal.print_line(command, "bold")
    assert plain(capsys.readouterr().out) == f"{command}\n"


def test_help_into_a_closed_pipe_is_quiet():
    """As of `cselab -h | head -1`."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "cselab_lab.cli", "-h"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=True, timeout=60)
    os.close(writing)
    assert done.stderr == b""


def test_the_groups_of_the_help_have_every_command_once():
    grouped = [name for names in overview.GROUPS.values() for name in names]
    assert len(overview.GROUPS) == 4 and sorted(grouped) == sorted(overview.COMMANDS)
