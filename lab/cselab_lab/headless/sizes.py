"""The sizes at which the notebooks run."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from cselab_lab.experiments.plan import PAPER_RECIPE, RECIPES

_PAPER = {name: PAPER_RECIPE[name] for name in ("batch_size", "lr", "eval_every")}
SIZES: Mapping[str, Mapping[str, Any]] = {
    "smoke": {"encoder": "micro"} | asdict(RECIPES["micro"]) | {"sentences": 1_000, "steps": 20, "eval_every": 5},
    "classroom": {"encoder": "mini"} | asdict(RECIPES["mini"]) | {"sentences": 10_000, "steps": 60, "eval_every": 10},
    "paper": {"encoder": "bert-base-uncased", "pooling": "cls", "precision": "auto"}
    | _PAPER
    | {"sentences": 1_000_000, "steps": 15_625},
}
"""The sizes by profile. Steps of classroom: see `results/search.md`."""
