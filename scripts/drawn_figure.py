"""A Plotly figure as a PNG file, drawn by a browser: for README and the pages of docs/."""

import tempfile
from pathlib import Path

import plotly.graph_objects as go
from browser import find_browser
from playwright.sync_api import sync_playwright


def draw(figure: go.Figure, picture: Path) -> None:
    """Write the figure, which says its own width and height, at one and a half times its pixels."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder, "figure.html")
        figure.write_html(file, include_plotlyjs=True)
        size = {"width": figure.layout.width + 16, "height": figure.layout.height + 16}
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport=size, device_scale_factor=1.5)
        page.set_default_timeout(240_000)
        page.goto(file.as_uri())
        page.wait_for_selector(".scatterlayer path, .boxlayer path", state="attached")
        page.locator(".js-plotly-plot").screenshot(path=picture)
        browser.close()
