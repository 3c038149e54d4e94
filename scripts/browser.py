"""A Chromium, Chrome or Edge for the tests, and a Firefox: find those that are there; `make browser` installs them.

The tests only look for them: without a Chromium those that need it are skipped, and where the environment variable CI
is true they fail; without a Firefox the few that open pages in it are skipped, always. `python scripts/browser.py` is
what `make browser` runs. It says what it installs, and with what, before it does so; Debian's packages need root, and
without root the line to run is printed and nothing done.
"""

import os
import shlex
import shutil
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
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
FIREFOX_NAMES = ("firefox-esr", "firefox")
FIREFOX_ELSEWHERE = (
    "/Applications/Firefox.app/Contents/MacOS/firefox",
    r"C:\Program Files\Mozilla Firefox\firefox.exe",
)
NO_FIREFOX = (
    "no Firefox here, its tests are skipped: get one from your system, or as root on Debian with 'make browser'"
)
MISSING = "no Chromium, Chrome or Edge here: get one with 'make browser' (without make: python scripts/browser.py)"
DEBIAN = ("apt-get", "install", "-y", "-q", "--no-install-recommends", "chromium")
DEBIAN_FIREFOX = (*DEBIAN[:-1], "firefox-esr")
WITH_ROOT = f"sudo {shlex.join(DEBIAN)}"
PLAYWRIGHT = (sys.executable, "-m", "playwright", "install", "chromium")
DEPENDENCIES = (sys.executable, "-m", "playwright", "install-deps", "chromium")  # by the system, which asks for root


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
    if find_spec("playwright") is None:
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


@cache
def find_browser() -> str | None:
    """The program of the first browser that starts: on the path, in its usual place, or Playwright's own."""
    places = [shutil.which(name) for name in NAMES] + [place for place in ELSEWHERE if Path(place).exists()]
    installed = next((place for place in places if place and _starts(place)), None)
    if installed:
        return installed
    own = _of_playwright()
    return own if own and Path(own).exists() and _starts(own) else None


@cache
def find_firefox() -> str | None:
    """The program of the first Firefox that starts: on the path, or in its usual place."""
    places = [shutil.which(name) for name in FIREFOX_NAMES] + [
        place for place in FIREFOX_ELSEWHERE if Path(place).exists()
    ]
    return next((place for place in places if place and _starts(place)), None)


def has_debians_package() -> bool:
    """Whether this is Debian itself: the package of that name on Ubuntu only asks for snap."""
    release = Path("/etc/os-release")
    debian = release.exists() and "ID=debian" in release.read_text(encoding="utf-8").splitlines()
    return debian and shutil.which("apt-get") is not None


def _run(*command: str) -> None:
    print(f"  running: {shlex.join(command)}", flush=True)
    failed, said = run_telling(list(command))
    if failed:
        reasons = [line for line in said.splitlines() if line.lower().startswith(("error", "e:"))]
        sys.exit(f"that failed: {(reasons or said.splitlines() or ['no reason given'])[0]}")


def install() -> None:
    """Debian's package on Debian, elsewhere Playwright's download; ends with the line to run where root is needed."""
    if has_debians_package():
        if os.geteuid() != 0:
            sys.exit(f"Debian's chromium needs root: {WITH_ROOT}\nor, into your own cache: {shlex.join(PLAYWRIGHT)}")
        print("installing Debian's chromium for the browser tests, by apt (about 100 MB)", flush=True)
        os.environ["DEBIAN_FRONTEND"] = "noninteractive"
        _run("apt-get", "update", "-q")
        _run(*DEBIAN)
    else:
        print("installing Playwright's Chromium for the browser tests, into your cache (about 150 MB)", flush=True)
        _run(*PLAYWRIGHT)
    find_browser.cache_clear()
    if not find_browser():
        sys.exit(f"it is installed, but does not start. It may lack libraries: run {shlex.join(DEPENDENCIES)}")


def install_firefox() -> None:
    """Debian's package, where root may install it; without one, or where that fails, only a word: the tests go on."""
    if has_debians_package() and os.geteuid() == 0:
        print("installing Debian's firefox-esr for the pages that are opened in it, by apt (about 80 MB)", flush=True)
        os.environ["DEBIAN_FRONTEND"] = "noninteractive"
        for command in (("apt-get", "update", "-q"), DEBIAN_FIREFOX):
            print(f"  running: {shlex.join(command)}", flush=True)
            run_telling(list(command))
        find_firefox.cache_clear()


if __name__ == "__main__":
    if not find_browser():
        install()
    if not find_firefox():
        install_firefox()
    print(f"the browser tests use {find_browser()} and {find_firefox() or NO_FIREFOX}")
