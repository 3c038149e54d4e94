"""What `import cselab` gives, what it costs, and which room may know which."""

import ast
import inspect
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
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


@pytest.mark.process
def test_importing_the_package_imports_nothing_heavy():
    code = f"import sys, cselab; print(*sorted(set({HEAVY!r}) & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.split() == [] and done.stderr == ""


SHOWN = "import os; before = dict(os.environ); import cselab, cselab.training; print(before == dict(os.environ))"


@pytest.mark.process
def test_importing_the_package_changes_nothing_in_the_environment():
    done = subprocess.run([sys.executable, "-c", SHOWN], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.strip() == "True"


def test_the_version_is_that_of_the_distribution():
    assert cselab.__version__ == version("cselab")
    assert (PACKAGE / "py.typed").exists()


# ------------------------------------------------------------------------------------------------- arrows

CHECKOUT = PACKAGE.parent
PACKAGES = {
    "cselab": PACKAGE,
    "cselab_lab": CHECKOUT / "lab/cselab_lab",
    "cselab_widgets": CHECKOUT / "widgets/cselab_widgets",
}

MAY_KNOW = {
    "_util": "",
    "losses": "",
    "sgw": "",
    "metrics": "",
    "data": "_util",
    "world": "_util data",
    "encoders": "_util sgw data metrics",
    "augmentations": "encoders",
    "transforms": "encoders metrics",
    "methods": "_util encoders losses sgw augmentations data world",
    "evaluators": "_util transforms encoders world metrics data",
    "training": "_util methods encoders metrics data",
    "integrations": "_util transforms evaluators encoders metrics data",
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
            full = {alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            names |= {full[name] if full[name] in FILES else node.module for name in full}
    return names


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


def test_no_two_modules_import_each_other_by_whatever_way():
    assert cycles(IMPORTS) == []


def test_no_two_rooms_import_each_other_by_whatever_way():
    assert cycles(rooms()) == []


def test_a_cycle_would_be_seen():
    assert set(cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})) == {"a", "b", "c"}
    assert "cselab.encoders.encoder" in IMPORTS["cselab"]  # under TYPE_CHECKING
    assert "cselab.encoders.encoder" in IMPORTS["cselab.encoders.any_encoder"]  # in a function


def test_every_room_knows_those_below_it_alone():
    told = {name: set(may.split()) for name, may in MAY_KNOW.items()}
    found = {name.split(".")[1]: others for name, others in rooms().items() if name.startswith("cselab.")}
    assert found.keys() == told.keys()
    for name, others in found.items():
        assert {other.removeprefix("cselab.") for other in others} <= told[name], name


def test_the_science_knows_neither_the_lab_nor_the_widgets_and_the_lab_not_the_widgets():
    for name, others in IMPORTS.items():
        package = name.split(".")[0]
        above = {"cselab": ("cselab_lab", "cselab_widgets"), "cselab_lab": ("cselab_widgets",)}.get(package, ())
        assert [other for other in others if other.split(".")[0] in above] == [], name


@pytest.mark.parametrize("name", OUTSIDE)
def test_losses_whitening_and_metrics_take_arrays_and_know_no_encoder(name):
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


BUDGETS = {  # code lines: at most a tenth more than there were on 24 November 2026, and what they are spent on
    "cselab/sgw.py": (300, "four ways to a whitening matrix, their gradients, the shuffled groups"),
    "cselab/losses": (550, "twelve families, each a formula and the checks of its arguments"),
    "cselab/augmentations": (260, "changes of texts, of tokens and of embeddings, one a file"),
    "cselab/_util": (250, "choices, whole files, checksums, progress, versions: what no room owns"),
    "cselab/transforms": (280, "centring, components removed, BERT-whitening, and a Glow for BERT-flow"),
    "cselab/metrics": (
        760,
        "geometry and agreement; most of it are significance, many systems ranked, hundreds of probes",
    ),
    "cselab/data": (1260, "readers that check what they read: SentEval, the hub, tables, downloads"),
    "cselab/world": (1250, "a lexicon, frames and a grammar of English, and the rubric that grades pairs"),
    "cselab/encoders": (
        1850,
        "opening and saving what sentence-transformers opens; tokens; encoding, its products by the library that suits "
        "the processor; pooling, heads, prefix, adapters; any encoder",
    ),
    "cselab/methods": (2200, "one file a paper, at most 60 lines each; the base and the components that they share"),
    "cselab/evaluators": (1530, "STS, transfer, clustering and geometry by their protocols; records; baselines"),
    "cselab/training": (
        860,
        "a loop that may be killed at any moment, on any number of processes; folders with checksums; guards",
    ),
    "cselab/integrations": (520, "one file a library: sentence-transformers, MTEB, scikit-learn, the hub"),
    "lab/cselab_lab/diagnosis": (
        1100,
        "eighteen signs with their pictures and advice; scores explained; tables of ties",
    ),
    "lab/cselab_lab/experiments": (
        2710,
        "declared tables, jobs, their results beside the published ones; effects by size",
    ),
    "lab/cselab_lab/cli": (1700, "a command a function, with the help of each option; the doctor's, prompts, adapters"),
    "lab/cselab_lab/headless": (
        920,
        "notebooks run by parameters, at three sizes, their numbers held against recorded ones, pages; a page asks for "
        "guesses itself, and its formulas need no font of their own",
    ),
    "lab/cselab_lab/lessons": (
        4600,
        "what checks an exercise and says what is wrong; 02 and 04 to 07 are built from pieces, each with the mistakes "
        "that students made",
    ),
    "widgets/cselab_widgets/panels": (
        4680,
        "one file a panel: its state, its pure figure, the same in words, its controls, what its page carries",
    ),
    "widgets/cselab_widgets/kit": (
        1820,
        "what panels share: a widget and a page without a kernel that answer alike, planes, checks of what users give",
    ),
    "widgets/cselab_widgets/figures": (520, "twenty-three drawings that stand before a formula; effects by size"),
}


@pytest.mark.parametrize("folder", BUDGETS)
def test_a_room_stays_within_its_budget(folder):
    """Before raising one: what in the room became unnecessary? Never make lines longer to save them."""
    path = CHECKOUT / folder
    spent = {file: code_lines(file) for file in ([path] if path.is_file() else path.rglob("*.py"))}
    largest = sorted(spent, key=spent.get, reverse=True)[:5]
    longest = ", ".join(f"{file.relative_to(CHECKOUT)} {spent[file]}" for file in largest)
    budget, reason = BUDGETS[folder]
    assert sum(spent.values()) <= budget, f"{folder} has {sum(spent.values())} code lines for {reason}; {longest}"


def listed(folder):
    """What `ls` shows of a package in a fresh clone."""
    return {path.name for path in folder.iterdir() if path.name != "__pycache__"}


def test_every_room_has_a_budget():
    no_rooms = {"__init__.py", "py.typed", "assets", "tables.py"}
    rooms = {folder / name for folder in PACKAGES.values() for name in listed(folder) - no_rooms}
    assert {room.relative_to(CHECKOUT).as_posix() for room in rooms} <= BUDGETS.keys()


def test_the_lists_of_rooms_are_short():
    assert len(listed(PACKAGE) - {"py.typed"}) <= 15
    assert len(listed(PACKAGES["cselab_lab"])) <= 8
