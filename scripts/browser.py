"""A Chromium, Chrome or Edge for the tests: find the one that is there, else install one.

`python scripts/browser.py` is run by `make test`. Without a browser it ends in one line that says how to get one; the
browser tests are then skipped, but where the environment variable CI is true they, and this command, fail.
"""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from install import run_telling

NAMES = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
    "microsoft-edge", "microsoft-edge-stable", "msedge",
)  # fmt: skip
ELSEWHERE = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
MISSING = (
    "no Chromium, Chrome or Edge: the browser tests need one. Get it with 'playwright install --with-deps chromium' "
    "(in .venv/bin), on Debian 'apt-get install chromium'"
)


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() in ("true", "1")


def _starts(program: str) -> bool:
    """Whether it runs here: Ubuntu's chromium-browser may be a stub that asks for snap."""
    if sys.platform == "win32":  # where --version opens a window
        return True
    try:
        return subprocess.run([program, "--version"], capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _of_playwright() -> str | None:
    """The Chromium that `playwright install chromium` keeps, whether or not it is there yet."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


@cache
def find_browser() -> str | None:
    """The program of the first browser that starts: on the path, in its usual place, or Playwright's own."""
    places = [shutil.which(name) for name in NAMES] + [place for place in ELSEWHERE if Path(place).exists()]
    found = next((place for place in places if place and _starts(place)), None)
    if found:
        return found
    own = _of_playwright()
    return own if own and Path(own).exists() and _starts(own) else None


def _try(what: str, *commands: list[str]) -> bool:
    """Run the commands one after the other, telling what they do; whether a browser starts afterwards."""
    print(f"installing {what} for the browser tests", flush=True)
    for command in commands:
        failed, said = run_telling(command)
        if failed:
            reasons = [line for line in said.splitlines() if line.lower().startswith(("error", "e:"))]
            print(f"  that failed: {(reasons or said.splitlines() or ['no reason given'])[0]}", flush=True)
            return False
    find_browser.cache_clear()
    return find_browser() is not None


def install() -> bool:
    """Debian's package for root on Debian, else Playwright's download; whether there is a browser now."""
    root = sys.platform != "win32" and os.geteuid() == 0
    if root and Path("/etc/debian_version").exists() and shutil.which("apt-get"):
        package = ["apt-get", "install", "-y", "-q", "--no-install-recommends", "chromium"]
        os.environ["DEBIAN_FRONTEND"] = "noninteractive"
        if _try("Debian's chromium (about 100 MB)", ["apt-get", "update", "-q"], package):
            return True
    playwright = [sys.executable, "-m", "playwright", "install", "chromium"]
    return _try("Playwright's Chromium (about 150 MB)", playwright)


if __name__ == "__main__":
    if not find_browser() and not install():
        print(MISSING)
        sys.exit(1 if in_ci() else 0)
