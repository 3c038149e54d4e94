import pytest
from cells import cells_in
from cselab_lab.lessons.guesses import guess

FIRST_CELL, GUESSES = cells_in("lab/lessons/guesses.md")


@pytest.mark.parametrize("words, cell", [one for cells in GUESSES.values() for one in cells])
def test_a_guess_stands_beside_what_was_found_if_it_is_one(words, cell, kernel):
    shown = repr(kernel(cell))
    for word in words:
        said = shown == word if word.startswith("x") else word.removeprefix("not: ") in shown
        assert said is not word.startswith("not: "), shown


def test_guesses_are_compared_as_they_become_known():
    mine = guess(near=0.9, far=...)
    assert len(mine.compare(far=0.1).lines) == 1
    with pytest.raises(ValueError, match="no guess is called 'nere'; expected one of near, far"):
        mine.compare(nere=0.1)
    with pytest.raises(ValueError, match="has 2 parts; expected 1, or 3"):
        guess(a=1, b=2, c=3, unit="points, share")


def test_a_notebook_shows_ticks_and_hides_the_answer():
    html = guess(near=0.9, far=0.9).compare(near=0.9, far=0.1)._repr_html_()
    assert html.count("✓") == 1 and html.count("•") == 1
    assert "0.66" not in guess(x=...).compare(x=0.66)._repr_html_()
