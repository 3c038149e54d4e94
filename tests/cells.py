"""Tables and cells that are written as text; what must be said of a cell is in the comments above it."""

import re
from pathlib import Path


def cells_in(name):
    """The first cell of a Markdown file, which the others need, and by section each cell's words and source."""
    text = (Path(__file__).parent / name).read_text(encoding="utf-8")
    (_, first), *sections = re.findall(r"^## ([^\n]+)\n\n```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return first, {
        section: [
            ([line[2:] for line in words.splitlines()], cell)
            for words, cell in re.findall(r"((?:^# .+\n)+)((?:^(?!# ).*\n)+)", block, re.MULTILINE)
        ]
        for section, block in sections
    }


def table(text):
    """The rows of a table whose cells are set apart by |."""
    return [line.split(" | ") for line in text.strip("\n").splitlines()]
