"""Lessons that are read without a kernel: forms for guesses, and links to the exercises.

The cell of a guess (`lesson.guess`) becomes a form with the results of `compare` (`GUESS_TYPE` of record.py).
guesses.js folds the page between the form and the next section or question until each guess was made.
Without scripts, the page has no form and nothing is folded.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from html import escape
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_output

from cselab_lab.headless.record import GUESS_TYPE

EXAMPLES: dict[type, str] = {str: "a word", list: "name, name, ..."}  # for all other types: a number
FORM = """\
<form class="cselab-guess" data-found="{found}" data-until="{until}" autocomplete="off" hidden>
<p><strong>Your guess</strong>{hint}</p>
{rows}
<button type="submit">compare</button><button type="button">show</button>
<div role="status"></div>
<p class="cselab-later"><small>The answer stays folded until every guess is made. To give one up, write "show"; the
button does so in every empty box.</small></p>
</form>"""
ROW = """\
<label><span>{label}{hint}</span><input name="guess.{name}" placeholder="{example}" spellcheck="false"></label>"""
ELSEWHERE = """\
<div class="cselab-elsewhere">To solve this exercise, get the notebook: <code>make lab</code>, or
<code>cselab notebooks copy work</code> and <code>jupyter lab work</code>, then open <code>{name}.ipynb</code>{how}.
The notebook checks your answer.</div>"""


def ask_guesses(notebook: NotebookNode) -> None:
    """Replace each guess by a form, and mark the end of the folded part."""
    asked: dict[int, list[dict[str, Any]]] = {}  # by the number of the cell: the answers
    last: dict[int, int] = {}  # and the cell that compares last
    asking = -1
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            continue
        asking = number if re.search(r"\bguess\(", cell.source) else asking
        for output in cell.outputs:
            if bundle := output.get("data", {}).get(GUESS_TYPE):
                asked.setdefault(asking, []).extend(bundle["found"])
                last[asking] = number
                output.data["text/html"] = _answers(bundle)
    for number, answers in reversed(asked.items()):
        cell, until = notebook.cells[number], f"guess-{number}-ends"
        form = new_output("display_data", {"text/html": _form(cell.source, answers, until)})
        cell.outputs = [form, *(one for one in cell.outputs if not _is_nothing_yet(one))]
        _mark_the_end(notebook, last[number], until)


def open_answers(notebook: NotebookNode) -> None:
    """Show the answer of each guess at its comparison, and hide guesses that were not made."""
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        cell.outputs = [one for one in cell.outputs if not _is_nothing_yet(one)]
        for output in cell.outputs:
            if bundle := output.get("data", {}).get(GUESS_TYPE):
                output.data["text/html"] = _answers(bundle)


def _answers(bundle: dict[str, Any]) -> str:
    return "".join(f"<div>{escape(_label(one))}: it is {escape(one['words'])}</div>" for one in bundle["found"])


def point_to_exercises(notebook: NotebookNode, name: str, how: str = "") -> None:
    """Link each unsolved exercise to its notebook; `how` is HTML with a link to the installation."""
    for cell in notebook.cells:
        if "check" in cell.metadata.get("tags", []) and "not solved yet" in json.dumps(cell.get("outputs", [])):
            words = f" ({how})" if how else ""
            html = ELSEWHERE.format(name=escape(name), how=words)
            cell.outputs = [new_output("display_data", {"text/html": html})]


def _form(source: str, answers: list[dict[str, Any]], until: str) -> str:
    common, hints = _hints(source)
    rows = [
        ROW.format(
            label=escape(_label(one)),
            name=escape(one["name"]),
            hint=f"<small>{escape(hints[one['name']])}</small>" if one["name"] in hints else "",
            example=EXAMPLES.get(type(one["value"]), "0.5, 50%, log 64"),
        )
        for one in answers
    ]
    hint = f": {escape(common)}" if common else ""
    return FORM.format(found=escape(json.dumps(answers)), until=until, hint=hint, rows="\n".join(rows))


def _label(answer: dict[str, Any]) -> str:
    return answer["name"].replace("_", " ")


def _hints(source: str) -> tuple[str, dict[str, str]]:
    """The comments of a guess: for all names, and for names on separate lines."""
    call = next(
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "guess"
    )
    comments = {
        token.start[0]: token.string.lstrip("# ")
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    lines = [keyword.value.lineno for keyword in call.keywords]
    own = {
        keyword.arg: comments[line]
        for keyword, line in zip(call.keywords, lines, strict=True)
        if keyword.arg and line in comments and call.lineno < line and lines.count(line) == 1
    }
    last = call.end_lineno or call.lineno
    return ("" if own else comments.get(last, "")), own


def _is_nothing_yet(output: NotebookNode) -> bool:
    return output.get("data", {}).get("text/plain") == "you said: nothing yet"


def _mark_the_end(notebook: NotebookNode, compared: int, until: str) -> None:
    """Put the mark before the next section, question or guess after a cell."""
    mark = f'<div id="{until}"></div>'
    for number in range(compared + 1, len(notebook.cells)):
        cell = notebook.cells[number]
        if cell.cell_type == "markdown":
            parts = re.split(r"^(?=## )", cell.source, maxsplit=1, flags=re.MULTILINE)
            if len(parts) == 1 and cell.source.startswith("**Explain"):
                parts = re.split(r"^(?=\*\*Predict)", cell.source, maxsplit=1, flags=re.MULTILINE)
            if len(parts) == 2:
                cell.source = f"{parts[0]}\n\n{mark}\n\n{parts[1]}"
                return
            if "**Predict" not in cell.source:
                continue
        elif not re.search(r"\bguess\(", cell.source):
            continue
        notebook.cells.insert(number, new_markdown_cell(mark, id=until))
        return
    notebook.cells.append(new_markdown_cell(mark, id=until))
