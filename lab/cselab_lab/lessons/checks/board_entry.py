"""Stages for an exercise that writes a line of the leader board: my_entry(name, run, control), a dict for JSON."""

import json
from types import SimpleNamespace
from typing import Any

import numpy as np

from cselab_lab.lessons.exercises import Stage

KEYS = ("name", "method", "settings", "seed", "step", "dev", "gain")
CONTROL = 54.5
"""Of the mean-centred plain encoder, in the example."""


def _run() -> Any:
    """A run as `train` leaves it: its best step is not its last, and a score may be a number of NumPy."""
    history: list[dict[str, Any]] = [{"step": 0, "score": 52.25}]
    history += [{"step": 20, "loss": 0.5, "score": np.float32(57.75)}, {"step": 40, "loss": 0.1, "score": 56.0}]
    method = SimpleNamespace(name="weighted", title="Weighted", settings=lambda: {"variant": "default", "beta": 2.0})
    return SimpleNamespace(history=history, best=history[1], method=method, config=SimpleNamespace(seed=7, steps=40))


def _entry(answer: Any) -> dict[str, Any]:
    return answer("an idea", _run(), CONTROL)


def _is(key: str, value: Any) -> Any:
    return lambda answer: _entry(answer)[key] == value


STAGES = [
    Stage("it returns a dict", lambda f: isinstance(_entry(f), dict), "return {...}; json.dumps comes later."),
    Stage(
        f"it has the keys {', '.join(KEYS)}",
        lambda f: set(_entry(f)) == set(KEYS),
        "these seven and no others: a board holds no test score.",
    ),
    Stage(
        "JSON can hold it",
        lambda f: json.loads(json.dumps(_entry(f))) == _entry(f),
        "numbers of NumPy and torch need float(...), and a method its .name.",
    ),
    Stage("name is what the author calls it", _is("name", "an idea"), "the first argument."),
    Stage("method is the registered name", _is("method", "weighted"), "run.method.name"),
    Stage(
        "settings are all hyper-parameters",
        _is("settings", {"variant": "default", "beta": 2.0}),
        "run.method.settings()",
    ),
    Stage("seed is the run's", _is("seed", 7), "run.config.seed: without it nobody can repeat the run."),
    Stage("step is the kept one", _is("step", 20), "run.best, not the last row: these weights the encoder has."),
    Stage("dev is the score of the kept step", _is("dev", 57.75), "run.best['score']; history[-1] is the last step."),
    Stage(
        "gain is dev less the control",
        _is("gain", 57.75 - CONTROL),
        "over the mean-centred plain encoder, not over step 0; what is better is above 0.",
    ),
]
