"""`cselab train` as a process of its own, killed or interrupted while a data folder was set: what the next one does."""

import os
import signal
import subprocess
import sys
import time

import pytest
from tiny import make_sentences, write_checkpoint

from cselab.data import STS_PAIRS

pytestmark = pytest.mark.process

EVERY, STEPS = 20, 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An encoder, a corpus, and STS-B in `data`."""
    folder = tmp_path_factory.mktemp("stopped")
    write_checkpoint(folder / "encoder", layers=1)
    sentences = make_sentences(200)
    (folder / "corpus.txt").write_text("\n".join(sentences[:64]) + "\n")
    benchmark = folder / "data" / "STS" / "STSBenchmark"
    benchmark.mkdir(parents=True)
    for split, rows in STS_PAIRS["STS-B"].items():
        lines = [
            ["main", "file", "2012", str(row), f"{row % 51 / 10}", sentences[row % 200], sentences[row % 199]]
            for row in range(rows)
        ]
        (benchmark / f"sts-{split}.csv").write_text("".join("\t".join(line) + "\n" for line in lines))
    return folder


def train(folder, output, data):
    options = {"--encoder": "encoder", "--corpus": "corpus.txt", "--output": output, "--batch-size": 8}
    options |= {"--steps": STEPS, "--eval-every": EVERY, "--precision": "fp32"}
    line = [str(word) for option in options.items() for word in option]
    return subprocess.Popen(
        [sys.executable, "-m", "cselab_lab.cli", "train", "simcse", *line],
        cwd=folder, env=os.environ | {"CSELAB_DATA": data, "CSELAB_HEADLESS": "1"}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background jobs ignore it
    )  # fmt: skip


def stopped_by(how, folder, output):
    """Start a run with STS-B as its dev set and stop it after its first checkpoint; what it said at its end."""
    process = train(folder, output, "data")
    deadline = time.monotonic() + 240
    while not (folder / output / "checkpoint.safetensors").exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(how)
    _, said = process.communicate(timeout=240)
    return process.returncode, said


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_run_stopped_with_a_data_folder_does_not_go_on_without_it(how, folder):
    output = f"run-{how}"
    code, said = stopped_by(how, folder, output)
    if how == signal.SIGINT:
        assert code == 130 and f"interrupted: {output} holds the run up to step" in said
        assert "the same command continues from there" in said and "Traceback" not in said
    elsewhere = train(folder, output, "")
    _, refused = elsewhere.communicate(timeout=240)
    assert elsewhere.returncode == 1
    (line,) = refused.splitlines()
    assert f"{output} holds a run with another dev (pairs was 'STS-B', now 'world-sts')" in line
    assert "choose another output, or repeat the settings to continue it" in line
    again = train(folder, output, "data")
    said, _ = again.communicate(timeout=240)
    assert again.returncode == 0 and "goes on from step" in said
    assert (folder / output / "model.safetensors").exists()
