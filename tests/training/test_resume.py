"""A process killed in the middle of its run, and another that goes on: the end is that of an uninterrupted run."""

import json
import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from tiny import make_encoder, make_sentences

from cselab.encoders.encoder import SentenceEncoder
from cselab.training import TrainConfig, train

pytestmark = pytest.mark.process

CORPUS = make_sentences(40)
CONFIG = TrainConfig(steps=24, batch_size=8, lr=1e-2, seed=3, eval_every=4, checkpoint_every=2, precision="fp32")
HELD_AT = 20  # a killed process gets no further than this step


def spread(encoder):
    """Minus the mean cosine: which weights are the best depends on every step before."""
    vectors = encoder.encode(CORPUS[:8], normalize_embeddings=True)
    return {"score": -float((vectors @ vectors.T).mean())}


def wait_to_be_killed(run, row):
    if row["step"] == HELD_AT:
        time.sleep(600)


def run_training(method, output=None, callbacks=()):
    encoder = make_encoder(layers=1)
    method, _, rank = method.partition(", adapters of rank ")
    if rank:
        encoder.add_adapter(int(rank))
    return train(encoder, method, CORPUS, CONFIG, spread, callbacks, output, show_progress_bar=False)


def start_process(method, output):
    here = Path(__file__).parent
    command = (
        # sums depend on how many threads share them
        f"import torch; torch.set_num_threads({torch.get_num_threads()}); import test_resume as t; "
        f"t.run_training({method!r}, {str(output)!r}, [t.wait_to_be_killed])"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (here, here.parent)))}
    return subprocess.Popen([sys.executable, "-c", command], env=environment, cwd=here.parents[1])


def wait_for(file, process, seconds=240):
    deadline = time.monotonic() + seconds
    while not file.exists():
        assert process.poll() is None, f"the process ended by itself with {process.returncode}"
        assert time.monotonic() < deadline, f"{file} did not appear within {seconds} s"
        time.sleep(0.005)


METHODS = ["whitenedcse"]
if find_spec("peft") is not None:
    METHODS.append("simcse, adapters of rank 2")


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """Folders of runs whose processes were killed soon after their first checkpoint."""
    folders = {method: tmp_path_factory.mktemp("killed") / method for method in METHODS}
    processes = {method: start_process(method, folder) for method, folder in folders.items()}
    try:
        for method, process in processes.items():
            wait_for(folders[method] / "checkpoint.safetensors", process)
            process.kill()
    finally:
        for process in processes.values():
            process.kill()
            process.wait()
    return folders


@pytest.mark.parametrize("method", METHODS)
def test_a_killed_run_ends_with_the_weights_and_history_of_an_uninterrupted_one(method, killed):
    folder = killed[method]
    assert not json.loads((folder / "run.json").read_text())["finished"]
    run, whole = run_training(method, folder), run_training(method)
    assert 2 <= run.resumed_from < HELD_AT + 1
    assert run.history == whole.history and run.best == whole.best
    expected = whole.encoder.state_dict()
    assert expected.keys() == run.encoder.state_dict().keys()
    for name, value in run.encoder.state_dict().items():  # the head's generator of permutations among them
        assert torch.equal(value, expected[name]), name
    saved = SentenceEncoder.from_pretrained(folder).encode(CORPUS)
    torch.testing.assert_close(saved, whole.encoder.encode(CORPUS), rtol=0, atol=1e-5 if "adapters" in method else 0)
    lines = (folder / "history.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == whole.history
