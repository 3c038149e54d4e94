"""The check of the board's entry: each way to hand in less than a run is named."""

import json

import pytest
from cselab_lab.lessons.checks import board_entry
from cselab_lab.lessons.exercises import diagnose


def right(name, run, control):
    dev = float(run.best["score"])
    about = {"method": run.method.name, "settings": run.method.settings(), "seed": run.config.seed}
    return {"name": name, **about, "step": run.best["step"], "dev": dev, "gain": dev - control}


def by_search(name, run, control):
    best = max(run.history[1:], key=lambda row: row["score"])
    found = dict(name=name, method=run.method.name, settings=dict(run.method.settings()), seed=run.config.seed)
    return found | dict(
        step=best["step"], dev=round(float(best["score"]), 2), gain=round(float(best["score"]) - control, 2)
    )


def changed(**changes):
    return lambda name, run, control: (
        right(name, run, control) | {key: change(run, control) for key, change in changes.items()}
    )


def without(key):
    return lambda *given: {name: value for name, value in right(*given).items() if name != key}


WRONG = [
    ("json.dumps comes later", lambda *given: json.dumps(right(*given))),
    ("json.dumps comes later", lambda *given: list(right(*given).values())),
    ("these seven", without("settings")),
    ("no test score", changed(test=lambda run, control: 50.0)),
    ("float(...)", changed(dev=lambda run, control: run.best["score"])),
    (".name", changed(method=lambda run, control: run.method)),
    ("the first argument", changed(name=lambda run, control: run.method.name)),
    ("run.method.name", changed(method=lambda run, control: run.method.title)),
    ("run.method.settings()", changed(settings=lambda run, control: {"beta": 2.0})),
    ("nobody can repeat", changed(seed=lambda run, control: 0)),
    ("run.best, not the last", changed(step=lambda run, control: run.history[-1]["step"])),
    ("run.best, not the last", changed(step=lambda run, control: run.config.steps)),
    ("history[-1] is the last", changed(dev=lambda run, control: run.history[-1]["score"])),
    ("not over step 0", changed(gain=lambda run, control: float(run.best["score"]) - run.history[0]["score"])),
    ("what is better is above 0", changed(gain=lambda run, control: control - float(run.best["score"]))),
    ("`return` missing", lambda *given: print(right(*given))),
]


@pytest.mark.parametrize("answer", [right, by_search])
def test_a_right_entry_is_solved(answer):
    verdict = diagnose(answer, board_entry.STAGES)
    assert verdict.solved, verdict


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG, ids=[f"{n} {d}" for n, (d, _) in enumerate(WRONG)])
def test_a_wrong_entry_is_named(diagnosis, answer):
    verdict = diagnose(answer, board_entry.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1], verdict
