"""What `import cselab` gives, what it costs, and which room may know which."""

import ast
import inspect
import io
import subprocess
import sys
import tokenize
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import cselab

PACKAGE = Path(cselab.__file__).parent
HEAVY = (
    "sklearn scipy plotly sentence_transformers pandas matplotlib ipywidgets anywidget papermill "
    "nbconvert click transformers accelerate huggingface_hub"
).split()


def test_import_of_the_modules_does_not_hide_train_and_evaluate():
    import cselab.evaluators
    import cselab.training
    from cselab.training import TrainConfig

    assert inspect.isfunction(cselab.train) and inspect.isfunction(cselab.evaluate)
    assert cselab.TrainConfig is TrainConfig


IMPORTED = """
import os, sys
before = dict(os.environ)
import cselab
print(*sorted(set({heavy!r}) & sys.modules.keys()))
import cselab.training
assert before == dict(os.environ)
"""


def test_import_is_light_and_leaves_the_environment():
    code = IMPORTED.format(heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.split() == [] and done.stderr == ""


# ------------------------------------------------------------------------------------------------- arrows

CHECKOUT = PACKAGE.parent
PACKAGES = {
    "cselab": PACKAGE,
    "cselab_lab": CHECKOUT / "lab/cselab_lab",
    "cselab_widgets": CHECKOUT / "widgets/cselab_widgets",
}

MAY_KNOW = {
    "_util": "",
    "losses": "_util",
    "sgw": "_util",
    "metrics": "_util",
    "data": "_util",
    "world": "_util data",
    "encoders": "_util sgw data metrics",
    "augmentations": "_util encoders",
    "transforms": "_util encoders metrics",
    "methods": "_util encoders losses sgw augmentations data world",
    "evaluators": "_util transforms encoders world metrics data",
    "training": "_util losses methods encoders metrics data",
    "integrations": "_util training transforms evaluators encoders metrics data",
}
"""Which room of cselab imports which: what is not named here is above it, or beside it and none of its business."""

OUTSIDE = {
    "losses": {"torch", "jaxtyping"},
    "sgw": {"torch", "jaxtyping"},
    "metrics": {"torch", "jaxtyping", "numpy", "scipy", "sklearn"},
}
"""The libraries that a room of plain arithmetic knows."""


def module_files():
    """The file of each module of the three packages, by its dotted name; a package's own is its `__init__`."""
    files = {}
    for package, folder in PACKAGES.items():
        for file in folder.rglob("*.py"):
            parts = file.relative_to(folder).with_suffix("").parts
            files[".".join((package, *parts[: -1 if parts[-1] == "__init__" else None]))] = file
    return files


FILES = module_files()


def imported(file):
    """Dotted names of everything a file imports: at its top, in a function, and under TYPE_CHECKING."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = f"{package_of(file, node.level)}.{node.module or ''}".strip(".") if node.level else node.module
            full = {alias.name: f"{module}.{alias.name}" for alias in node.names}
            names |= {full[name] if full[name] in FILES else module for name in full}
    return names


def package_of(file, level):
    """The package that `level` dots name in a file: one dot is the file's own."""
    (root,) = (folder for folder in PACKAGES.values() if folder in file.parents)
    return ".".join(file.parents[level - 1].relative_to(root.parent).parts)


IMPORTS = {name: imported(file) & FILES.keys() - {name} for name, file in FILES.items()}


def room(module):
    """`cselab.encoders` of `cselab.encoders.folder`; a package's own `__init__` is a room of its own."""
    return ".".join(module.split(".")[:2])


def cycles(graph):
    """The nodes of each group in which all reach each other."""
    order = TopologicalSorter(graph)
    try:
        order.prepare()
    except CycleError as error:
        return error.args[1]
    return []


def rooms():
    graph = {room(name): set() for name in FILES}
    for name, others in IMPORTS.items():
        graph[room(name)] |= {room(other) for other in others} - {room(name)}
    return graph


def test_modules_have_no_import_cycle():
    assert cycles(IMPORTS) == []


def test_rooms_have_no_import_cycle():
    assert cycles(rooms()) == []


def test_rooms_import_only_those_below_them():
    told = {name: set(may.split()) for name, may in MAY_KNOW.items()}
    found = {name.split(".")[1]: others for name, others in rooms().items() if name.startswith("cselab.")}
    assert found.keys() == told.keys()
    for name, others in found.items():
        assert {other.removeprefix("cselab.") for other in others} <= told[name], name


def test_packages_import_in_one_direction():
    for name, others in IMPORTS.items():
        package = name.split(".")[0]
        above = {"cselab": ("cselab_lab", "cselab_widgets"), "cselab_lab": ("cselab_widgets",)}.get(package, ())
        assert [other for other in others if other.split(".")[0] in above] == [], name


@pytest.mark.parametrize("name", OUTSIDE)
def test_arithmetic_imports_only_its_libraries(name):
    for module, file in FILES.items():
        if room(module) == f"cselab.{name}":
            tops = {one.split(".")[0] for one in imported(file)}
            assert tops - {"cselab"} - OUTSIDE[name] - sys.stdlib_module_names == set(), file


def test_nothing_is_pickled():
    for file in PACKAGE.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        assert not {"torch.load", "torch.save"} & calls, file.name
        assert not {"pickle", "dill", "joblib", "shelve"} & {name.split(".")[0] for name in imported(file)}, file.name


# ------------------------------------------------------------------------------------------------ budgets

LAYOUT = {getattr(tokenize, name) for name in "COMMENT NL NEWLINE INDENT DEDENT ENDMARKER".split()}


@cache
def code(file):
    """The lines and the number of tokens of a file, without blanks, comments and docstrings."""
    text, documented = file.read_text(encoding="utf-8"), set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            documented |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    tokens = [
        token
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in LAYOUT and token.start[0] not in documented
    ]
    return len({line for token in tokens for line in range(token.start[0], token.end[0] + 1)}), len(tokens)


def test_a_method_is_read_in_one_screen():
    lines = {file.name: code(file)[0] for file in (PACKAGE / "methods").glob("*.py")}
    assert {name: n for name, n in lines.items() if n > 60 and name not in ("__init__.py", "base.py")} == {}


FOLDERS = {**PACKAGES, "tests": CHECKOUT / "tests"}


@pytest.mark.parametrize(
    "names, most",
    [
        ("cselab", 112_000),
        ("cselab_lab", 95_500),
        ("cselab_widgets", 55_600),
        ("cselab cselab_lab cselab_widgets", 260_000),
        ("tests", 243_500),
    ],
)
def test_a_package_stays_small(names, most):
    """Tokens, which do not depend on the length of lines. Before raising one: what became unnecessary?"""
    found = sum(code(file)[1] for name in names.split() for file in FOLDERS[name].rglob("*.py"))
    assert found <= most, (
        f"{names}: {found:,} tokens of code, at most {most:,} are allowed: remove {found - most} that became "
        "unnecessary, or raise the limit here and give the reason in the commit's message (CONTRIBUTING.md, The rule)"
    )


def listed(folder):
    """What `ls` shows of a package in a fresh clone."""
    return {path.name for path in folder.iterdir() if path.name != "__pycache__"}


def test_the_lists_of_rooms_are_short():
    assert len(listed(PACKAGE) - {"py.typed"}) <= 15
    assert len(listed(PACKAGES["cselab_lab"]) - {"py.typed"}) <= 8
