"""Write the pages of `docs/play`: `python scripts/play.py [FOLDER]`.

A page is a file of `scripts/play_pages` with a panel in it. A double click opens the page, and the browser computes
everything. `tests/widgets/test_play.py` checks that the files are those that this script writes.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from cselab_widgets import Sphere, ToyTraining
from cselab_widgets.kit.page_panel import PagePanel

from cselab._util.writing import write_text

ROOT = Path(__file__).resolve().parents[1]
SOURCES, FOLDER = ROOT / "scripts" / "play_pages", ROOT / "docs" / "play"
PANELS: dict[str, Callable[[], PagePanel]] = {"index": ToyTraining, "sphere": lambda: Sphere(8, 3)}


def page(name: str) -> str:
    """The page as HTML."""
    style, source = ((SOURCES / file).read_text(encoding="utf-8") for file in ("style.css", f"{name}.html"))
    return source.replace("<!-- style -->", style).replace("<!-- panel -->", PANELS[name]()._html())


def main(folder: Path = FOLDER) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in PANELS:
        file = folder / f"{name}.html"
        write_text(file, page(name))
        print(f"{file}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
