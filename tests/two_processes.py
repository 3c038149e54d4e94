"""A script run as two processes that work together, as `torchrun` does it; what it imports is imported once."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent
PATH = (TESTS, TESTS.parent, TESTS.parent / "lab")  # this checkout, whichever is installed


def launch(*command, **environment) -> subprocess.CompletedProcess:
    """Run a script with its arguments on the CPU; the modules of this folder can be imported."""
    fixed = {"OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "1", "PYTHONPATH": os.pathsep.join(map(str, PATH))}
    return subprocess.run(
        [sys.executable, __file__, *map(str, command)],
        env=os.environ | fixed | environment, cwd=TESTS.parent, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def run(script):
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    from torch.distributed.launcher import LaunchConfig, elastic_launch

    del sys.argv[0]
    runpy.run_path(sys.argv[0])  # imports; the processes are forks
    two = LaunchConfig(1, 1, 2, rdzv_backend="c10d", rdzv_endpoint="localhost:0", start_method="fork", max_restarts=0)
    elastic_launch(two, run)(sys.argv[0])
