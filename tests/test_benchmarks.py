"""The benchmarks do what they time: both sides give the same result."""

import importlib.util
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import pytest
from sentence_transformers import SentenceTransformer

from cselab import SentenceEncoder

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


def benchmark(name):
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", BENCHMARKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_what_is_timed_beside_another_library_gives_its_result(monkeypatch, tmp_path):
    speed = benchmark("speed")
    monkeypatch.setattr(speed, "STEPS", 1)
    monkeypatch.setattr(speed, "CONFIG", replace(speed.CONFIG, steps=1, batch_size=8, eval_every=1))
    encoder = SentenceEncoder.from_pretrained("micro", pooling="mean", device="cpu")
    encoder.save_pretrained(tmp_path)
    other = SentenceTransformer(str(tmp_path), device="cpu")
    for name in ("encode", "score", "train", "train-plain", "train-trainer"):
        speed.CASES[name](encoder, other).check()


@pytest.mark.slow
def test_losses_of_two_devices_are_compared_without_dropout(monkeypatch):
    gpu = benchmark("gpu")
    assert gpu.largest_difference(Namespace(device="cpu"), "simcse") == 0.0
