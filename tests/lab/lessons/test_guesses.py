import math

import numpy as np
import pytest
import torch
from cselab_lab.lessons.guesses import guess


@pytest.mark.parametrize(
    ("mine", "found", "said"),
    [
        (0.66, 0.66, "x: you said 0.66, it is 0.66: right"),
        (0.6, np.float32(0.66), "x: you said 0.6, it is 0.66: close"),
        (0.2, 0.66, "x: you said 0.2, it is 0.66: you said too little"),
        (4.16, 0.55, "x: you said 4.16, it is 0.55: you said too much"),
        (1.0, -2.0, "x: you said 1, it is -2: the other sign"),
        (0, 0.0105, "x: you said 0, it is 0.0105: close"),
        (0, 0.35, "x: you said 0, it is 0.35: you said too little"),
        (75, 0.577, "x: you said 75, it is 0.577: you said too much; if you meant 75 %, write 0.75"),
        ([0.6], 0.66, "x: you said 0.6, it is 0.66: close"),
        (np.array([0.6]), 0.66, "x: you said 0.6, it is 0.66: close"),
        (np.array(["a", "b"]), ["a", "b"], "x: you said a, b, it is a, b: right"),
        ("0.5-0.7", 0.66, "x: '0.5-0.7' is not a number; write 0.5 or \"50%\""),
        ("Classroom STS", "Classroom-STS", "x: you said Classroom STS, it is Classroom-STS: right"),
        ("Left", "left", "x: you said Left, it is left: right"),
        ("SimCSE", "plain", "x: you said SimCSE, it is plain: not so"),
        (["a", "b"], ["b", "a"], "x: you said a, b, it is b, a: not so"),
        (True, True, "x: you said True, it is True: right"),
        (..., 0.66, 'x: no guess yet; write one above to see the answer, or "show"'),
        ("show", 0.66, "x: it is 0.66"),
        ("Show!", "lower", "x: it is lower"),
        (None, 0.66, 'x: no guess yet; write one above to see the answer, or "show"'),
        ("50%", 0.5, "x: you said 50%, it is 0.5: right"),
        ("7 %", 0.2, "x: you said 7 %, it is 0.2: you said too little"),
        (4.16, 4.1589, "x: you said 4.16, it is 4.16: right"),
        (np.log(64), torch.tensor(4.1589), "x: you said 4.16, it is 4.16: right"),
        (("a", "b"), ["a", "b"], "x: you said a, b, it is a, b: right"),
        (math.nan, 0.5, "x: you said nan, which is NaN or too large; write a number to see the answer"),
        (10**400, 0.5, f"x: you said {10**400}, which is NaN or too large; write a number to see the answer"),
        ("much", 0.5, "x: 'much' is not a number; write 0.5 or \"50%\""),
    ],
)
def test_a_guess_stands_beside_what_was_found(mine, found, said):
    assert repr(guess(x=mine).compare(x=found)) == said


def test_guesses_are_compared_as_they_become_known():
    mine = guess(near=0.9, far=...)
    assert repr(mine) == "you said: near = 0.9"
    assert len(mine.compare(far=0.1).lines) == 1
    with pytest.raises(ValueError, match="no guess is called 'nere'; expected one of near, far"):
        mine.compare(nere=0.1)


def test_a_notebook_shows_ticks():
    html = guess(near=0.9, far=0.9).compare(near=0.9, far=0.1)._repr_html_()
    assert html.count("✓") == 1 and html.count("•") == 1


def test_who_has_not_guessed_is_not_told():
    assert "0.66" not in guess(x=...).compare(x=0.66)._repr_html_()
