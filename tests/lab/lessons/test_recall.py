"""The questions on earlier lessons: as many as there are answers, none answered by the text of its own lesson."""

import nbformat
import pytest
from cselab_lab.headless.notebook_folder import bundled_notebooks
from cselab_lab.lessons import lesson
from cselab_lab.lessons.recall import ANSWERS


def test_a_wrong_word_names_the_place_in_the_lesson():
    right = lesson.recall("05_dropout_noise", "Lower", " the hard ones", "a CONE")
    assert [good for good, _ in right.lines] == [True] * 3
    assert repr(lesson.recall("05_dropout_noise", "higher", None, "")) == (
        "1: not yet; see lesson 02, section 6\n2: no answer yet\n3: no answer yet"
    )
    assert lesson.recall("05_dropout_noise", "lower", ..., ...)._repr_html_().count("✓") == 1
    with pytest.raises(ValueError, match="has 3 questions on earlier lessons; got 1"):
        lesson.recall("05_dropout_noise", "lower")


@pytest.mark.parametrize("name", ANSWERS)
def test_a_lesson_asks_as_many_questions_as_it_checks(name):
    cells = {cell.id: cell.source for cell in nbformat.read(bundled_notebooks() / f"{name}.ipynb", as_version=4).cells}
    asked = [line for line in cells["about-recall"].splitlines() if line[:1].isdecimal()]
    assert len(asked) == len(ANSWERS[name]) == 3
    assert all(place.partition(",")[0] < name[:2] for _, place in ANSWERS[name])
    assert f'lesson.recall("{name}", ' in cells["recall"]
