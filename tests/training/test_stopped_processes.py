"""`cselab train` as a process of its own, interrupted while a data folder was set; what the next one does."""

import os
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner
from cselab_lab.cli import app
from stsb import write_stsb
from tiny import make_sentences, write_checkpoint

EVERY, STEPS = 20, 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An encoder, a corpus, and STS-B in `data`."""
    folder = tmp_path_factory.mktemp("stopped")
    write_checkpoint(folder / "encoder", layers=1)
    sentences = make_sentences(200)
    (folder / "corpus.txt").write_text("\n".join(sentences[:64]) + "\n")
    write_stsb(folder / "data", lambda _, row: (f"{row % 51 / 10}", sentences[row % 200], sentences[row % 199]))
    return folder


def line(output):
    options = {"--encoder": "encoder", "--corpus": "corpus.txt", "--output": output, "--batch-size": 8}
    options |= {"--steps": STEPS, "--eval-every": EVERY, "--precision": "fp32"}
    return ["train", "simcse", *(str(word) for option in options.items() for word in option)]


def interrupted(folder, output):
    """Start a run with STS-B as its dev set and interrupt it after its first checkpoint; what it said at its end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "cselab_lab.cli", *line(output)],
        cwd=folder, env=os.environ | {"CSELAB_DATA": "data", "CSELAB_HEADLESS": "1"}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background jobs ignore it
    )  # fmt: skip
    deadline = time.monotonic() + 240
    while not (folder / output / "checkpoint.safetensors").exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=240)
    return process.returncode, said


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
def test_a_run_does_not_go_on_without_its_data_folder(folder, monkeypatch):
    """A run stopped with a data folder does not go on without it."""
    output = "run"
    code, said = interrupted(folder, output)
    assert code == 130 and f"interrupted: {output} holds the run up to step" in said
    assert "run the same command to continue" in said and "Traceback" not in said

    def again(data):
        done = CliRunner(env={"CSELAB_DATA": data, "CSELAB_HEADLESS": "1"}).invoke(app, line(output))
        return done.exit_code, done.stdout, done.stderr

    monkeypatch.chdir(folder)
    code, _, refused = again("")
    (refused,) = refused.splitlines()
    assert code == 1 and f"{output} holds a run with a different dev (pairs was 'STS-B', now 'world-sts')" in refused
    assert "choose a different output, or repeat the settings to continue" in refused
    code, said, _ = again("data")
    assert code == 0 and "continues from step" in said
    assert (folder / output / "model.safetensors").exists()
