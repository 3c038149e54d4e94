"""What `import cselab` gives, what it costs, and which room may know which."""

import ast
import inspect
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest

import cselab

PACKAGE = Path(cselab.__file__).parent
HEAVY = (
    "sklearn scipy plotly umap sentence_transformers pandas matplotlib ipywidgets anywidget papermill "
    "nbconvert click transformers accelerate huggingface_hub"
).split()


def test_the_promised_names_are_there():
    from cselab import SentenceEncoder, evaluate, losses, methods, train

    assert inspect.isclass(SentenceEncoder) and inspect.isfunction(train) and inspect.isfunction(evaluate)
    assert isinstance(losses, ModuleType) and isinstance(methods, ModuleType)
    assert list(inspect.signature(train).parameters)[:6] == [
        "encoder",
        "method",
        "corpus",
        "config",
        "evaluator",
        "callbacks",
    ]
    assert list(inspect.signature(evaluate).parameters)[:4] == ["encoder", "suite", "data", "tasks"]
    for name in cselab.__all__:
        assert getattr(cselab, name).__doc__


def test_importing_the_modules_of_that_name_does_not_hide_the_functions():
    import cselab.evaluators
    import cselab.training
    from cselab.training import TrainConfig

    assert inspect.isfunction(cselab.train) and inspect.isfunction(cselab.evaluate)
    assert cselab.TrainConfig is TrainConfig


def test_importing_the_package_imports_nothing_heavy():
    code = f"import sys, cselab; print(*sorted(set({HEAVY!r}) & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.split() == [] and done.stderr == ""


def waiting(**given):
    """How threads wait in a process that imports the package, as its environment says."""
    code = "import os, cselab; print(os.environ.get('OMP_WAIT_POLICY'), os.environ.get('GOMP_SPINCOUNT'))"
    rest = {name: value for name, value in os.environ.items() if name not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=rest | given)
    return done.stdout.strip()


def test_threads_that_wait_soon_sleep_unless_the_user_chose_otherwise():
    assert waiting() == "None 10000"
    assert waiting(GOMP_SPINCOUNT="7") == "None 7"
    assert waiting(OMP_WAIT_POLICY="active") == "active None"


def test_the_version_is_that_of_the_distribution():
    assert cselab.__version__ == version("cselab")
    assert (PACKAGE / "py.typed").exists()


def imported(file):
    """Top-level names of everything a file imports, with cselab's modules in full."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module]
        else:
            continue
        found |= {name if name.startswith("cselab") else name.split(".")[0] for name in names}
    return found


def files(*rooms):
    for room in rooms:
        path = PACKAGE / room
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]


@pytest.mark.parametrize("room", ["losses", "sgw", "pooling"])
def test_losses_whitening_and_poolings_know_only_torch(room):
    own = {"torch", "jaxtyping", *sys.stdlib_module_names}
    for file in files(room):
        others = {name for name in imported(file) if not name.startswith(f"cselab.{room}")} - own
        assert others == set(), file.name


def test_measures_take_arrays_and_know_no_encoder():
    own = {"torch", "numpy", "scipy", "sklearn", "jaxtyping", *sys.stdlib_module_names}
    for file in files("measures"):
        others = {name for name in imported(file) if not name.startswith("cselab.metrics")} - own
        assert others == set(), file.name


@pytest.mark.parametrize(
    ("room", "above"),
    [
        ("heads", ("encoder", "methods", "training", "evaluators", "lab")),
        ("encoder", ("methods", "training", "evaluators", "lab")),
        ("methods", ("training", "evaluators", "lab")),
        ("measures", ("encoder", "methods", "training", "evaluators", "lab")),
        ("evaluators", ("methods", "training", "lab")),
        ("storage", ("encoder", "methods", "training", "evaluators", "lab")),
        ("data", ("encoder", "methods", "training", "evaluators", "world", "lab")),
        ("training", ("lab",)),
    ],
)
def test_no_room_imports_one_above_it(room, above):
    for file in files(room):
        upwards = [name for name in imported(file) for upper in above if f"{name}.".startswith(f"cselab.{upper}.")]
        assert upwards == [], file.name


def test_nothing_is_pickled():
    for file in files("."):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        assert not {"torch.load", "torch.save"} & calls, file.name
        assert not {"pickle", "dill", "joblib", "shelve"} & imported(file), file.name


def code_lines(file):
    """Lines that are neither blank, comment nor docstring."""
    text = file.read_text(encoding="utf-8")
    told = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            told |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = enumerate(text.splitlines(), start=1)
    return sum(1 for number, line in lines if number not in told and line.strip() and not line.strip().startswith("#"))


def test_a_method_is_read_in_one_screen():
    told = {file.name: code_lines(file) for file in (PACKAGE / "methods").glob("*.py")}
    assert {name: lines for name, lines in told.items() if lines > 60 and name not in ("__init__.py", "base.py")} == {}


OF_THE_THREE_PAPERS = (
    "base contrastive hyperparameters recipe simcse whitenedcse imsimcse noise barlow_twins focal".split()
)


def test_the_science_is_read_in_an_afternoon():
    """The house plan wants 2,000 lines. It has more; this holds what was reached, and only ever goes down."""
    rooms = "losses sgw pooling heads posthoc flow encoder encoding training measures".split()
    told = {file: code_lines(file) for file in files(*rooms)}
    told |= {(file := PACKAGE / "methods" / f"{name}.py"): code_lines(file) for name in OF_THE_THREE_PAPERS}
    assert sum(told.values()) <= 2900, sum(told.values())
