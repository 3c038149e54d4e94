"""The check of a cone that keeps the score: by property, however it is built."""

import numpy as np
import pytest
from cselab_lab.lessons.checks import cone
from cselab_lab.lessons.exercises import diagnose


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def with_column(rows, value):
    return np.hstack([rows, np.full((len(rows), 1), value)])


def by_its_cosines(rows):
    cosines = unit(rows) @ unit(rows).T
    wanted = 0.98 + 0.02 * cosines  # cosines of a cone, in the order of the old ones
    values, axes = np.linalg.eigh(wanted)
    return axes * np.sqrt(values.clip(0))


def column_by_column(rows):
    out = np.zeros((len(rows), rows.shape[1] + 1))
    for i, row in enumerate(rows):
        out[i, :-1] = row / np.sqrt((row**2).sum())
        out[i, -1] = 20
    return out


RIGHT = {
    "a new column": lambda rows: with_column(unit(rows), 10.0),
    "loop": column_by_column,
    "from the cosines": by_its_cosines,
    "two columns": lambda rows: with_column(with_column(unit(rows), 8.0), -8.0),
}
generator = np.random.default_rng(1)
WRONG = [
    ("as many rows", lambda rows: rows.mean(axis=0)),
    ("without NaN", lambda rows: rows * np.nan),
    ("as many rows", lambda rows: rows.T),
    ("Scaling the rows changes no cosine", lambda rows: rows),
    ("Scaling the rows changes no cosine", lambda rows: 100 * rows),
    ("Scaling the rows changes no cosine", unit),
    ("something large in common", lambda rows: with_column(unit(rows), 1.0)),
    ("something large in common", lambda rows: rows - rows.mean(axis=0)),
    ("gone, or drowned in rounding", lambda rows: np.ones_like(rows)),
    ("gone, or drowned in rounding", lambda rows: with_column(unit(rows), 1e6)),
    ("say nothing about a single row", lambda rows: 100 + generator.standard_normal(rows.shape)),
    ("long rows must not count for more", lambda rows: with_column(rows, 100.0)),
    ("at a right angle to all of them", lambda rows: unit(rows) + 3.0),
    ("raised ValueError", lambda rows: rows.reshape(7, 7)),
    ("`return` missing", lambda rows: None),
]


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_is_solved(answer):
    assert diagnose(answer, cone.STAGES).solved


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG, ids=[f"{n}: {d}" for n, (d, _) in enumerate(WRONG)])
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, cone.STAGES)
    assert verdict.lines[-1].startswith("not yet") and diagnosis in verdict.lines[-1]
