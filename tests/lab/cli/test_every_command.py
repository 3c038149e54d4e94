"""Every command that click lists: help, wrong options and wrong values, each answered in one line with exit code 2."""

import re
import subprocess
import sys
from inspect import signature
from pathlib import Path

import click
import pytest
from cells import table
from click.testing import CliRunner
from cselab_lab import cli
from cselab_lab.cli import overview

HEAVY = {"torch", "numpy", "pandas", "transformers", "dask", "plotly", "huggingface_hub"}
# By the type of an argument or option: a wrong value, and a part of the error.
WRONG = """
METHOD | simsce | Did you mean 'simcse'?
ENCODER | micor | Did you mean 'micro'? Bundled encoders: micro, mini
SUBJECT | micor | Did you mean 'micro'?
SUITE | stss | Did you mean 'sts'? Choose one of sts, geometry, transfer, clustering
DEV | wrold | Did you mean 'world'? Choose one of auto, sts-b
TASK | STS17 | Did you mean 'STS1
POOLING | meen | Did you mean 'mean'? Choose one of cls, cls_pooler, mean
PROFILE | smok | Did you mean 'smoke'? Choose one of smoke,
NAME | centerd | Did you mean 'centred'? Choose one of centred, without K, whitening
DEVICE | gpu | choose cpu, cuda
SEEDS | 0,one | numbers and ranges such as 0-4
FILE | none/no.npy | none/no.npy
choice | fp8 | is not one of
integer | many | is not a whole number
integer range | many | is not a whole number
float | many | is not a number
float range | many | is not a number
"""
WRONG = {kind: answered for kind, *answered in table(WRONG)}
RIGHT = {"METHOD": "simcse", "ENCODER": "micro", "SUBJECT": "micro", "FILE": "v.npy", "TASK": "v.npy"}


def leaves(group=cli.app, path=()):
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        yield from leaves(command, (*path, name)) if hasattr(command, "commands") else [((*path, name), command)]


EVERY = {" ".join(path): command for path, command in leaves()}
NEW = hasattr(click, "NoSuchCommand") and "help" in signature(click.Argument).parameters
"""Whether click is 8.5 or newer, which prints the help of arguments and suggests names."""
each_command = pytest.mark.parametrize("name", EVERY)


def run(*arguments):
    """Exit code and output of a command that ends without a traceback."""
    result = CliRunner().invoke(cli.app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    return result.exit_code, result.output


def refused(*arguments):
    """The error of a command: one line, exit code 2, no full stop before the hint."""
    code, output = run(*arguments)
    assert code == 2 and output.startswith("Error: ") and len(output.splitlines()) == 1, output
    assert not re.search(r"[^.]\. \(see", output)
    return output


def line_with(name, chosen, value):
    """The command with a value for one parameter, and right values for all that are required."""
    words = name.split()
    for parameter in EVERY[name].params:
        text = value if parameter is chosen else RIGHT.get(parameter.type.name, "1")
        if isinstance(parameter, click.Argument) and (parameter is chosen or parameter.required):
            words.append(text)
        elif parameter is chosen or (parameter.required and isinstance(parameter, click.Option)):
            words += [parameter.opts[0], text]
    return words


def wrong_values():
    for name, command in EVERY.items():
        for parameter in command.params:
            kind = parameter.type.name
            if kind in WRONG or "|" in kind:
                yield name, parameter, *WRONG.get(kind, ("jsno", "Did you mean 'json'? Choose one of text"))


@pytest.fixture(autouse=True)
def in_a_folder_with_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("v.npy").write_text("one\n")


@each_command
def test_help_is_plain_and_lists_each_argument_and_option(name):
    command = EVERY[name]
    code, output = run(*name.split(), "-h")
    assert code == 0 and output == run(*name.split(), "--help")[1]
    assert not re.search(r"<\w+>|list\[|RANGE|INTEGER|FLOAT|Path\b", output), output  # Python's types
    usage = output.splitlines()[0].split("[OPTIONS]")[1].split() if NEW else []
    listed = output.split("Positional arguments:\n")[-1].split("\nOptions:")[0] if usage else ""
    assert re.findall(r"^  (\S+)", listed, re.M) == usage == [word for word in usage if word.isupper() or "|" in word]
    assert all(parameter.help for parameter in command.params if NEW or isinstance(parameter, click.Option))
    summary = command.get_short_help_str(80)
    assert summary.endswith(".") and not summary.endswith("...")


@each_command
def test_an_unknown_option_is_answered_with_the_nearest(name):
    for parameter in EVERY[name].params:
        for option in parameter.opts:
            if option.startswith("--"):
                error = refused(*name.split(), f"{option}x")
                assert re.search(rf"No such option:? '?{option}x", error) and f" {name} --help')" in error
                assert not NEW or f"'{option}'" in error


@pytest.mark.parametrize("name", sorted({" ".join(name.split()[:-1]) for name in EVERY}))
def test_an_unknown_command_is_answered_with_the_nearest(name):
    group = cli.app.get_command(None, name) if name else cli.app
    nearest = group.list_commands(None)[-1]
    error = refused(*name.split(), f"{nearest}x")
    assert f"No such command '{nearest}x'" in error and (not NEW or f"'{nearest}'" in error)


@each_command
def test_a_wrong_value_is_named_with_its_option(name):
    for command, parameter, value, words in wrong_values():
        if command == name:
            error = refused(*line_with(name, parameter, value))
            option = max(parameter.opts, key=len)
            label = f"'{option}'" if isinstance(parameter, click.Option) else repr(parameter.make_metavar(None))
            assert words in error and value in error and label.strip("'[]. ") in error, error
            if parameter.type.name == "FILE" and value == "none/no.npy":
                assert "x" * 300 in refused(*line_with(name, parameter, "x" * 300 + ".npy"))
            if option.startswith("--") and getattr(parameter.type, "min", None) is not None:
                assert "is not in the range" in refused(*line_with(name, parameter, "-1"))
    assert [file.name for file in Path().iterdir()] == ["v.npy"]


@each_command
def test_a_missing_argument_or_option_is_named(name):
    required = [parameter for parameter in EVERY[name].params if parameter.required]
    for parameter in required:
        words = line_with(name, None, "")
        given = line_with(name, parameter, "missing")
        at = given.index("missing")
        kept = given[: at - isinstance(parameter, click.Option)] + given[at + 1 :]
        if isinstance(parameter, click.Option) or parameter is required[-1]:
            assert "Missing " in refused(*kept), (words, kept)


def test_help_and_refusals_import_no_library():
    """`import cselab` first, then every help page, and every wrong value but the tasks, which the suites hold."""
    lines = [["--version"], *([*name.split(), "-h"] for name in EVERY), ["trian"], ["train", "simcse", "--stesp", "3"]]
    lines += [line_with(name, parameter, value) for name, parameter, value, _ in wrong_values() if value != "STS17"]
    script = (
        f"import sys\nheavy = {HEAVY!r}\nimport cselab\nprint(heavy & sys.modules.keys(), 'import')\n"
        "sys.argv = ['cselab', '--help']\nfrom cselab_lab.cli import app, main\nmain()\n"
        "print(heavy & sys.modules.keys(), 'help')\n"
        f"for line in {lines!r}:\n"
        "    try: app(line, prog_name='cselab')\n"
        "    except SystemExit: print(heavy & sys.modules.keys(), line)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    found = [line for line in done.stdout.splitlines() if line.startswith(("set()", "{"))]
    assert found == [f"set() {line}" for line in ["import", "help", *lines]], done.stdout + done.stderr


def test_the_help_that_imports_nothing_is_that_of_the_commands():
    for name, (_, summary) in overview.COMMANDS.items():
        command = cli.app.get_command(None, name)
        assert command.name == name and command.help.startswith(summary.removesuffix("."))
    options = {name for option in cli.app.params for name in option.opts}
    assert {name for text in overview.OPTIONS for name in re.findall(r"--\w[\w-]*", text)} == options | {"--help"}
    assert all(len(line) <= 80 for line in overview.help_text().splitlines())
    done = subprocess.run([Path(sys.executable).with_name("cselab"), "-h"], capture_output=True, text=True)
    assert done.stdout == run("-h")[1] == f"{overview.help_text()}\n"
