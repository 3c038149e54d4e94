"""The JavaScript of this folder as a page gets it: without the comments and the indentation that people need."""

from pathlib import Path


def _script(name: str) -> str:
    lines = map(str.strip, (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//")) + "\n"


FIGURE_JS = _script("figure.js")
PLOT_JS = _script("plot.js")
