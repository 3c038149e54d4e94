import math

import numpy as np
import pytest
import torch
from cselab_lab.lessons.guesses import guess


@pytest.mark.parametrize(
    ("mine", "found", "said"),
    [
        (0.66, 0.66, "x: your guess 0.66, the result 0.66: right"),
        (0.6, np.float32(0.66), "x: your guess 0.6, the result 0.66: close"),
        (0.2, 0.66, "x: your guess 0.2, the result 0.66: too low"),
        (4.16, 0.55, "x: your guess 4.16, the result 0.55: too high"),
        (1.0, -2.0, "x: your guess 1, the result -2: wrong sign"),
        (0, 0.0105, "x: your guess 0, the result 0.0105: close"),
        (0, 0.35, "x: your guess 0, the result 0.35: too low"),
        (75, 0.577, "x: your guess 75, the result 0.577: too high; if you meant 75 %, write 0.75"),
        ([0.6], 0.66, "x: your guess 0.6, the result 0.66: close"),
        (np.array([0.6]), 0.66, "x: your guess 0.6, the result 0.66: close"),
        (np.array(["a", "b"]), ["a", "b"], "x: your guess a, b, the result a, b: right"),
        ("0.5-0.7", 0.66, "x: '0.5-0.7' is not a number; write 0.5 or \"50%\""),
        ("Classroom STS", "Classroom-STS", "x: your guess Classroom STS, the result Classroom-STS: right"),
        ("Left", "left", "x: your guess Left, the result left: right"),
        ("SimCSE", "plain", "x: your guess SimCSE, the result plain: wrong"),
        (["a", "b"], ["b", "a"], "x: your guess a, b, the result b, a: wrong"),
        (True, True, "x: your guess True, the result True: right"),
        (..., 0.66, 'x: no guess yet; write one above to see the answer, or "show"'),
        ("show", 0.66, "x: it is 0.66"),
        ("Show!", "lower", "x: it is lower"),
        (None, 0.66, 'x: no guess yet; write one above to see the answer, or "show"'),
        ("50%", 0.5, "x: your guess 50%, the result 0.5: right"),
        ("7 %", 0.2, "x: your guess 7 %, the result 0.2: too low"),
        (4.16, 4.1589, "x: your guess 4.16, the result 4.16: right"),
        (np.log(64), torch.tensor(4.1589), "x: your guess 4.16, the result 4.16: right"),
        (("a", "b"), ["a", "b"], "x: your guess a, b, the result a, b: right"),
        (math.nan, 0.5, "x: your guess nan is NaN or too large; write a number to see the answer"),
        (10**400, 0.5, f"x: your guess {10**400} is NaN or too large; write a number to see the answer"),
        ("much", 0.5, "x: 'much' is not a number; write 0.5 or \"50%\""),
    ],
)
def test_a_guess_stands_beside_what_was_found(mine, found, said):
    assert repr(guess(x=mine).compare(x=found)) == said


def test_guesses_are_compared_as_they_become_known():
    mine = guess(near=0.9, far=...)
    assert repr(mine) == "you guessed: near = 0.9"
    assert len(mine.compare(far=0.1).lines) == 1
    with pytest.raises(ValueError, match="no guess is called 'nere'; expected one of near, far"):
        mine.compare(nere=0.1)


def test_a_notebook_shows_ticks():
    html = guess(near=0.9, far=0.9).compare(near=0.9, far=0.1)._repr_html_()
    assert html.count("✓") == 1 and html.count("•") == 1


def test_who_has_not_guessed_is_not_told():
    assert "0.66" not in guess(x=...).compare(x=0.66)._repr_html_()
