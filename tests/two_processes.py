"""A command launched as two processes that work together, as `torchrun` does it."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent
PATH = (TESTS, TESTS.parent, TESTS.parent / "lab")  # this checkout, whichever is installed


def launch(*command, **environment) -> subprocess.CompletedProcess:
    """Run a script, or `-m module`, with its arguments on the CPU; the modules of this folder can be imported."""
    line = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", *map(str, command)]
    fixed = {"OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "1", "PYTHONPATH": os.pathsep.join(map(str, PATH))}
    return subprocess.run(
        line, env=os.environ | fixed | environment, cwd=TESTS.parent, capture_output=True, text=True, timeout=300
    )
