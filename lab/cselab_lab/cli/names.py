"""Names on the command line: checked before torch is imported, and completed by the shell."""

import inspect
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import Field, fields
from functools import cache
from pathlib import Path
from typing import Any, get_args

from cselab._util.arguments import Seed, bounds, check_choice, did_you_mean, hints
from cselab.encoders.open import BUNDLED
from cselab.training.config import TrainConfig

BASELINES = ("random", "word-overlap")
REGISTRIES = {"methods": ("cselab.methods", "METHODS"), "suites": ("cselab.evaluators", "SUITES")}
"""The registries that `--code` may have filled."""


def names(kind: str) -> list[str]:
    """The names in a registry: a key of `registered`, "recipes", "lessons", "profiles" or "tasks"."""
    if kind == "tasks":
        from cselab.evaluators import SUITES

        return [task for suite in SUITES.values() for task in suite.tasks]
    if kind == "lessons":
        from cselab_lab.headless.sizes import SIZES

        return [*SIZES]
    if kind in ("recipes", "profiles"):
        from cselab_lab.experiments.plan import PROFILES, RECIPES

        return [*(RECIPES if kind == "recipes" else PROFILES)]
    from cselab_lab.experiments.registered import DEV_SETS, registered

    if kind == "dev":
        return [*DEV_SETS]
    module, registry = REGISTRIES.get(kind, ("", ""))
    return list(dict.fromkeys([*registered()[kind], *getattr(sys.modules.get(module), registry, ())]))


def methods_with(hyperparameter: str) -> list[str]:
    """The methods of cselab with a hyper-parameter of this name."""
    from cselab_lab.experiments.registered import registered

    methods = registered()["methods"]
    return [name for name, facts in methods.items() if hyperparameter in facts["hyperparameters"]]


def purposes() -> dict[str, str]:
    """The purpose of each profile of experiments."""
    from cselab_lab.experiments.plan import PROFILES

    return {name: profile.purpose for name, profile in PROFILES.items()}


@cache
def train_settings() -> list[dict[str, Any]]:
    """The fields of `TrainConfig`: name, kind, default, choices or bounds, and the line of the docstring."""
    text = inspect.cleandoc(TrainConfig.__doc__ or "")
    lines = dict(re.findall(r"^    (\w+): (.+?)(?=\n    \w|\n\n)", text, re.M | re.S))
    return [_setting(field, lines[field.name]) for field in fields(TrainConfig)]


def _setting(field: Field[Any], line: str) -> dict[str, Any]:
    annotation = hints(TrainConfig)[field.name]
    parts = (annotation, *get_args(annotation))
    parts += tuple(inner for part in parts for inner in get_args(part))
    kind = next((kind for kind in (int, float) if kind in parts), str)
    line = re.sub(r"`(\w+)`", lambda found: f"--{found[1].replace('_', '-')}", line)
    described = {"name": field.name, "kind": kind.__name__, "help": " ".join(line.split()).rstrip(".")}
    choices = list(dict.fromkeys(part for part in parts if isinstance(part, str)))
    limits = bounds(annotation) if annotation is not Seed else {}  # too long for a line of help
    return described | {"default": field.default} | ({"choices": choices} if choices else limits)


def check_name(kind: str, name: str, known: Iterable[str], also: str = "") -> str:
    """The registered spelling of a name given in upper or lower case.

    Raises:
        ValueError: an unknown name; the message lists the nearest name, all names, and `also`.
    """
    known = tuple(known)
    spelled = {each.lower(): each for each in known}.get(name.lower(), name)
    check_choice(kind, spelled, known, also=also)
    return spelled


def check_encoder(name: str, *baselines: str) -> str:
    """The name of an encoder, unless it is almost a bundled name or names a missing folder.

    Each remaining name may exist on the hub, which is contacted when the encoder is opened.

    Raises:
        ValueError: a misspelled name or a missing folder.
    """
    known, path = (*BUNDLED, *baselines), Path(os.path.expanduser(name))
    if name in known or path.exists():
        return name
    if "/" not in name and (hint := did_you_mean(name, known, likeness=0.75)):
        raise ValueError(f"no encoder {name!r}.{hint} Bundled encoders: {', '.join(BUNDLED)}")
    folders = [folder.name for folder in path.parent.iterdir() if folder.is_dir()] if path.parent.is_dir() else []
    hint = did_you_mean(path.name, folders) if "/" in name else ""
    if hint or re.match(r"[./~]|.*/.*/|.*\.(npy|safetensors|txt|csv|jsonl?)$", name):
        raise ValueError(f"{path}: no such file or folder.{hint}")
    return name


def check_scored(name: str) -> str:
    """The name of an encoder or a baseline."""
    return name if name.startswith("static:") else check_encoder(name, *BASELINES)


def check_transform(name: str) -> str:
    """The name of a post-hoc transform, with a number for K."""
    if name.endswith(" K"):
        raise ValueError(f"{name!r}: K must be a number of components, for example {name.replace('K', '3')!r}")
    known = re.sub(r"^without \d+$", "without K", name)
    check_name("transform", known, names("transforms"), " (K is a number)")
    return name
