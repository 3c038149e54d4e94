"""What the commands of the Makefile do on a machine without a browser, for root and for everybody else."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import browser
import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[1]
NEEDS_MAKE = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")


@NEEDS_MAKE
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no root")
@pytest.mark.parametrize(("user", "asked"), [("0", True), ("1000", False)])
def test_make_lab_starts_for_root_too(user, asked, tmp_path):
    (tmp_path / "id").write_text(f"#!/bin/sh\necho {user}\n")
    (tmp_path / "id").chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["make", "-n", "lab"], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    (line,) = re.findall(r"^.*/jupyter lab .*$", done.stdout, re.MULTILINE)
    assert "--ip 127.0.0.1" in line and ("--allow-root" in line) == asked


def program(file, *lines):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    file.chmod(0o755)


@pytest.fixture
def make(tmp_path):
    """`make(target, ...)` on an empty machine whose programs only note how they were called; gives those calls."""
    called, venv = tmp_path / "called", tmp_path / "venv"
    for name in ("apt-get", "sudo", "chromium"):
        program(tmp_path / "path" / name, f'echo "{name} $*" >> {called}', "exit 1")
    note = f'echo "$(basename "$0") $*" >> {called}'
    program(tmp_path / "tool", note)
    tools = " ".join(f"{venv}/bin/{name}" for name in ("ruff", "mypy", "cselab", "python"))
    make_tools = f"mkdir -p {venv}/bin; for tool in {tools}; do cp {tmp_path}/tool $tool; done"
    program(tmp_path / "python", note, make_tools)

    def run(*targets):
        called.write_text("")
        environment = os.environ | {"PATH": f"{tmp_path / 'path'}{os.pathsep}{os.environ['PATH']}"}
        command = ["make", f"PYTHON={tmp_path / 'python'}", f"VENV={venv}", *targets]
        subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
        return called.read_text().replace(str(venv), "VENV").splitlines()

    return run


def installed(calls):
    return [call.partition("install.py VENV ")[2] for call in calls if "install.py" in call]


@NEEDS_MAKE
@pytest.mark.parametrize(
    ("target", "extras"),
    [
        ("install", "notebooks"),
        ("demo", "notebooks"),
        ("lint", "notebooks lint"),
        ("book", "notebooks book"),
        ("test", "notebooks book cluster corpora lint lora test"),
        ("test-quick", "notebooks book cluster corpora lint lora test"),
    ],
)
def test_each_command_installs_what_it_needs_and_once(target, extras, make):
    assert installed(make(target)) == [extras]
    assert installed(make(target)) == []


@NEEDS_MAKE
def test_what_is_there_is_not_installed_again(make):
    assert installed(make("test")) == ["notebooks book cluster corpora lint lora test"]
    assert installed(make("demo", "lint", "book")) == []


@NEEDS_MAKE
def test_make_test_lints_and_tests_and_does_nothing_else(make):
    install, *rest = make("test")
    assert install.startswith("python scripts/install.py VENV ")
    *lint, tests = rest
    assert lint == ["ruff check .", "ruff format --check .", "mypy "]
    assert tests == "python -m pytest -n auto --dist loadfile --no-loadscope-reorder"


@NEEDS_MAKE
def test_ci_asks_for_a_browser_before_it_tests(make):
    (browser_step,) = [call for call in make("browser") if "install.py" not in call]
    assert browser_step == "python scripts/browser.py"
    commands = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert commands.index("export CI=true") < commands.index("make browser") < commands.index("exec make test")


@pytest.fixture
def machine(monkeypatch, capsys):
    """`machine(debian, root)`: no browser yet; gives a list that gets each command and what was said before it."""

    def build(debian, root, fails=False):
        ran = []

        def run(command):
            ran.append((command, capsys.readouterr().out))
            return (1, "Reading\nE: no space left\n") if fails else (0, "")

        def found():
            return "/usr/bin/chromium" if ran else None

        found.cache_clear = lambda: None
        monkeypatch.setattr(browser, "has_debians_package", lambda: debian)
        monkeypatch.setattr(browser, "find_browser", found)
        monkeypatch.setattr(browser, "run_telling", run)
        monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 1000, raising=False)
        monkeypatch.setenv("DEBIAN_FRONTEND", "")
        return ran

    return build


def test_without_root_the_line_to_run_is_printed_and_nothing_done(machine):
    ran = machine(debian=True, root=False)
    with pytest.raises(SystemExit, match="sudo apt-get install -y -q --no-install-recommends chromium"):
        browser.install()
    assert ran == []


@pytest.mark.parametrize(
    ("debian", "what", "commands"),
    [
        (True, "Debian's chromium for the browser tests, by apt", [("apt-get", "update", "-q"), browser.DEBIAN]),
        (False, "Playwright's Chromium for the browser tests, into your cache", [browser.PLAYWRIGHT]),
    ],
)
def test_it_says_what_it_installs_and_with_what_before_it_does_so(debian, what, commands, machine):
    ran = machine(debian, root=True)
    browser.install()
    assert [tuple(command) for command, _ in ran] == commands
    assert f"installing {what}" in ran[0][1]
    assert all(f"running: {command[0]}" in said for command, said in ran)


def test_an_installation_that_fails_gives_its_reason(machine):
    machine(debian=True, root=True, fails=True)
    with pytest.raises(SystemExit, match="that failed: E: no space left"):
        browser.install()


@pytest.mark.parametrize(("root", "fails", "asked"), [(True, False, 2), (True, True, 2), (False, False, 0)])
def test_a_firefox_is_offered_and_its_absence_stops_nothing(machine, root, fails, asked):
    ran = machine(debian=True, root=root, fails=fails)
    browser.install_firefox()
    assert len(ran) == asked and (not root or ran[-1][0] == list(browser.DEBIAN_FIREFOX))


@pytest.mark.skipif(any(Path(place).exists() for place in browser.ELSEWHERE), reason="a browser is in its usual place")
def test_where_no_browser_can_be_had_make_browser_fails(tmp_path):
    environment = os.environ | {
        "PATH": str(tmp_path),  # no Chromium, no apt-get
        "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path),
        "PLAYWRIGHT_DOWNLOAD_HOST": "http://127.0.0.1:9",  # where nobody answers
    }
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "browser.py"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stdout.startswith("installing Playwright's Chromium for the browser tests, into your cache")
    assert "that failed: " in done.stderr
