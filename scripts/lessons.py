"""How long the lessons are: `python scripts/lessons.py` prints a table, with `--check` it fails over a limit.

Hints and solutions, which are folded, are not counted; what explains a guess is folded and counted. Minutes are for
reading (200 words or 15 visible lines of code a minute, a minute for a displayed formula), a minute for a guess, half a
minute for a question on an earlier lesson, a picture or a printed table, 2 for a panel, 3 minutes and 1.5 a line of the
solution for a core piece, and computing. What has the tag `further` is not counted.
"""

import ast
import re
import sys
from pathlib import Path

import cselab_widgets
import nbformat

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
LIMITS = {"words": 1800, "guesses": 8, "pieces": 3, "further": 1, "lines": 100, "longest": 12, "minutes": 45}
FOLDED = re.compile(r"<details><summary>(?!Explain).*?</details>", re.DOTALL)
FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$\n]+\$", re.DOTALL)
DISPLAYED = re.compile(r"\$\$.+?\$\$", re.DOTALL)
FURTHER = re.compile(r"(?:#+ |\*)Further")
COMPUTING = re.compile(r"(\d+) of them computing")
EFFORT = re.compile(r"\*(\d+) minutes · (?:easy|medium|hard) · importance ([1-5]) of 5\.\*")


def words_of(text: str) -> int:
    """Words outside what is folded away; a formula is one word, an address of a link none."""
    plain = FORMULA.sub(" formula ", re.sub(r"\]\([^)]*\)", "]", FOLDED.sub(" ", text)))
    return len([word for word in re.sub(r"</?\w+>", " ", plain).split() if any(map(str.isalnum, word))])


def calls_of(source: str, name: str) -> list[ast.Call]:
    """The calls of a function of the lesson."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [call for call in calls if ast.unparse(call.func).endswith(f"lesson.{name}")]


def guesses_of(source: str) -> int:
    """How many values the calls of `lesson.guess` ask for."""
    return sum(keyword.arg != "unit" for call in calls_of(source, "guess") for keyword in call.keywords)


def looking(notebook: nbformat.NotebookNode) -> float:
    """2 minutes for each panel, and half a minute for each cell that draws or prints."""
    panels, minutes = {*cselab_widgets.__all__} - {"Picture"}, 0.0
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type != "code" or {"exercise", "further"} & {*tags}:
            continue
        *_, last = ast.parse(cell.source).body or [ast.Pass()]
        shown = ast.unparse(last).partition("(")[0]
        if shown in panels | set(re.findall(rf"^(\w+) = (?:{'|'.join(panels)})\(", all_code(notebook), re.MULTILINE)):
            minutes += 2
        elif re.search(r"\bPicture\(|\bprint\(", cell.source):
            minutes += 0.5
    return minutes


def all_code(notebook: nbformat.NotebookNode) -> str:
    """The code of all cells."""
    return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")


def minutes_of_piece(solution: str) -> float:
    """3 minutes and 1.5 a line of the folded solution, without imports and the head of the function."""
    code = "\n".join(re.findall(r"```python\n(.+?)```", solution, re.DOTALL))
    lines = [line for line in code.splitlines() if line.strip() and not re.match(r"(import|from|def) ", line)]
    return 3 + 1.5 * len(lines)


def measured(notebook: nbformat.NotebookNode) -> dict[str, int]:
    """Words, guesses, pieces, visible lines and minutes of a lesson."""
    words, guesses, recalled, minutes = 0, 0, 0, 0.0
    pieces = {"pieces": 0, "further": 0}
    visible = [0]
    for at, cell in enumerate(notebook.cells):
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "markdown":
            words += words_of(cell.source)
            following = notebook.cells[at + 1 : at + 2]
            if not (FURTHER.match(cell.source) and following and "further" in following[0].metadata.get("tags", [])):
                minutes += words_of(cell.source) / 200 + len(DISPLAYED.findall(FOLDED.sub("", cell.source)))
        elif "exercise" in tags:
            pieces["further" if "further" in tags else "pieces"] += 1
            minutes += 0 if "further" in tags else minutes_of_piece(notebook.cells[at + 2].source)
        else:
            guesses += guesses_of(cell.source)
            recalled += sum(len(call.args) - 1 for call in calls_of(cell.source, "recall"))
            if not cell.metadata.get("jupyter", {}).get("source_hidden"):
                visible.append(len([line for line in cell.source.splitlines() if line.strip()]))
    minutes += sum(visible) / 15 + guesses + recalled / 2 + looking(notebook) + computing_of(notebook)
    return {"words": words, "guesses": guesses, **pieces, "lines": sum(visible), "longest": max(visible),
            "minutes": round(minutes)}  # fmt: skip


def computing_of(notebook: nbformat.NotebookNode) -> int:
    """The minutes of computing that the title states."""
    stated = COMPUTING.search(notebook.cells[0].source)
    return int(stated[1]) if stated else 0


def lessons() -> dict[str, dict[str, int]]:
    """Every lesson's numbers."""
    return {path.stem: measured(nbformat.read(path, as_version=4)) for path in sorted(NOTEBOOKS.glob("[0-9][0-9]_*"))}


def over(numbers: dict[str, int]) -> list[str]:
    """The limits that a lesson does not keep."""
    return [f"{name} {numbers[name]} > {limit}" for name, limit in LIMITS.items() if numbers[name] > limit]


if __name__ == "__main__":
    print(f"{'':24}" + "".join(f"{name:>9}" for name in LIMITS))
    for name, numbers in lessons().items():
        print(
            f"{name:24}"
            + "".join(f"{numbers[what]:8}{'*' if numbers[what] > LIMITS[what] else ' '}" for what in LIMITS)
        )
    print(f"{'at most':24}" + "".join(f"{limit:8} " for limit in LIMITS.values()))
    sys.exit("--check" in sys.argv and any(map(over, lessons().values())))
