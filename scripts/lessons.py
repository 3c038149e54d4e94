"""How long the lessons are: `python scripts/lessons.py` prints a table, with `--check` it fails over a limit.

Folded solutions are not counted. Minutes are for reading (100 words a minute in a cell with a formula, 150 elsewhere),
a minute a guess and five a core piece; computing comes in addition.
"""

import ast
import re
import sys
from pathlib import Path

import nbformat

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
LIMITS = {"words": 1800, "guesses": 8, "pieces": 3, "further": 1, "lines": 100, "longest": 12, "minutes": 45}
FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$\n]+\$", re.DOTALL)


def words_of(text: str) -> int:
    """Words outside what is folded; a formula is one word, an address of a link none."""
    plain = FORMULA.sub(" formula ", re.sub(r"\]\([^)]*\)", "]", FOLDED.sub(" ", text)))
    return len([word for word in plain.split() if any(map(str.isalnum, word))])


def guesses_of(source: str) -> int:
    """How many values the calls of `lesson.guess` ask for."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return sum(len(call.keywords) for call in calls if ast.unparse(call.func).endswith("lesson.guess"))


def measured(notebook: nbformat.NotebookNode) -> dict[str, int]:
    """Words, guesses, pieces, visible lines and minutes of a lesson."""
    words, reading, guesses = 0, 0.0, 0
    pieces = {"pieces": 0, "further": 0}
    visible = [0]
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "markdown":
            number = words_of(cell.source)
            words += number
            reading += number / (100 if FORMULA.search(FOLDED.sub("", cell.source)) else 150)
        elif "exercise" in tags:
            pieces["further" if "further" in tags else "pieces"] += 1
        else:
            guesses += guesses_of(cell.source)
            if not cell.metadata.get("jupyter", {}).get("source_hidden"):
                visible.append(len([line for line in cell.source.splitlines() if line.strip()]))
    minutes = round(reading + guesses + 5 * pieces["pieces"])
    return {"words": words, "guesses": guesses, **pieces, "lines": sum(visible), "longest": max(visible),
            "minutes": minutes}  # fmt: skip


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
