"""No check refuses a right answer: each exercise, in eight spellings at least."""

import pytest
from cselab_lab.lessons.exercises import diagnose
from right_answers import right_answers
from spellings import every_exercise

EXERCISES = every_exercise()


@pytest.mark.parametrize("name", EXERCISES)
def test_a_right_answer_is_solved_however_it_is_spelled(name):
    answers = right_answers(name)
    verdicts = [diagnose(answer, EXERCISES[name]) for answer in answers]
    assert len(verdicts) >= 8
    assert [(at, verdict) for at, verdict in enumerate(verdicts) if not verdict.solved] == []


STANDING_IN = [name for name, exercise in EXERCISES.items() if exercise.standing_in]


@pytest.mark.parametrize("name", STANDING_IN)
def test_what_stands_in_for_the_student_is_right(name):
    assert diagnose(lambda *given: EXERCISES[name].standing_in(*given), EXERCISES[name]).solved
