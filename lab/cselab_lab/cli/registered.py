"""The names in the registries, read from their source: to import a registry imports torch, which takes seconds."""

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import cselab

CORE, LAB = Path(cselab.__file__).parent, Path(__file__).parents[1]
ASSIGNED = {
    "poolings": (CORE / "encoders" / "pooling.py", "POOLINGS"),
    "transforms": (CORE / "transforms" / "factory.py", "NAMES"),
    "dev": (LAB / "experiments" / "run.py", "CHOICES"),
    "recipes": (LAB / "experiments" / "plan.py", "RECIPES"),
    "lessons": (LAB / "headless" / "sizes.py", "SIZES"),
}
"""Where the dictionary or tuple is whose names are asked for."""


def methods() -> list[str]:
    """The methods, those of `--code` among them."""
    named = [name for file in sorted((CORE / "methods").rglob("*.py")) for name in _found(r'^@register\("(\w+)"', file)]
    return list(dict.fromkeys([*named, *getattr(sys.modules.get("cselab.methods"), "METHODS", ())]))


def is_hyperparameter(name: str) -> bool:
    """Whether the class of some method has a field of that name."""
    pattern = rf"^    {re.escape(name)}: "
    return any(re.search(pattern, file.read_text(encoding="utf-8"), re.M) for file in (CORE / "methods").rglob("*.py"))


def suites() -> list[str]:
    """The suites, those of `--code` among them."""
    files = sorted((CORE / "evaluators").glob("*.py"))
    named = [name for file in files for name in _found(r'^    name: ClassVar\[str\] = "([\w-]+)"', file)]
    return list(dict.fromkeys([*named, *getattr(sys.modules.get("cselab.evaluators.suites"), "SUITES", ())]))


@cache
def names(what: str) -> list[str]:
    """The names in one of the other registries: a key of `ASSIGNED`, or "profiles"."""
    if what == "profiles":
        return list(purposes())
    file, name = ASSIGNED[what]
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and name in ast.unparse(node).partition("=")[0]:
            held: Any = node.value
            entries: list[Any] = held.keys if isinstance(held, ast.Dict) else held.elts
            return [ast.literal_eval(entry) for entry in entries]
    raise LookupError(f"{file} assigns no {name}")


@cache
def purposes() -> dict[str, str]:
    """What the numbers of each profile of experiments are good for."""
    found = {}
    for node in ast.walk(ast.parse((LAB / "experiments" / "plan.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            given = {one.arg: one.value for one in node.keywords}
            if {"name", "purpose"} <= given.keys():
                found[ast.literal_eval(given["name"])] = ast.literal_eval(given["purpose"])
    return found


@cache
def train_settings() -> list[dict[str, Any]]:
    """The fields of `TrainConfig`: name, kind, default, what they may be, and their line of its docstring."""
    tree = ast.parse((CORE / "training" / "run.py").read_text(encoding="utf-8"))
    (config,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "TrainConfig")
    told = dict(
        re.findall(
            r"^    (\w+): (.+?)(?=\n    \w|\n\n)", inspect.cleandoc(ast.get_docstring(config) or ""), re.M | re.S
        )
    )
    return [_setting(line, told) for line in config.body if isinstance(line, ast.AnnAssign)]


def _setting(line: ast.AnnAssign, told: dict[str, str]) -> dict[str, Any]:
    name, kind = ast.unparse(line.target), re.search(r"\b(int|float)\b", ast.unparse(line.annotation))
    given = {one.arg: _literal(one.value) for one in line.value.keywords} if isinstance(line.value, ast.Call) else {}
    return {
        "name": name,
        "kind": kind[0] if kind else "str",
        "default": given.get("default") if given else _literal(line.value),
        "help": " ".join(re.sub(r"`(\w+)`", _option, told[name]).split()).rstrip("."),
    } | given.get("metadata", {})


def _literal(node: Any) -> Any:
    """The value of a literal; 10**9 is one."""
    if isinstance(node, ast.BinOp):
        return _literal(node.left) ** _literal(node.right)
    if isinstance(node, ast.Dict):
        return {_literal(key): _literal(value) for key, value in zip(node.keys, node.values, strict=True)}
    return ast.literal_eval(node)


def _option(field: re.Match[str]) -> str:
    return f"--{field[1].replace('_', '-')}"


def _found(pattern: str, file: Path) -> Iterator[str]:
    yield from re.findall(pattern, file.read_text(encoding="utf-8"), re.MULTILINE)
