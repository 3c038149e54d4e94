"""The check of two sentences that leave the cone: form is asked for, the cosine is told."""

import pytest
from cselab_lab.lessons.checks import leave_the_cone
from cselab_lab.lessons.checks.fooled import cosine
from cselab_lab.lessons.exercises import diagnose

REPORT = "According to the report, inflation rose to 3.5 per cent in March."
RIGHT = {"a report and an answer": (REPORT, "I do not know."), "a list": [REPORT, "She loves him."]}

WRONG = [
    ("in brackets", f"{REPORT} I do not know."),
    ("in brackets", (REPORT,)),
    ("in brackets", (REPORT, "I do not know.", "She loves him.")),
    ("in brackets", (1, 2)),
    ("in brackets", {"first": REPORT, "second": "I do not know."}),
    ("in brackets", lambda: (REPORT, "I do not know.")),
    ("do not count", (REPORT, "...")),
    ("do not count", (REPORT, "")),
    ("do not count", (REPORT, "Yes.")),
    ("do not count", (REPORT, "3 4 5 6 7")),
    ("do not count", (REPORT, "no no no no no no")),
    ("Another topic does little", ("A cook is peeling an onion.", "Parliament rejected the new tax.")),
    ("Another topic does little", (REPORT, REPORT)),
    (
        "The form is right",
        ("According to the ministry, exports of cars rose to 12.5 per cent in May.", "I do not know."),
    ),
]


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_pair_outside_the_cone_is_accepted(answer):
    assert diagnose(answer, leave_the_cone.STAGES).solved


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG)
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, leave_the_cone.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]


def test_a_pair_inside_the_cone_is_told_its_cosine():
    pair = ("A dog barks at night.", "The tax rises again.")
    assert f"{cosine(pair):.3f}" in diagnose(pair, leave_the_cone.STAGES).lines[-1]
