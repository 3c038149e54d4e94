"""Lessons to read alone: the forms of guesses, what they fold, and where exercises are solved."""

import json
import re

import nbformat
import pytest
from cselab_lab.headless.notebook_folder import bundled_notebooks
from cselab_lab.headless.page import printable, write_page
from cselab_lab.headless.record import GUESS_TYPE
from cselab_lab.lessons.guesses import guess
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from playwright.sync_api import expect

ASKED = """mine = lesson.guess(
    near=...,  # the cosine of two cooks
    which=...,
    order=...,  # a list
)
mine"""


def compared(**found):
    outcome = guess(**dict.fromkeys(found, ...)).compare(**found)
    return {"text/plain": repr(outcome), "text/html": outcome._repr_html_(), **outcome._repr_mimebundle_()}


def cell(source, *bundles, **metadata):
    return new_code_cell(source, outputs=[new_output("display_data", one) for one in bundles], metadata=metadata)


def a_lesson(source=ASKED, more=()):
    unsolved = {"text/plain": "not solved yet: replace the placeholder", "text/html": "<b>not solved yet</b>"}
    return new_notebook(
        cells=[
            new_markdown_cell("# 99 · A lesson\n\n## 1. A question\n\n**Predict.** Which?"),
            cell(source, {"text/plain": "you said: nothing yet"}),
            cell("draw()", {"text/plain": "a picture that gives it away"}),
            cell("mine.compare()", {"text/plain": "a table"}, compared(near=0.84, which="left", order=["b", "a"])),
            *more,
            new_markdown_cell("**Explain.** Because it is 0.84.\n\n## Exercise 1: write it\n\nWrite it."),
            cell("fooled = ...", tags=["exercise"]),
            cell("staged_check(fooled, FOOLED)", unsolved, tags=["check"]),
        ]
    )


def html_of(notebook, **options):
    ready = printable(notebook, "99_lesson", **options)
    return ready, [output["data"].get("text/html", "") for cell in ready.cells for output in cell.get("outputs", [])]


def test_a_form_stands_where_the_guess_is_asked_for_with_what_its_comments_say():
    ready, (form, *_) = html_of(a_lesson())
    assert (
        form.startswith("<form")
        and ready.cells[1].outputs[0].data["text/html"] == form
        and len(ready.cells[1].outputs) == 1
    )
    assert re.findall(r"<span>(.*?)</span><input name=\"(.*?)\" placeholder=\"(.*?)\"", form) == [
        ("near<small>the cosine of two cooks</small>", "guess.near", "0.5, 50%, log 64"),
        ("which", "guess.which", "a word"),
        ("order<small>a list</small>", "guess.order", "name, name, ..."),
    ]
    assert "0.84" not in re.sub(r"data-found=\".*?\"", "", form)


def test_without_scripts_there_is_no_form_all_is_told_and_the_notebook_itself_tells_nothing():
    notebook = a_lesson()
    _, htmls = html_of(notebook)
    assert " hidden>" in htmls[0] and "cselab-folded" not in "".join(htmls)
    assert "<div>near: it is 0.84</div><div>which: it is left</div><div>order: it is b, a</div>" in htmls
    assert "0.84" not in notebook.cells[3].outputs[1].data["text/html"]


@pytest.mark.parametrize(
    ("after", "marked"),
    [
        ("**Explain.** Told.\n\n## 2. Next", "**Explain.** Told.\n\n\n\nMARK\n\n## 2. Next"),
        ("**Explain.** Told.\n\n**Predict.** Next?", "**Explain.** Told.\n\n\n\nMARK\n\n**Predict.** Next?"),
        ("Next picture.\n\n**Predict.** Next?", "MARK"),
        ("## 2. Next", "\n\nMARK\n\n## 2. Next"),
    ],
)
def test_the_fold_ends_before_the_next_section_or_question(after, marked):
    ready, _ = html_of(a_lesson(more=[new_markdown_cell(after)]))
    (source,) = (cell.source for cell in ready.cells if "-ends" in cell.source)
    assert source.replace('<div id="guess-1-ends"></div>', "MARK") == marked


def test_a_guess_that_was_made_in_the_notebook_keeps_its_answer_and_asks_nothing():
    outcome = guess(near=0.9).compare(near=0.84)
    assert outcome._repr_mimebundle_() == {}
    notebook = new_notebook(cells=[cell("mine = guess(near=0.9)", {"text/html": outcome._repr_html_()})])
    assert html_of(notebook)[1] == [outcome._repr_html_()]


def test_what_is_no_json_is_compared_by_its_words():
    (one,) = guess(x=...).compare(x=float("nan"))._repr_mimebundle_()[GUESS_TYPE]["found"]
    assert json.dumps(one, allow_nan=False) == '{"name": "x", "value": "nan", "words": "nan"}'


def test_an_exercise_says_which_notebook_to_open_and_how_to_get_it():
    _, htmls = html_of(a_lesson(), how='<a href="readme.html">what it needs</a>')
    assert (
        "<code>99_lesson.ipynb</code> (<a href" in htmls[-1]
        and "make lab" in htmls[-1]
        and "not solved" not in htmls[-1]
    )


@pytest.mark.parametrize("file", sorted(bundled_notebooks().glob("*.ipynb")), ids=lambda file: file.stem)
def test_every_guess_of_the_lessons_can_be_asked_in_a_page(file):
    """What runs is not needed to see where each guess is asked, compared, and where its fold ends."""
    notebook = nbformat.read(file, as_version=4)
    asked = 0
    for one in notebook.cells:
        if one.cell_type == "code" and re.search(r"\.compare\(\s*(\w+=|\*\*)", one.source):
            one.outputs = [new_output("display_data", compared(near=0.84))]
        asked += one.cell_type == "code" and "guess(" in one.source
    ready = printable(notebook, file.stem)
    forms = [
        html
        for one in ready.cells
        for output in one.get("outputs", [])
        if "<form" in (html := output.data.get("text/html", ""))
    ]
    marks = [
        mark
        for one in ready.cells
        if one.cell_type == "markdown"
        for mark in re.findall('id="(guess-.*?-ends)"', one.source)
    ]
    assert len(forms) == len(set(marks)) == asked
    assert sorted(re.search('data-until="(.*?)"', form)[1] for form in forms) == sorted(marks)


@pytest.mark.browser
def test_a_reader_guesses_and_then_sees_what_lies_below(page, tmp_path):
    write_page(a_lesson(), tmp_path / "99_lesson.html", tmp_path, ask=True)
    page.goto((tmp_path / "99_lesson.html").as_uri())
    below = [page.get_by_text(text) for text in ("gives it away", "a table", "near: it is 0.84", "Because it is")]
    for hidden in below:
        expect(hidden).to_be_hidden()
    expect(page.get_by_role("heading", name="Exercise 1")).to_be_visible()
    said = page.get_by_role("status")
    page.get_by_label("near").fill("85%")
    page.get_by_label("near").press("Enter")
    expect(said).to_contain_text("✓ near: you said 85%, it is 0.84: close")
    expect(said).to_contain_text('which: no guess yet; write one above to see the answer, or "show"')
    expect(below[0]).to_be_hidden()
    page.get_by_label("which").fill("right")
    page.get_by_role("button", name="show").press("Space")
    expect(said).to_contain_text("• which: you said right, it is left: not so")
    expect(said).to_contain_text("order: it is b, a")
    for shown in below:
        expect(shown).to_be_visible()


@pytest.mark.browser
@pytest.mark.parametrize("last", [False, True])  # lessons 07 to 12, and 00 to 06, have it so
def test_what_the_run_measured_is_told_once_all_guesses_are_made(page, tmp_path, last):
    measured = [
        new_markdown_cell(f"**Explain.** Told.\n\n{'###' if last else '##'} Measured in this run\n\nIn brackets."),
        cell("lab.record('near', 0.84)", {"text/plain": "near 0.84"}),
    ]
    second = [cell("again = guess(far=...)"), cell("again.compare(far=0.2)", compared(far=0.2))]
    notebook = a_lesson(more=second if last else [*second, *measured])
    notebook.cells += measured if last else []
    write_page(notebook, tmp_path / "99_lesson.html", tmp_path, ask=True)
    page.goto((tmp_path / "99_lesson.html").as_uri())
    numbers, why = page.get_by_text("near 0.84", exact=True), page.get_by_text("These numbers answer the guesses")
    for number in range(2):
        expect(numbers).to_be_hidden()
        expect(why).to_be_visible()
        page.get_by_role("button", name="show").nth(number).click()
    expect(numbers).to_be_visible()
    expect(why).to_be_hidden()
    expect(page.get_by_role("heading", name="Exercise 1")).to_be_visible()
