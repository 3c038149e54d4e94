"""What this machine has, and what would run on it."""

import os
import platform
from dataclasses import dataclass
from importlib.util import find_spec

from cselab_lab.cli.registered import names, purposes


@dataclass(frozen=True)
class Finding:
    """One line of the report; `good` is False where something would be missed."""

    what: str
    found: str
    good: bool = True


def examine() -> list[Finding]:
    """Look at Python, torch, the devices, the bundled encoders, the data and the notebook tools."""
    import torch

    from cselab.encoders.speed import faster_in_bf16

    cuda = torch.cuda.is_available()
    missing = [name for name in ("jupyterlab", "papermill", "nbconvert", "plotly", "anywidget") if not find_spec(name)]
    return [
        Finding("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        Finding("torch", f"{torch.__version__}, {torch.get_num_threads()} of {os.cpu_count()} cores in use"),
        Finding("device", torch.cuda.get_device_name() if cuda else "CPU only (no CUDA device)"),
        Finding("precision", "bf16 autocast" if faster_in_bf16() else "fp32 (bf16 is not faster here)"),
        _encoders(),
        _data(),
        Finding(
            "notebooks",
            f"missing: {', '.join(missing)} (pip install 'cselab[notebooks]')" if missing else "can be run",
            not missing,
        ),
        Finding("sizes of notebooks", ", ".join(names("lessons")) + ("" if cuda else " (paper wants a CUDA device)")),
        *(Finding(f"profile {name}", purpose) for name, purpose in purposes().items()),
    ]


def _encoders() -> Finding:
    from cselab.encoders.checkpoint import CheckpointError
    from cselab.encoders.open import BUNDLED, bundled_folder

    try:
        for name in BUNDLED:
            bundled_folder(name)
    except CheckpointError as damage:
        return Finding("bundled encoders", str(damage), False)
    return Finding("bundled encoders", ", ".join(BUNDLED) or "none", bool(BUNDLED))


def _data() -> Finding:
    from cselab.data import MissingFile, data_root

    try:
        root = data_root()
    except MissingFile as wrong:
        return Finding("data", str(wrong), False)
    return Finding("data", str(root or "none (set CSELAB_DATA to a SentEval folder)"), root is not None)
