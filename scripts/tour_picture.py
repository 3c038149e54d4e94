"""Draw docs/tour.png, the picture of the README, from the page that `make demo` wrote.

python scripts/tour_picture.py out/00_tour.html docs/tour.png
"""

import base64
import sys
from pathlib import Path

from browser import find_browser
from playwright.sync_api import sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync", "--no-first-run"]


def main(page_file: Path, picture: Path) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1000, "height": 900}, color_scheme="light")
        page.goto(page_file.resolve().as_uri())
        page.wait_for_selector(".js-plotly-plot .scatterlayer .point")
        plots = page.locator(".js-plotly-plot")
        shots = [plots.nth(index).screenshot() for index in range(plots.count())]
        sheet = browser.new_page(viewport={"width": 1000, "height": 400})
        images = "".join(
            f'<img style="display:block;width:100%" src="data:image/png;base64,{base64.b64encode(shot).decode()}">'
            for shot in shots
        )
        sheet.set_content(f'<body style="margin:0;background:white">{images}</body>')
        sheet.screenshot(path=picture, full_page=True)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
