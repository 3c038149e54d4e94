"""The check of settings that show islands in noise: by what the map looks like, however they are chosen."""

import numpy as np
import pytest
from cselab_lab.lessons.checks import islands_in_noise
from cselab_lab.lessons.exercises import diagnose

RIGHT = {
    "perplexity 2": dict(perplexity=2),
    "perplexity 3": {"perplexity": 3},
    "another start": dict(perplexity=2, init="random", max_iter=500),
}
WRONG = [
    ("write it as dict", 3),
    ("write it as dict", [("perplexity", 3)]),
    ("write it as dict", "perplexity=3"),
    ("write it as dict", {}),
    ("write it as dict", np.zeros((150, 2))),
    ("leave the others", dict(perplexity=3, random_state=7)),
    ("leave the others", dict(Perplexity=3)),
    ("leave the others", dict(n_components=1)),
    ("below the number of rows, 150", dict(perplexity=150)),
    ("must lie above 0", dict(perplexity=0)),
    ("250 or more", dict(perplexity=3, max_iter=10)),
    ("How many may an island hold", dict(perplexity=30)),
    ("How many may an island hold", dict(perplexity=50)),
    ("How many may an island hold", dict(perplexity=15)),
]


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_is_solved(answer):
    assert diagnose(answer, islands_in_noise.STAGES).solved


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG, ids=[f"{n}: {d}" for n, (d, _) in enumerate(WRONG)])
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, islands_in_noise.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]
