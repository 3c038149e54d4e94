"""Make the project's environment: `python scripts/install.py .venv [EXTRA ...]`. Standard library only.

An extra is one of pyproject.toml, by default `notebooks`. torch comes first: on a machine without an NVIDIA GPU its
CPU build, which is a fifth of the size, otherwise (or if the index of CPU builds cannot be reached) the pinned version
of the package index.
"""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CONSTRAINTS = ["--constraint", str(ROOT / os.environ.get("CONSTRAINTS", "constraints.txt"))]
CPU_TORCH = ["--no-deps", "--retries", "0", "--timeout", "10", "--index-url", "https://download.pytorch.org/whl/cpu"]


def main(folder: Path, extras: list[str]) -> None:
    if sys.version_info < (3, 11):
        sys.exit(f"cselab needs Python 3.11 or newer; this is {sys.version.split()[0]}. Try: make PYTHON=python3.11")
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not python.exists():
        print(f"making the environment {folder}", flush=True)
        venv.create(folder, with_pip=True)

    def pip(what: str, *arguments: str) -> bool:
        print(f"installing {what}", flush=True)
        command = [str(python), "-m", "pip", "install", "--disable-pip-version-check", *CONSTRAINTS, *arguments]
        return subprocess.run(command).returncode == 0

    pip("pip", "pip")  # the pinned version resolves twice as fast as the one of Python 3.11
    if shutil.which("nvidia-smi") is None and not pip("torch, its CPU build (about 200 MB)", *CPU_TORCH, "torch"):
        print("the index of CPU builds cannot be reached: torch will come from the package index", flush=True)
    if not pip(f"cselab for {', '.join(extras)}, some minutes", "--editable", f"{ROOT}[{','.join(extras)}]"):
        sys.exit("The environment is not complete: run the same command again.")
    print(f"ready: {folder}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ".venv"), sys.argv[2:] or ["notebooks"])
