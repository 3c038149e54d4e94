"""One table, five forms, the same cells."""

import csv
from io import StringIO

import pytest
from cselab_lab.tables import FORMS, table
from pandas import DataFrame

ROWS = {"plain_1": {"STS-B": 47.034}, "SimCSE": {"STS-B": 51.5, "gain": "4.5 ± 0.3"}}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_every_cell_and_blanks(form):
    shown = table(ROWS, form=form)
    assert "47.03" in shown and "51.50" in shown and "nan" not in shown.lower() and "None" not in shown


def test_text_lines_end_without_blanks():
    assert all(line == line.rstrip() for line in table(ROWS).splitlines())


def test_latex_is_escaped():
    assert r"plain\_1" in table(ROWS, form="latex") and r"4.5 $\pm$ 0.3" in table(ROWS, form="latex")


def test_html_is_escaped():
    assert "&lt;script&gt;" in table({"<script>": {"a": 1.0}}, form="html")


def test_a_name_stays_one_cell_of_plain_text():
    rows = {"a|b": {"x<y": "=1+1"}, "@SUM": {"x<y": "-0.50"}, "+cmd": {"x<y": "+2.50"}}
    assert table(rows, form="md").splitlines()[2].split(" | ")[0].strip() == r"| a\|b"
    assert "<" not in table(rows, form="md") and "x&lt;y" in table(rows, form="md")
    assert table(rows, form="csv").splitlines() == [",x<y", "a|b,'=1+1", "'@SUM,-0.50", "'+cmd,+2.50"]


def test_csv_reads_back():
    assert list(csv.reader(StringIO(table(ROWS, 1, "csv"))))[1:] == [
        ["plain_1", "47.0", ""],
        ["SimCSE", "51.5", "4.5 ± 0.3"],
    ]


def test_a_frame_gives_the_same_as_its_rows():
    assert table(DataFrame(list(ROWS.values()), index=list(ROWS))) == table(ROWS)


def test_an_unknown_form_is_answered_with_the_known():
    with pytest.raises(ValueError, match=r"unknown form 'pdf'\. Choose one of text, md, latex, csv, html"):
        table(ROWS, form="pdf")


FORMULAS = [
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    " =1",
    "\t=1",
    "\r=1",
    "\n=1",
    "\uff1d1+1",
    "\uff20A1",
    "-cmd|' /C calc'!A0",
    "+-1",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_of_a_csv_file_is_a_formula(text):
    shown = list(csv.reader(StringIO(table({text: {text: text}}, form="csv"), newline="")))
    assert all(cell == "" or cell.startswith("'") for row in shown for cell in row)


@pytest.mark.parametrize("number", ["-0.5", "+2.50", "-1e-05", "12", "-3e+20", "0.5 ± 0.1"])
def test_numbers_of_a_csv_file_stay_numbers(number):
    assert table({"a": {"b": number}}, form="csv").splitlines()[1] == f"a,{number}"


@pytest.mark.parametrize(
    "text", ["a\nb", "a|b", "<b>", "[x](javascript:1)", "![x](http://a.b/c)", "a\r\nb", "a\n\n# b", "a\u2028b"]
)
def test_a_cell_of_markdown_is_one_cell_without_a_link(text):
    shown = table({text: {"b": text}}, form="md").splitlines()
    assert len(shown) == 3 and shown[2].replace(r"\|", "").count("|") == 3
    assert "](" not in shown[2] and "<" not in shown[2]
