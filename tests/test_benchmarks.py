"""The benchmarks do what they time: both sides give the same result."""

import importlib.util
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "scripts" / "benchmarks"


def benchmark(name):
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", BENCHMARKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["encode", "encode-cls", "score", "train", "train-mean", "train-plain", "train-trainer"]
)
def test_what_is_timed_beside_another_library_gives_its_result(monkeypatch, name):
    speed = benchmark("speed")
    monkeypatch.setattr(speed, "STEPS", 1)
    monkeypatch.setattr(speed, "CONFIG", replace(speed.CONFIG, steps=1, batch_size=8, eval_every=1))
    speed.CASES[name](*speed.opened("micro", name)).check()


def test_losses_of_two_devices_are_compared_without_dropout(monkeypatch):
    gpu = benchmark("gpu")
    assert gpu.largest_difference(Namespace(device="cpu"), "simcse") == 0.0
