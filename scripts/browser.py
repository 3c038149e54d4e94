"""The browsers of the tests: find the ones of this machine; `make browser` (`python scripts/browser.py`) installs them.

Tests that need Chromium are skipped without one, and fail where the environment variable CI is true. Firefox is
optional. On Debian `apt-get` installs both, which needs root; elsewhere Playwright downloads its own Chromium.
"""

import os
import shlex
import shutil
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

CHROMIUM = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
    "microsoft-edge", "microsoft-edge-stable", "msedge",
)  # fmt: skip
MISSING = "no Chromium, Chrome or Edge here: get one with 'make browser' (without make: python scripts/browser.py)"
DEBIAN = ["apt-get", "install", "-y", "-q", "--no-install-recommends", "chromium", "firefox-esr"]
PLAYWRIGHT = [sys.executable, "-m", "playwright", "install", "chromium"]


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() in ("true", "1")


def starts(program: str | None) -> bool:
    """Whether the program runs here: Ubuntu's chromium-browser may be a stub that asks for snap."""
    if program is None or sys.platform == "win32":  # where --version opens a window
        return program is not None
    try:
        return subprocess.run([program, "--version"], capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


@cache
def find_browser() -> str | None:
    """The first Chromium, Chrome or Edge of the path that starts; otherwise the one that Playwright downloaded."""
    for program in map(shutil.which, CHROMIUM):
        if starts(program):
            return program
    if find_spec("playwright") is None:
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if starts(own) else None


def find_firefox() -> str | None:
    return next(filter(starts, map(shutil.which, ("firefox-esr", "firefox"))), None)


def install() -> None:
    release = Path("/etc/os-release")
    if release.exists() and "ID=debian" in release.read_text(encoding="utf-8").splitlines():
        if os.geteuid() != 0:
            sys.exit(f"this needs root: sudo {shlex.join(DEBIAN)}\nor, without root: {shlex.join(PLAYWRIGHT)}")
        commands = [["apt-get", "update", "-q"], DEBIAN]
    else:
        commands = [PLAYWRIGHT]
    for command in commands:
        print(f"running: {shlex.join(command)}", flush=True)
        subprocess.run(command, check=True)
    find_browser.cache_clear()


if __name__ == "__main__":
    if not find_browser():
        install()
    if not find_browser():
        sys.exit(f"no browser starts: libraries may be missing; run {shlex.join([*PLAYWRIGHT[:3], 'install-deps'])}")
    print(f"the browser tests use {find_browser()} and {find_firefox() or 'no Firefox: its test is skipped'}")
