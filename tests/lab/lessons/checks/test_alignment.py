"""The check of the alignment: right answers pass however they are written, each wrong one gets the right diagnosis."""

import pytest
import torch
import torch.nn.functional as F
from cselab_lab.lessons.checks import alignment
from cselab_lab.lessons.exercises import diagnose

from cselab.metrics import alignment as by_cselab


def unit(v):
    return F.normalize(v, dim=1)


def by_hand(x, y, grades, threshold=4):
    found = []
    for one, other, grade in zip(x.tolist(), y.tolist(), grades.tolist(), strict=True):
        if grade > threshold:
            a, b = (sum(z * z for z in side) ** 0.5 for side in (one, other))
            found.append(sum((p / a - q / b) ** 2 for p, q in zip(one, other, strict=True)))
    return sum(found) / len(found)


def from_cosines(x, y, grades, threshold=4):
    return (2 - 2 * F.cosine_similarity(x, y)[grades > threshold]).mean()


RIGHT = {
    "normalise": lambda x, y, g, t=4: (unit(x) - unit(y))[g > t].square().sum(dim=1).mean(),
    "2 - 2 cos": from_cosines,
    "loop": by_hand,
    "cselab": lambda x, y, g, t=4: by_cselab(x[g > t], y[g > t]),
}


def prints(x, y, grades, threshold=4):
    print(from_cosines(x, y, grades, threshold))


WRONG = [
    ("Square the distances", lambda x, y, g, t=4: (unit(x) - unit(y))[g > t].norm(dim=1).mean()),
    ("length 1 before", lambda x, y, g, t=4: (x - y)[g > t].square().sum(1).mean()),
    (
        "not each column",
        lambda x, y, g, t=4: (F.normalize(x, dim=0) - F.normalize(y, dim=0))[g > t].square().sum(1).mean(),
    ),
    ("Which pairs count", lambda x, y, g, t=4: (unit(x) - unit(y)).square().sum(1).mean()),
    ("equals it does not count", lambda x, y, g, t=4: (unit(x) - unit(y))[g >= t].square().sum(1).mean()),
    ("not the others", lambda x, y, g, t=4: (unit(x) - unit(y))[~(g > t)].square().sum(1).mean()),
    ("where threshold should be", lambda x, y, g, t=4: (unit(x) - unit(y))[g > 4].square().sum(1).mean()),
    ("not the sum", lambda x, y, g, t=4: (unit(x) - unit(y))[g > t].square().sum()),
    ("number of all pairs", lambda x, y, g, t=4: ((unit(x) - unit(y)).square().sum(1) * (g > t)).mean()),
    ("no root at the end", lambda x, y, g, t=4: (unit(x) - unit(y))[g > t].square().sum(1).mean().sqrt()),
    ("not their mean", lambda x, y, g, t=4: (unit(x) - unit(y))[g > t].square().mean()),
    ("belongs to row i", lambda x, y, g, t=4: torch.cdist(unit(x)[g > t], unit(y)[g > t]).square().mean()),
    ("the mean cosine", lambda x, y, g, t=4: F.cosine_similarity(x, y)[g > t].mean()),
    ("half of the squared", lambda x, y, g, t=4: 1 - F.cosine_similarity(x, y)[g > t].mean()),
    ("`return` missing", prints),
    ("One number is wanted", lambda x, y, g, t=4: (unit(x) - unit(y))[g > t].square().sum(1)),
    ("raised IndexError", lambda x, y, g, t=4: x[99]),
]


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_is_solved(answer):
    assert diagnose(answer, alignment.STAGES).solved


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG, ids=[d for d, _ in WRONG])
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, alignment.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]
