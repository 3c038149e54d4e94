"""Lesson 08: what is said of wrong answers."""

import numpy as np
import torch
import torch.nn.functional as F
from cselab_lab.lessons.checks import alignment_uniformity
from cselab_lab.lessons.exercises import diagnose
from right_answers import normed, unit, with_column
from spellings import wrong_answers


def squared(x, y):
    return (unit(x) - unit(y)).square().sum(1)


def columns(x):
    return F.normalize(x, dim=0)


generator = np.random.default_rng(1)
WRONG = {
    "ALIGNMENT": [
        ("factor of 2", lambda x, y, g, t=4: (1 - torch.cosine_similarity(x, y))[g > t].mean()),
        ("not the whole matrix", lambda x, y, g, t=4: (x / x.norm() - y / y.norm())[g > t].square().sum(1).mean()),
        ("Square the distances", lambda x, y, g, t=4: squared(x, y)[g > t].sqrt().mean()),
        ("length 1 first", lambda x, y, g, t=4: (x - y)[g > t].square().sum(1).mean()),
        ("not each column", lambda x, y, g, t=4: (columns(x) - columns(y))[g > t].square().sum(1).mean()),
        ("Which pairs count", lambda x, y, g, t=4: squared(x, y).mean()),
        ("equals it does not count", lambda x, y, g, t=4: squared(x, y)[g >= t].mean()),
        ("not the others", lambda x, y, g, t=4: squared(x, y)[~(g > t)].mean()),
        ("where threshold should be", lambda x, y, g, t=4: squared(x, y)[g > 4].mean()),
        ("not the sum", lambda x, y, g, t=4: squared(x, y)[g > t].sum()),
        ("number of all pairs", lambda x, y, g, t=4: (squared(x, y) * (g > t)).mean()),
        ("its square root", lambda x, y, g, t=4: squared(x, y)[g > t].mean().sqrt()),
        ("divide by the number of columns", lambda x, y, g, t=4: (unit(x) - unit(y))[g > t].square().mean()),
        ("belongs to row i", lambda x, y, g, t=4: torch.cdist(unit(x)[g > t], unit(y)[g > t]).square().mean()),
        ("the mean cosine", lambda x, y, g, t=4: F.cosine_similarity(x, y)[g > t].mean()),
        ("half as much", lambda x, y, g, t=4: 1 - F.cosine_similarity(x, y)[g > t].mean()),
        ("One number is wanted", lambda x, y, g, t=4: squared(x, y)[g > t]),
    ],
    "CONE": [
        ("as many rows", lambda rows: rows.mean(axis=0)),
        ("give NaN", lambda rows: rows * np.nan),
        ("as many rows", lambda rows: rows.T),
        ("Scaling the rows changes no cosine", lambda rows: rows),
        ("Scaling the rows changes no cosine", lambda rows: 100 * rows),
        ("Scaling the rows changes no cosine", normed),
        ("something large in common", lambda rows: with_column(normed(rows), 1.0)),
        ("something large in common", lambda rows: rows - rows.mean(axis=0)),
        ("gone, or drowned in rounding", lambda rows: np.ones_like(rows)),
        ("gone, or drowned in rounding", lambda rows: with_column(normed(rows), 1e6)),
        ("say nothing about a single row", lambda rows: 100 + generator.standard_normal(rows.shape)),
        ("long rows must not count for more", lambda rows: with_column(rows, 100.0)),
        ("at a right angle to all of them", lambda rows: normed(rows) + 3.0),
        ("raised ValueError", lambda rows: rows.reshape(7, 7)),
        ("`return` missing", lambda rows: None),
    ],
}


@wrong_answers(alignment_uniformity, WRONG)
def test_a_wrong_answer_is_named(exercise, said, answer):
    verdict = diagnose(answer, exercise)
    assert not verdict.solved and said in verdict.lines[-1], verdict
