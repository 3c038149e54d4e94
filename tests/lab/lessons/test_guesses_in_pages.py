"""guessing.js, computed by a real browser, beside guesses.py: a page says of a typed guess what a notebook says."""

import json
import math

import pytest
from cselab_lab.headless.page import TEMPLATE
from cselab_lab.headless.record import GUESS_TYPE
from cselab_lab.lessons.guesses import guess

pytestmark = pytest.mark.browser

SPELLINGS = [
    "0.5", ".5", "5.", "-2e-3", "1_000", "1__0", "007", "0", "-0", "00", "12.5 %", "50%", " 50 % ", "7 %", "%", "5%%",
    "75", "10", "100", "101", "log(64)", "log 64", "log  64", "log (64)", "Log 64", "ln 2", "log2 8", "log10 100",
    "log2(8)", "2 log 64", "2*log 64", "log 2 * 3", "sqrt(2) * pi", "sqrt 2", "e", "e^2", "pi", "-pi", "e 5",
    "exp(-1) + 3*(1 - 1/4)", "-2**2", "2**-1", "2**3**2", "(-1)**0.5", "-1/3", "+ 3", "--3", "1 - 2 - 3", "8/4/2",
    "1/32", "1.125", "10.25", "100.5", "log 0", "log(-1)", "sqrt(-1)", "1/0", "0/0", "0**-1", "9**9**9**9",
    "exp(1000)", "1e400", "-1e400", "1e400 - 1e400", "1e308*10", "sqrt(1e400)", "nan", "NaN", "inf", "0,5", "", "  ",
    "True", "much", "it's", 'say "much"', "1j", "'a'", "[1]", "(1)", "((1)", "1)", "log(2, 8)", "log", "log.real",
    "exit()", "__import__('os').getcwd()", "constructor", "toString(1)", "2pi", "1e", "1 2", "5 # about", "show",
    "Show!", "shown", "left", "Left ", "plain, random", "Plain,RANDOM", "random, plain", "plain", "STS B", "STS-B",
    "0.842", "0.8425", "LOG 64", "LOG(64)", "math.log(64)", "np.log(64)", "np.log 64", "torch.exp(1)", "Math.PI", "PI",
    "1E3", "math.", "math.inf", "os.log(64)", "np.np.log(64)", "2math.e", "E",
    "0.5-0.7", "0.5 - 0.7", "50-70%", "0.7-0.5", "much " * 20,
]  # fmt: skip
FOUND = [0.84, 0.5, 0.0, -0.0, 0.0312, 1.12, 10.2, 0.0105, math.log(64), -2.0, 1 / 3, 52, 0, 8, 1e-7, 12345.678]
WORDS = ["left", "STS-B", "show", ["plain", "random"], ["plain"], True]


@pytest.fixture
def told(page):
    """What guessing.js says of spellings beside what was found: the line and the verdict of each."""
    page.add_script_tag(path=TEMPLATE / "guessing.js")

    def tell(spellings, found):
        (one,) = guess(x=...).compare(x=found)._repr_mimebundle_()[GUESS_TYPE]["found"]
        call = "([texts, found]) => texts.map((text) => comparedGuess(text, found))"
        return page.evaluate(call, [spellings, json.loads(json.dumps(one))])

    return tell


def test_a_page_says_of_each_spelling_what_a_notebook_says(told):
    for found in [*FOUND, *WORDS]:
        for text, said in zip(SPELLINGS, told(SPELLINGS, found), strict=True):
            ((line, verdict),) = guess(x=text if text.strip() else ...).compare(x=found).lines
            assert (said["line"], said["verdict"]) == (line, verdict), (text, found)


def test_what_is_right_in_three_digits_is_right_in_both(told):
    halves = [k / 2**n for k in range(1, 400, 7) for n in (3, 5, 9)]  # rounded to the even digit, as Python does
    for found in (1.12, 1.38, 0.0312, 12.2, 12.4):
        for text, said in zip(map(repr, halves), told([repr(one) for one in halves], found), strict=True):
            assert said["line"] == repr(guess(x=text).compare(x=found)), (text, found)
