"""Make the project's environment: `python scripts/install.py .venv [EXTRA ...]`. Standard library only.

An extra is one of pyproject.toml: `notebooks` where none is named, the others for what the Makefile names.

torch comes first: on a machine without an NVIDIA GPU its CPU build, which is a fifth of the size, where the
index of CPU builds can be reached; otherwise whatever the package index has for the pinned version. While pip works,
a line every few seconds says what it is doing.
"""

import os
import queue
import shutil
import subprocess
import sys
import sysconfig
import threading
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CPU_BUILDS = "https://download.pytorch.org/whl/cpu"
SECONDS = 5  # between two lines of news


def pinned(name: str) -> str:
    """The line of constraints.txt for a package."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith(f"{name}=="))


def run_telling(command: list[str], seconds: float = SECONDS) -> tuple[int, str]:
    """Run a command; every few seconds print how long it has run and the last thing it said.

    Returns its exit code and all that it said.
    """
    began = time.monotonic()
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment
    )
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        with process.stdout as output:
            for line in output:
                lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    said, next_news = [], began + seconds
    while True:
        try:
            line = lines.get(timeout=max(0.0, next_news - time.monotonic()))
            if line is None:
                return process.wait(), "".join(said)
            said.append(line)
        except queue.Empty:
            print(f"  {time.monotonic() - began:3.0f} s  {newest(said)[:100]}", flush=True)
            next_news = time.monotonic() + seconds


def newest(said: list[str]) -> str:
    """The last thing that pip said to people: no details, which it indents, no warnings, no list of all packages."""
    lines = (line for line in reversed(said) if not line[:1].isspace() and not line.startswith("WARNING"))
    line = next(lines, "starting").split(" (from ")[0].strip()
    packages = line.removeprefix("Installing collected packages: ")
    return line if packages == line else f"unpacking {packages.count(',') + 1} packages, still at work"


def main(folder: Path, extras: list[str]) -> None:
    if sys.version_info < (3, 11):
        sys.exit(f"cselab needs Python 3.11 or newer; this is {sys.version.split()[0]}. Try: make PYTHON=python3.11")
    scripts = folder / ("Scripts" if sys.platform == "win32" else "bin")
    if not (scripts / "python").exists() and not (scripts / "python.exe").exists():
        print(f"making the environment {folder}", flush=True)
        venv.create(folder, with_pip=True)
    python = str(scripts / "python")
    pip = [python, "-m", "pip", "install", "--progress-bar", "off", "--disable-pip-version-check", "--no-compile"]
    run_telling([*pip, pinned("pip")])  # resolves twice as fast as the one that comes with Python 3.11

    if shutil.which("nvidia-smi") is None:
        print("installing torch, its CPU build (about 200 MB)", flush=True)
        once = ["--retries", "0", "--timeout", "10", "--no-deps", "--index-url", CPU_BUILDS]
        failed, _ = run_telling([*pip, *once, pinned("torch")])
        if failed:
            print(f"{CPU_BUILDS} cannot be reached: taking torch from the package index", flush=True)
    print(f"installing cselab and what it needs for: {', '.join(extras)}", flush=True)
    project = f"{ROOT}[{','.join(extras)}]"
    failed, said = run_telling([*pip, "--constraint", str(ROOT / "constraints.txt"), "--editable", project])
    if failed:
        reasons = [line for line in said.splitlines() if line.startswith("ERROR")] or said.splitlines()[-5:]
        sys.exit("\n".join([*reasons, "The environment is not complete: run the same command again."]))
    print("compiling it, so that it starts quickly", flush=True)
    packages = sysconfig.get_path("purelib", "venv", {"base": str(folder)})
    no_tests = r"site-packages[/\\].*[/\\]tests[/\\]"
    run_telling([python, "-m", "compileall", "-j", "0", "-x", no_tests, packages])
    print(f"ready: {folder}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ".venv"), sys.argv[2:] or ["notebooks"])
