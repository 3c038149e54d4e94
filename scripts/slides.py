"""Slides: `python scripts/slides.py build/slides.html` writes the question and the sketches of each lesson.

The keys → and ← turn the slides; a browser prints them, one a page.
"""

import re
import sys
from html import escape
from pathlib import Path

import nbformat
from cselab_widgets import sketches

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>cselab</title><style>
body {{ font: 4vmin/1.3 system-ui, sans-serif; margin: 0 }}
section {{ box-sizing: border-box; height: 100vh; padding: 5vmin; break-after: page }}
section svg {{ width: 90vw; height: 70vh }}
</style>
{slides}
<script>
addEventListener("keydown", ({{key}}) => {{
    const by = {{ArrowRight: 1, ArrowLeft: -1}}[key] || 0
    scrollTo(0, (Math.round(scrollY / innerHeight) + by) * innerHeight)
}})
</script></html>
"""


def slides_of(notebook: nbformat.NotebookNode) -> list[str]:
    """The title and question of a lesson, then its sketches, each with the heading above it."""
    title, *lines = notebook.cells[0].source.splitlines()
    question = next((line.strip("*") for line in lines if line.startswith("*") and line.endswith("*")), "")
    heading = title.strip("# ")
    slides = [f"<section><h1>{escape(heading)}</h1><p>{escape(question)}</p></section>"]
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            heading = next(iter(re.findall(r"^##+ (.+)$", cell.source, re.MULTILINE)[-1:]), heading)
        elif drawn := re.search(r"^sketches\.(\w+)\(\)$", cell.source, re.MULTILINE):
            slides.append(f"<section><h2>{escape(heading)}</h2>{getattr(sketches, drawn[1])()._repr_html_()}</section>")
    return slides


def main(target: Path) -> None:
    """Write the slides of all lessons."""
    paths = sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
    slides = [slide for path in paths for slide in slides_of(nbformat.read(path, as_version=4))]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(PAGE.format(slides="\n".join(slides)), encoding="utf-8")
    print(f"ready: {target}, {len(slides)} slides")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
