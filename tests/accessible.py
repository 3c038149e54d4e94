"""The rules of WCAG 2.1 AA that axe can check, on a page that is open: light and wide, dark and on a phone."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], "resultTypes": ["violations"]}


def accessibility_faults(page: Page) -> set[tuple[str, str, str]]:
    """Scheme, rule and place of each fault."""
    faults = set()
    for scheme, width in (("light", 1400), ("dark", 400)):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.set_viewport_size({"width": width, "height": 800})
        for fault in Axe().run(page, options=WCAG).response["violations"]:
            faults |= {(scheme, fault["id"], node["html"]) for node in fault["nodes"]}
    return faults
