"""Inputs that are damaged, empty, special or endless: one line of error, at once, and no traceback."""

import os

import numpy as np
import pytest
from click.testing import CliRunner
from cselab_lab import cli
from safetensors.numpy import save_file

FILES = {
    "cut.safetensors": b'\x10\0\0\0\0\0\0\0{"a"',
    "text.npy": b"hello",
    "pairs.tsv": b"a dog\ta cat\t1\nthe sun\tthe moon\t2\nred\tblue\t4\n",
    "same.tsv": b"a dog\ta cat\t1\nthe sun\tthe moon\t1\nred\tblue\t1\n",
    "base.py": b"class Mine(BaseException):\n    pass\n\n\nraise Mine('x')\n",
    "closed.py": b"raise GeneratorExit",
}
EXPLAIN = "explain-score micro --expected"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("diagnose cut.safetensors", "cut.safetensors is not a complete .safetensors file"),
        ("diagnose text.npy", "text.npy is not a complete .npy file"),
        ("diagnose two.safetensors", "two.safetensors holds 2 tensors (a, b); expected one"),
        ("diagnose none.safetensors", "holds 0 tensors (none)"),
        ("diagnose ''", "'SUBJECT': it is empty"),
        ("search micro pairs.txt a ''", "'QUERY...': it is empty"),
        ("words micro '' b", "'FIRST': it is empty"),
        ("diagnose none.npy", "none.npy: no such file"),
        ("encode none/of.safetensors pairs.txt --output v.npy", "none/of.safetensors: no such file"),
        ("ties ''", "'SCORES': it is empty"),
        ("notebooks copy ''", "'DIR': it is empty"),
        ("train simcse --corpus pairs.tsv --output ''", "'--output': it is empty"),
        ("diagnose ~nosuchuser/x", "~nosuchuser/x: no such file or folder"),
        ("encode ~nosuchuser/x pairs.tsv --output v.npy", "~nosuchuser/x: no such file or folder"),
        ("--code base.py methods", "base.py: Mine: x"),
        ("--code closed.py methods", "closed.py: GeneratorExit"),
        (f"world pairs {10**25}", "ask for at least 1, at most 10,000,000"),
        (f"world sentences {10**12}", "ask for at least 1, at most 10,000,000"),
        (f"world documents {10**12}", "ask for at least 1, at most 10,000,000"),
        ("evaluate word-overlap --suite pairs.tsv --json fifo", "cannot write fifo"),
        ("encode micro /proc/self/mem --output v.npy", "/proc/self/mem cannot be read"),
        (f"{EXPLAIN} 50 --task same.tsv", "same.tsv gives no score: all its grades"),
        (f"{EXPLAIN} 0.5378 --task pairs.tsv", "0.5378 is a fraction, and scores are in points: give 53.78"),
        (f"{EXPLAIN} nan --task pairs.tsv", "with a point and no %; got 'nan'"),
        (f"{EXPLAIN} 1e9 --task pairs.tsv", "of points, -100 to 100, such as 60.73"),
        (f"{EXPLAIN} 53.78% --task pairs.tsv", "with a point and no %; got '53.78%'"),
        (f"{EXPLAIN} 53,78 --task pairs.tsv", "with a point and no %; got '53,78'"),
        ("train simcse --corpus pairs.txt --output blocked --batch-size 2 --dev none", "run.json.part blocks"),
        ("train simcse --corpus pairs.txt --output torn --batch-size 2 --dev none", "saving.part blocks"),
    ],
)
def test_one_line_names_what_is_wrong(line, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "pairs.txt").write_text("a dog\na cat\nthe sun\nthe moon\n")
    rows = np.zeros((3, 2), dtype=np.float32)
    save_file({"a": rows, "b": rows}, "two.safetensors")
    save_file({}, "none.safetensors")
    os.mkfifo("fifo")
    (tmp_path / "blocked" / "run.json.part").mkdir(parents=True)
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "saving.part").touch()
    result = CliRunner().invoke(cli.app, [word.strip("'") for word in line.split()])
    assert isinstance(result.exception, SystemExit) and result.exit_code != 0, repr(result.exception)
    assert words in result.stderr and result.stderr.strip().count("\n") == 0


def test_an_empty_standard_input_is_named():
    result = CliRunner().invoke(cli.app, ["encode", "micro", "-", "--output", "v.npy"], input="")
    assert "- means standard input, which is empty" in result.stderr


def test_a_closed_standard_input_and_a_full_disk_are_named(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(SystemExit):
        cli.app(["encode", "micro", "-", "--output", "v.npy"])
    assert "- means standard input, which is closed" in capsys.readouterr().err

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("click.echo", full)
    with pytest.raises(SystemExit):
        cli.app(["--version"])
    assert "No space left on device" in capsys.readouterr().err
