"""Slides: a title with its question for each lesson, and every sketch."""

import slides


def test_each_lesson_has_its_question_and_its_sketches(tmp_path):
    slides.main(tmp_path / "build" / "slides.html")
    page = (tmp_path / "build" / "slides.html").read_text(encoding="utf-8")
    drawn = [path.read_text(encoding="utf-8").count('"sketches.') for path in slides.NOTEBOOKS.glob("[0-9]*.ipynb")]
    assert page.count("<h1>") == len(drawn) and page.count("<p></p>") == 0
    assert page.count("<section><h2>") == sum(drawn) > 10
    assert page.count("<section>") == page.count("</section>")
