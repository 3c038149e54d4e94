"""A folder with every wheel that a laptop needs, for a room without a network.

`python scripts/wheelhouse.py wheelhouse` makes it. Copy it to a USB stick; on each laptop, with the Python that it
was made for:

    python -m venv cselab-lab
    cselab-lab/bin/pip install --no-index --find-links wheelhouse "cselab[notebooks]"

By default the wheels are for this machine's kind of system and Python. For another one say which, as pip does:
`python scripts/wheelhouse.py windows --platform win_amd64 --python-version 3.12`.
"""

import argparse
import sys
from pathlib import Path

from install import CPU_BUILDS, ROOT, pinned, run_telling

READ_ME = """\
Every wheel of cselab{extras}, for {machine}. Without a network:

    python -m venv cselab-lab
    cselab-lab/bin/pip install --no-index --find-links {folder} "cselab{extras}"   (Windows: cselab-lab\\Scripts\\pip)
    cselab-lab/bin/cselab notebooks copy work
    cselab-lab/bin/jupyter lab work/00_tour.ipynb
"""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--extras", default="notebooks", help="of cselab, with commas between them")
    parser.add_argument("--platform", help="as pip names it: win_amd64, macosx_14_0_arm64, manylinux_2_28_x86_64")
    parser.add_argument("--python-version", help="such as 3.12")
    return parser.parse_args()


def step(what: str, command: list[str], may_fail: bool = False) -> bool:
    """Run a command of pip, telling what it does; an error that may not happen ends everything in its own words."""
    print(what, flush=True)
    failed, said = run_telling([sys.executable, "-m", "pip", "--disable-pip-version-check", *command])
    if failed and not may_fail:
        reasons = [line for line in said.splitlines() if line.startswith("ERROR")] or said.splitlines()[-5:]
        sys.exit("\n".join([*reasons, "The wheelhouse is not complete: run the same command again."]))
    return not failed


def main(folder: Path, extras: str, platform: str | None, python_version: str | None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("cselab-*.whl"):
        old.unlink()
    step("building cselab", ["wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT)])
    (wheel,) = folder.glob("cselab-*.whl")
    target = ["--platform", platform] if platform else []
    target += ["--python-version", python_version] if python_version else []
    into = ["download", "--progress-bar", "off", "--only-binary=:all:", "--dest", str(folder), *target]
    cpu = ["--no-deps", "--retries", "0", "--timeout", "10", "--index-url", CPU_BUILDS, pinned("torch")]
    if not step("fetching torch, its CPU build (about 200 MB)", [*into, *cpu], may_fail=True):
        print(f"{CPU_BUILDS} cannot be reached: taking torch from the package index", flush=True)
    pins = ["--constraint", str(ROOT / "constraints.txt"), "--find-links", str(folder)]
    step("fetching everything else", [*into, *pins, f"{wheel}[{extras}]"])

    machine = f"{platform or sys.platform}, Python {python_version or sys.version.split()[0]}"
    text = READ_ME.format(extras=f"[{extras}]", machine=machine, folder=folder.name)
    (folder / "README.txt").write_text(text, encoding="utf-8")
    wheels = [file.stat().st_size for file in folder.glob("*.whl")]
    print(f"ready: {folder}, {len(wheels)} wheels, {sum(wheels) / 1e6:.0f} MB")


if __name__ == "__main__":
    main(**vars(arguments()))
