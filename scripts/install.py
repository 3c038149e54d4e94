"""Make the project's environment: `python scripts/install.py .venv`. Standard library only.

torch comes first: on a machine without an NVIDIA GPU its CPU build, which is a fifth of the size, where the
index of CPU builds can be reached; otherwise whatever the package index has for the pinned version.
"""

import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CPU_BUILDS = "https://download.pytorch.org/whl/cpu"


def pinned(name: str) -> str:
    """The line of constraints.txt for a package."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith(f"{name}=="))


def main(folder: Path) -> None:
    if sys.version_info < (3, 11):
        sys.exit(
            f"cselab needs Python 3.11 or newer; this is {sys.version.split()[0]}. Try: make PYTHON=python3.11"
        )
    scripts = folder / ("Scripts" if sys.platform == "win32" else "bin")
    if not (scripts / "python").exists() and not (scripts / "python.exe").exists():
        print(f"making {folder}", flush=True)
        venv.create(folder, with_pip=True)
    pip = [str(scripts / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]

    if shutil.which("nvidia-smi") is None:
        quick = [
            *pip,
            "--retries",
            "0",
            "--timeout",
            "10",
            "--no-deps",
            "--index-url",
            CPU_BUILDS,
            pinned("torch"),
        ]
        subprocess.run(quick, check=False, capture_output=True)
    print("installing (a few minutes the first time)", flush=True)
    project = f"{ROOT}[notebooks,test]"
    subprocess.run([*pip, "--constraint", str(ROOT / "constraints.txt"), "--editable", project], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ".venv"))
