"""Numbers that were measured stand in outputs, not in prose, where they go stale with the next weights."""

import re

import nbformat
import pytest
from cselab_lab.headless.notebook_folder import bundled_notebooks, find_notebooks

NOT_PROSE = re.compile(
    r"```.*?```|\$\$.*?\$\$|\$[^$]*\$|`[^`]*`|<details><summary>(?!Explain).*?</details>|\]\([^)]*\)|\*\*Time\.\*\*.*?(?=\n\n|$)",
    re.DOTALL,
)
MEASURED = re.compile(
    r"(?<![\w.])[+-]?\d+\.\d+(?![\w.]*\d)"  # a decimal: 0.66, -1.1
    r"|\b\d+(?:\.\d+)? ?(?:%|percent\b)"  # a share
    r"|\b(?:gains?|falls?|rises?|drops?|reaches|ends at) (?:to |by |about )?\d+\b",  # gains 2, falls to 58
    re.IGNORECASE,
)


def measured_numbers(text):
    """The numbers in a cell of text that look measured; a sentence that asks may name what one might guess."""
    prose = NOT_PROSE.sub(" ", text)
    sentences = re.split(r"(?<=[.?!:])\s+", prose)
    return [found for sentence in sentences if not sentence.endswith("?") for found in MEASURED.findall(sentence)]


@pytest.mark.parametrize(
    "text, found",
    [
        ("The two cooks have a cosine of 0.84.", ["0.84"]),
        ("SimCSE gains 2 points, and falls to 58 later.", ["gains 2", "falls to 58"]),
        ("A fifth, or 20 %, is left.", ["20 %"]),
        ("Is it near 0, 0.5, or 1?", []),
        ("At temperature $\\tau = 0.05$ the rest is silent; see `0.7` and ```x = 0.3```.", []),
        ("Section 3, Eq. 4, 64 sentences, two of 21 topics, seeds 0 to 4, 2021.", []),
        ("<details><summary>Solution</summary>\nIt is 0.3.\n</details>", []),
    ],
)
def test_measured_numbers_are_told_from_others(text, found):
    assert measured_numbers(text) == found


LESSONS = [path for path in find_notebooks(bundled_notebooks()) if path.stem[:2].isdecimal()]


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_prose_leaves_measured_numbers_to_the_run(path):
    cells = nbformat.read(path, as_version=4).cells
    found = {cell.id: measured_numbers(cell.source) for cell in cells if cell.cell_type == "markdown"}
    assert {name: numbers for name, numbers in found.items() if numbers} == {}
