"""No check refuses a right answer: each exercise, in eight spellings at least."""

import pytest
from cselab_lab.lessons.exercises import diagnose
from right_answers import right_answers
from spellings import every_exercise

EXERCISES = every_exercise()
WITH_ENCODERS = {  # for each answer they encode, train or draw a map
    "benchmarks.PAIRED_BOOTSTRAP",
    "embedding_maps.ISLANDS_IN_NOISE",
    "survey.COMPOSED_METHOD",
    "your_own_method.BEAT_CONTROL",
}
BY_TIME = [pytest.param(name, marks=pytest.mark.slow if name in WITH_ENCODERS else ()) for name in EXERCISES]


@pytest.mark.parametrize("name", BY_TIME)
def test_a_right_answer_is_solved_however_it_is_spelled(name):
    answers = right_answers(name)
    verdicts = [diagnose(answer, EXERCISES[name]) for answer in answers]
    assert len(verdicts) >= 8
    assert [(at, verdict) for at, verdict in enumerate(verdicts) if not verdict.solved] == []


STANDING_IN = [name for name, exercise in EXERCISES.items() if exercise.right]


@pytest.mark.parametrize("name", STANDING_IN)
def test_what_stands_in_for_the_student_is_right(name):
    assert diagnose(lambda *given: EXERCISES[name].right(*given), EXERCISES[name]).solved
