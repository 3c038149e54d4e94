"""What the commands of the Makefile do on a machine without a browser, and for root."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import browser
import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no root")
@pytest.mark.parametrize(("user", "asked"), [("0", True), ("1000", False)])
def test_make_lab_starts_for_root_too(user, asked, tmp_path):
    (tmp_path / "id").write_text(f"#!/bin/sh\necho {user}\n")
    (tmp_path / "id").chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["make", "-n", "lab"], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    (line,) = re.findall(r"^.*/jupyter lab .*$", done.stdout, re.MULTILINE)
    assert "--ip 127.0.0.1" in line and ("--allow-root" in line) == asked


@pytest.mark.skipif(any(Path(place).exists() for place in browser.ELSEWHERE), reason="a browser is in its usual place")
@pytest.mark.parametrize(("ci", "code"), [("", 0), ("true", 1)])
def test_where_no_browser_can_be_found_or_installed_make_test_goes_on_and_ci_stops(ci, code, tmp_path):
    environment = os.environ | {
        "PATH": str(tmp_path),  # no Chromium, no apt-get
        "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path),
        "PLAYWRIGHT_DOWNLOAD_HOST": "http://127.0.0.1:9",  # where nobody answers
        "CI": ci,
    }
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "browser.py"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == code
    said = done.stdout.splitlines()
    assert said[0] == "installing Playwright's Chromium (about 150 MB) for the browser tests"
    assert any(line.startswith("  that failed: ") for line in said)
    assert said[-1] == browser.MISSING
