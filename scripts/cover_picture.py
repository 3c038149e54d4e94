"""Draw book/cover.svg, the picture of the book's first page: the sphere, as its panel draws it.

python scripts/cover_picture.py book/cover.svg

The SVG stands in the page itself, so that its lines take the colour of the text, light or dark.
"""

import re
import sys
import tempfile
from pathlib import Path

from browser import find_browser
from cselab_widgets import Sphere
from cselab_widgets.kit.page_panel import CSS
from playwright.sync_api import sync_playwright

WORDS = "Eight sentences as pairs of points on a sphere: arrows show how InfoNCE pushes each point."
SHOWN = r"\.cselab-(globe|net|point|hold|anchors|positives|arrow|tie|behind)\b"
HANDS = r' (?:tabindex|role|aria-[a-z]+|style)="[^"]*"'  # what only a reader's hand or ear needs


def main(picture: Path) -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Sphere(8, 3, seed=5, noise=0.1).to_html(Path(folder) / "sphere.html")
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.goto(file.as_uri())
        drawn = page.locator(".cselab-sphere svg").first.evaluate("svg => svg.innerHTML")
        browser.close()
    rules = [line for line in CSS.splitlines() if re.search(SHOWN, line) and "focus" not in line and "@" not in line]
    inside = re.sub(r"-?\d+\.\d{4,}", lambda digits: f"{float(digits[0]):.4g}", re.sub(HANDS, "", drawn))
    style = "\n".join(rule.strip() for rule in rules)
    picture.write_text(
        '<svg class="cselab-cover" xmlns="http://www.w3.org/2000/svg" viewBox="-1.15 -1.15 2.3 2.3" role="img" '
        f'aria-label="{WORDS}">\n<style>\n{style}\n</style>\n{inside}\n</svg>\n',
        encoding="utf-8",
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
