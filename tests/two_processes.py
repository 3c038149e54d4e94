"""A command launched as two processes that work together, as `torchrun` does it."""

import gc
import os
import runpy
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent
PATH = (TESTS, TESTS.parent, TESTS.parent / "lab")  # this checkout, whichever is installed
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2")


def launch(*command, by=(__file__,), **environment) -> subprocess.CompletedProcess:
    """Run a script with its arguments on the CPU; the modules of this folder can be imported.

    The two are forks of one process, so that what the script imports is imported once, or started `by=TORCHRUN`.
    """
    fixed = {"OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "1", "PYTHONPATH": os.pathsep.join(map(str, PATH))}
    return subprocess.run(
        [sys.executable, *by, *map(str, command)],
        env=os.environ | fixed | environment, cwd=TESTS.parent, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def run(script):
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    from torch.distributed.launcher import LaunchConfig, elastic_launch

    del sys.argv[0]
    gc.disable()
    runpy.run_path(sys.argv[0])  # imports, which make no garbage
    gc.freeze()
    gc.enable()
    two = LaunchConfig(1, 1, 2, rdzv_backend="c10d", rdzv_endpoint="localhost:0", start_method="fork", max_restarts=0)
    elastic_launch(two, run)(sys.argv[0])
