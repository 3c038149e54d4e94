"""The names in cselab's registries, known without torch: a table that the classes give, which is kept in a file.

python -m cselab_lab.experiments.registered    # writes the file again after a method, a suite or a pooling was added
"""

from functools import cache
from pathlib import Path
from typing import Any

import cselab
from cselab._util.reading import read_json

FILE = Path(__file__).with_name("registered.json")
METHOD_FILES = Path(cselab.__file__).parent / "methods"
DEV_SETS = ("auto", "sts-b", "classroom-sts", "world", "corpus", "none")
"""The choices of `--dev`: what selects the best step; see `cselab_lab.experiments.dev.dev_evaluator`."""


def of_the_classes() -> dict[str, Any]:
    """The table, from the registries themselves; imports torch."""
    from cselab.encoders.pooling import POOLINGS
    from cselab.evaluators import SUITES
    from cselab.methods import METHODS
    from cselab.transforms.factory import NAMES

    own = {name: method for name, method in METHODS.items() if method.__module__.startswith("cselab.")}
    return {
        "methods": {
            name: {"needs_capitals": method.needs_capitals, "hyperparameters": [*method.hyperparameters()]}
            for name, method in sorted(own.items())
        },
        "method files": method_files(),
        "suites": [name for name, suite in SUITES.items() if suite.__module__.startswith("cselab.")],
        "poolings": [*POOLINGS],
        "transforms": [*NAMES],
    }


@cache
def registered() -> dict[str, Any]:
    """The table: of the file, or of the classes if a file of a method was added or removed since."""
    table = read_json(FILE) if FILE.exists() else {}
    return table if table.get("method files") == method_files() else of_the_classes()


def method_files() -> list[str]:
    """The names of the files in `cselab.methods`."""
    return sorted(file.name for file in METHOD_FILES.glob("*.py"))
