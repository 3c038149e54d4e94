"""A folder with every wheel that a laptop needs, for a room without a network.

`python scripts/wheelhouse.py wheelhouse` makes the folder, for this machine's system and Python. For a different one
add pip's own options: `python scripts/wheelhouse.py windows --platform win_amd64 --python-version 3.12`. Copy the
folder to a USB stick; README.txt inside says how to install from it.
"""

import subprocess
import sys
from pathlib import Path

from install import CONSTRAINTS, CPU_TORCH, ROOT

READ_ME = """\
Every wheel of cselab-workbench[notebooks]. Without a network:

    python -m venv lab-env
    lab-env/bin/pip install --no-index --find-links {0} "cselab-workbench[notebooks]"  (Windows: lab-env\\Scripts\\pip)
    lab-env/bin/cselab notebooks copy work
    lab-env/bin/jupyter lab work/00_tour.ipynb
"""


def pip(*arguments: str) -> bool:
    return subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]).returncode == 0


def main(folder: Path, *target: str) -> None:
    for old in folder.glob("cselab_workbench-*.whl"):
        old.unlink()
    download = ["download", "--only-binary=:all:", "--dest", str(folder), *CONSTRAINTS, *target]
    made = pip("wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    if not pip(*download, *CPU_TORCH, "torch"):
        print("the index of CPU builds cannot be reached: torch will come from the package index", flush=True)
    wheels = [f"{wheel}[notebooks]" for wheel in folder.glob("cselab_workbench-*.whl")]
    if not (made and pip(*download, "--find-links", str(folder), *wheels)):
        sys.exit("The wheelhouse is not complete: run the same command again.")
    (folder / "README.txt").write_text(READ_ME.format(folder.name), encoding="utf-8")
    print(f"ready: {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
