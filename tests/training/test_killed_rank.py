"""One of two processes is killed or stopped: the launch ends and says which; one process goes on with the run.

`test_processes.py` has two processes that go on.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
from tiny import make_encoder, make_sentences, short_run
from two_processes import TORCHRUN, launch

import cselab.training
from cselab.encoders.checkpoint import read_info

pytestmark = pytest.mark.slow

CORPUS = make_sentences(40)
CONFIG = {"steps": 8, "seed": 3, "eval_every": 8, "checkpoint_every": 2, "warmup": 0.2}


def run_training(output=None):
    """Without dropout, which several processes draw otherwise than one."""
    encoder = make_encoder(layers=1, dropout=0)
    with patch("cselab.training.loop.check_views_differ"):
        return short_run("simcse", encoder, CORPUS, output=output, **CONFIG)


def signal_at(step, number, first):
    """The process that calls this sends itself a signal when that step is to be taken; stopped, it outlives the first.

    `first` is the file with the number of the other process.
    """
    batch_of_step = cselab.training.loop.batch_of_step

    def taken(corpus, config, at):
        if at == step + 1:
            if number == signal.SIGSTOP:
                # The launcher would wait half a minute for it to end; its SIGTERM is to leave the shell alone.
                ends = f"while kill -0 {first.read_text()}; do sleep 0.1; done; kill -9 {os.getpid()}"
                subprocess.Popen(["sh", "-c", ends], start_new_session=True)
            os.kill(os.getpid(), number)
        return batch_of_step(corpus, config, at)

    cselab.training.loop.batch_of_step = taken


def test_a_killed_process_ends_the_launch_with_a_message(tmp_path):
    """A killed process ends the launch with a message and the run goes on."""
    folder = tmp_path / "run"
    killed = launch(__file__, folder, "SIGKILL", by=TORCHRUN)  # forked, often the other one is blamed
    assert killed.returncode != 0
    assert "Signal 9 (SIGKILL)" in killed.stderr and "rank      : 1" in killed.stderr
    assert not json.loads((folder / "run.json").read_text())["finished"]
    again = run_training(folder)
    assert again.resumed_from == 4
    for row, expected in zip(again.history, run_training().history, strict=True):
        assert row == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_a_stopped_process_ends_the_launch_with_a_message(tmp_path):
    """A stopped process ends the launch with a message that says which."""
    stopped = launch(__file__, tmp_path / "run", "SIGSTOP", CSELAB_TIMEOUT="6")
    assert stopped.returncode != 0
    assert "TimeoutError: process 1 of 2, counted from 0, did not answer for 6 s: it was stopped" in stopped.stderr
    assert read_info(tmp_path / "run" / "checkpoint.safetensors")["step"] == 4


if __name__ == "__main__":
    first = Path(f"{sys.argv[1]}.first")
    if os.environ["RANK"] == "0":
        first.write_text(str(os.getpid()))
    else:
        signal_at(5, signal.Signals[sys.argv[2]], first)
    run_training(Path(sys.argv[1]))
    cselab.training.loop.torch.distributed.destroy_process_group()
