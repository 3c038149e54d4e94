"""The command line in this process: what a command prints, and one line of error where it refuses."""

import json
import re
import shlex

from click.testing import CliRunner
from cselab_lab import cli


def run(line, ok=True, stream="output", **more):
    """The output of a command, which must end as expected, with one line of error and never with a traceback."""
    result = CliRunner().invoke(cli.app, shlex.split(line), **more)
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert (result.exit_code == 0) == ok, result.output
    if not ok and result.stderr:
        assert len(result.stderr.splitlines()) == 1, result.stderr
        assert not re.search(r"[^.]\. \(see", result.stderr), result.stderr
    return getattr(result, stream)


def run_json(line, ok=True):
    return json.loads(run(f"{line} --format json", ok, "stdout"))
