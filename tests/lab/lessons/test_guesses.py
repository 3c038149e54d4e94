import math
from decimal import Decimal
from fractions import Fraction

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
        (10, 0.878, "x: your guess 10, the result 0.878: too high"),
        ("0.5-0.7", 0.66, "x: '0.5-0.7' is not one finite number; write 0.5 or \"50%\""),
        ("Classroom STS", "Classroom-STS", "x: your guess Classroom STS, the result Classroom-STS: right"),
        ("SimCSE", "plain", "x: your guess SimCSE, the result plain: wrong"),
        (..., 0.66, 'x: no guess yet; write one above to see the answer, or "show"'),
        ("show", 0.66, "x: it is 0.66"),
        ("Show!", "lower", "x: it is lower"),
        (None, 0.66, 'x: no guess yet; write one above to see the answer, or "show"'),
        (4.16, 4.1589, "x: your guess 4.16, the result 4.16: right"),
        (np.log(64), torch.tensor(4.1589), "x: your guess 4.16, the result 4.16: right"),
        ("", "left", 'x: no guess yet; write one above to see the answer, or "show"'),
    ],
)
def test_a_guess_stands_beside_what_was_found(mine, found, said):
    assert repr(guess(x=mine).compare(x=found)) == said


@pytest.mark.parametrize(
    ("unit", "mine", "found", "said"),
    [
        ("share", "50%", 0.5, "x (share): your guess 50%, the result 0.5: right"),
        ("share", "7 %", 0.2, "x (share): your guess 7 %, the result 0.2: too low"),
        ("share", 75, 0.577, "x (share): your guess 75, the result 0.577: too high; if you meant 75 %, write 0.75"),
        ("points", 10, 0.878, "x (points): your guess 10, the result 0.878: too high"),
        ("score", "35%", 35.0, "x (score): your guess 35%, the result 35: right"),
        ("score", "5%", 35.2, "x (score): your guess 5%, the result 35.2: too low"),
        ("score", 0.35, 35.2, "x (score): your guess 0.35, the result 35.2: too low; if you meant 35 %, write 35"),
        ("score", 0.1, 35.2, "x (score): your guess 0.1, the result 35.2: too low"),
        ("of 64", 0.5, 50, "x (of 64): your guess 0.5, the result 50: too low"),
    ],
)
def test_a_guess_knows_its_unit(unit, mine, found, said):
    assert repr(guess(x=mine, unit=unit).compare(x=found)) == said


def test_each_guess_may_have_a_unit_of_its_own():
    two = guess(a=1, b=50, unit="points, share")
    assert "write 0.5" in repr(two.compare(b=0.2)) and "write" not in repr(two.compare(a=0.2))
    with pytest.raises(ValueError, match="has 2 parts; expected 1, or 3"):
        guess(a=1, b=2, c=3, unit="points, share")


@pytest.mark.parametrize(
    "half",
    [0.5, "0.5", " .5", Fraction(1, 2), Decimal("0.5"), np.float32(0.5), np.array(0.5),
     torch.tensor(0.5), torch.tensor([0.5], requires_grad=True), (0.5,), b"0.5"],
)  # fmt: skip
def test_a_number_may_be_of_any_type(half):
    assert repr(guess(x=half).compare(x=0.5)).endswith("the result 0.5: right")


@pytest.mark.parametrize(
    "wrong",
    [math.nan, -math.inf, 10**400, "nan", "inf%", "  ", "much", "1/2", "0,5", "half a point", True, {}, {0.5},
     [0.4, 0.6], [], 1j, object(), np.array([0.4, 0.6]), print],
)  # fmt: skip
def test_what_is_no_number_is_refused_and_the_answer_stays_hidden(wrong):
    line = repr(guess(x=wrong).compare(x=0.51))
    assert line.endswith(' is not one finite number; write 0.5 or "50%"') and "0.51" not in line


@pytest.mark.parametrize("wrong", [3, 0.5, math.nan, True, ["left", "right"], {"left"}, {}])
def test_what_is_no_word_is_refused_and_the_answer_stays_hidden(wrong):
    line = repr(guess(x=wrong).compare(x="middle"))
    assert line.endswith(" is not one word in quotes") and "middle" not in line


@pytest.mark.parametrize("word", ["left", " Left", "LEFT.", ["left"], np.str_("left"), np.array(["left"])])
def test_a_word_may_be_spelt_in_any_way(word):
    assert repr(guess(x=word).compare(x="left")).endswith("the result left: right")


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
