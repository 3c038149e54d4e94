"""What the registries hold, known without importing torch: read from them once, and again when a source file changed.

The registries are code: to read them takes seconds. What they hold is kept beside the compiled modules, as Python keeps
those, and is thrown away when any file of the packages was changed, added or removed.
"""

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

import cselab

PACKAGES = (Path(cselab.__file__).parent, Path(__file__).parents[1])


def methods() -> dict[str, list[str]]:
    """The hyper-parameters of each method, those of `--code` among them."""
    return _packaged()["methods"] | _methods(_loaded("cselab.methods", "METHODS"))


def suites() -> dict[str, list[str]]:
    """The tasks of each suite, those of `--code` among them."""
    return _packaged()["suites"] | _suites(_loaded("cselab.evaluators.suites", "SUITES"))


def names(what: Literal["poolings", "transforms", "dev", "profiles", "lessons", "recipes"]) -> list[str]:
    """The names in one of the other registries."""
    return list(_packaged()[what])


def purposes() -> dict[str, str]:
    """What the numbers of each profile of experiments are good for."""
    return _packaged()["profiles"]


def train_settings() -> list[dict[str, Any]]:
    """The fields of `TrainConfig`: name, kind, default, what they may be, and what its docstring says of them."""
    return _packaged()["settings"]


def _loaded(module: str, registry: str) -> Mapping[str, Any]:
    return getattr(sys.modules.get(module), registry, {})


@cache
def _packaged() -> dict[str, Any]:
    kept, state = Path(cache_from_source(__file__)).with_suffix(".json"), _state_of_sources()
    try:
        registries = json.loads(kept.read_text(encoding="utf-8"))
        if registries["state"] == state:
            return registries
    except (OSError, ValueError, KeyError):
        pass
    pristine = "torch" not in sys.modules  # else a user's own may be among them: what registers imports torch
    registries = {"state": state} | _read_registries()
    if pristine:
        try:
            kept.parent.mkdir(exist_ok=True)
            aside = kept.with_suffix(f".{os.getpid()}")
            aside.write_text(json.dumps(registries), encoding="utf-8")
            os.replace(aside, kept)
        except OSError:
            pass  # a package that may not be written to is read again each time
    return registries


def _state_of_sources() -> list[Any]:
    files = sorted(file for package in PACKAGES for file in package.rglob("*.py"))
    return [[str(file), stat.st_size, stat.st_mtime_ns] for file in files if (stat := file.stat())]


def _read_registries() -> dict[str, Any]:
    from cselab.encoders.pooling import POOLINGS
    from cselab.evaluators.suites import SUITES
    from cselab.methods import METHODS
    from cselab.training import TrainConfig
    from cselab.transforms import NAMES
    from cselab_lab.experiments.plan import PROFILES, RECIPES
    from cselab_lab.experiments.run import CHOICES
    from cselab_lab.headless.sizes import SIZES

    return {
        "methods": _methods(METHODS),
        "suites": _suites(SUITES),
        "poolings": list(POOLINGS),
        "transforms": list(NAMES),
        "dev": list(CHOICES),
        "profiles": {name: profile.purpose for name, profile in PROFILES.items()},
        "lessons": list(SIZES),
        "recipes": list(RECIPES),
        "settings": list(_settings(TrainConfig)),
    }


def _methods(registry: Mapping[str, Any]) -> dict[str, list[str]]:
    return {name: list(method.hyperparameters()) for name, method in registry.items()}


def _suites(registry: Mapping[str, Any]) -> dict[str, list[str]]:
    return {name: list(suite.tasks) for name, suite in registry.items()}


def _settings(config: type[Any]) -> Iterator[dict[str, Any]]:
    """What an option needs to know of each field of a dataclass whose docstring has its Args."""
    from dataclasses import fields
    from inspect import getdoc

    told = dict(re.findall(r"^    (\w+): (.+?)(?=\n    \w|\n\n)", getdoc(config) or "", re.M | re.S))
    notes = get_type_hints(config)
    for field in fields(config):
        kinds = [kind for kind in (get_args(notes[field.name]) or (notes[field.name],)) if kind in (int, float)]
        yield {
            "name": field.name,
            "kind": kinds[0].__name__ if kinds else "str",
            "default": field.default,
            "help": " ".join(re.sub(r"`(\w+)`", _option, told[field.name]).split()).rstrip("."),
        } | dict(field.metadata)


def _option(field: re.Match[str]) -> str:
    return f"--{field[1].replace('_', '-')}"
