"""A method with its knobs at nothing: the same loss, and the same gradient, as SimCSE."""

import pytest
from cselab_lab.lessons.checks import disguised_simcse
from cselab_lab.lessons.exercises import diagnose

from cselab.methods import create_method

RIGHT = [
    ("sncse_dropout", {"weight": 0.0}),
    ("dclr", {"noise": 0.0, "phi": 1.0}),
    ("dclr", {"phi": 1.0}),  # the noise stays, at cosines near 0: exp(0 / 0.05) is nothing beside the others
    ("arccse", {"margin": 0.0, "weight": 0.0}),
]

WRONG = [
    ("a pair", "sncse_dropout"),
    ("a pair", create_method("dclr").settings()),
    ("unknown method 'dlcr'", ("dlcr", {})),
    ("it has variant, temperature, noise", ("dclr", {"noises": 0.0})),
    ("it must be a number of at least 0", ("dclr", {"noise": -1.0})),
    ("take another method", ("simcse", {})),
    ("take another method", ("simcse", {"num_views": 3})),
    ("Turn their weight", ("mixcse", {})),
    ("Turn their weight", ("sncse_dropout", {})),
    ("Turn their weight", ("dclr", {"noise": 0.0, "phi": 0.1})),
    ("Turn their weight", ("focal", {})),
    ("Turn their weight", ("sncse_dropout", {"weight": 0.0, "temperature": 0.1})),
    ("the vectors are others", ("diffcse", {"weight": 0.0})),
    ("the vectors are others", ("sncse_dropout", {"weight": 0.0, "head": "none"})),
    ("the vectors are others", ("consert", {})),
]


@pytest.mark.parametrize(("name", "knobs"), RIGHT)
def test_a_right_answer_is_solved(name, knobs):
    assert diagnose((name, knobs), disguised_simcse.STAGES).solved


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG)
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, disguised_simcse.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]
