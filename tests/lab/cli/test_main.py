"""The command line as a process of its own."""

import os
import subprocess
import sys

import pytest

SAY = "import os\nprint(os.environ.get('OMP_WAIT_POLICY'), os.environ.get('GOMP_SPINCOUNT'))\n"


@pytest.mark.process
@pytest.mark.parametrize(
    ("given", "said"),
    [({}, "None 10000"), ({"GOMP_SPINCOUNT": "7"}, "None 7"), ({"OMP_WAIT_POLICY": "active"}, "active None")],
)
def test_threads_that_wait_soon_sleep_unless_the_user_chose_otherwise(given, said, tmp_path):
    (tmp_path / "say.py").write_text(SAY)
    rest = {name: value for name, value in os.environ.items() if name not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
    command = [sys.executable, "-m", "cselab_lab.cli", "--code", str(tmp_path / "say.py"), "methods"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=rest | given)
    assert done.stdout.splitlines()[0] == said
