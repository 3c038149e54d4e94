"""The JavaScript of this folder as a page gets it: without the comments and the indentation that people need."""

import re
from pathlib import Path


def _script(name: str) -> str:
    lines = map(str.strip, (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines())
    code = (re.sub(r"(?<=[;{,)]) // .*", "", line) for line in lines if not line.startswith("//"))
    return "\n".join(line for line in code if line) + "\n"


FIGURE_JS = _script("figure.js")
PLOT_JS = _script("plot.js")
