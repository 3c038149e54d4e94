"""Numbers of training steps that are read late: in order, each with its own step."""

import math

import pytest
import torch

import cselab.training.readings
from cselab.training.readings import STEPS_A_READING, Readings

CPU = torch.device("cpu")


def test_rows_come_in_order_with_their_own_numbers():
    readings = Readings(CPU)
    assert not readings.due and readings.read() == ([], "")
    terms = {"near": torch.tensor(1.5, requires_grad=True), "far": torch.tensor(2, dtype=torch.bfloat16)}
    readings.add(1, terms, torch.tensor(4.0), {"gradient_norm/near": 3.0})
    assert readings.due
    readings.add(2, {"near": torch.tensor(0.5)}, torch.tensor(0.25), {})
    rows, trouble = readings.read()
    assert trouble == "" and rows == [
        {"step": 1, "loss": 3.5, "near": 1.5, "far": 2.0, "gradient_norm/near": 3.0, "gradient_norm": 4.0},
        {"step": 2, "loss": 0.5, "near": 0.5, "gradient_norm": 0.25},
    ]
    assert readings.read() == ([], "")


@pytest.mark.parametrize(
    ("far", "norm", "words"),
    [
        (math.inf, math.nan, "diverged at step 2: the term 'far' of the loss is inf"),
        (1.0, math.nan, "diverged at step 2: the gradient is nan (the loss is 1.5)"),
    ],
)
def test_of_a_divergence_only_the_rows_before_it_are_read(far, norm, words):
    readings = Readings(CPU)
    for step, (value, length) in enumerate([(2.0, 1.0), (far, norm), (math.nan, math.nan)], start=1):
        terms = {"near": torch.tensor(0.5), "far": torch.tensor(value)}
        readings.add(step, terms, torch.tensor(length), {})
    rows, trouble = readings.read()
    assert [row["step"] for row in rows] == [1] and trouble == f"training {words}"


def test_on_a_device_with_a_queue_some_steps_are_read_together(monkeypatch):
    monkeypatch.setattr(cselab.training.readings, "runs_behind", lambda device: True)
    readings = Readings(CPU)
    for step in range(STEPS_A_READING):
        assert not readings.due
        readings.add(step, {"loss": torch.tensor(0.0)}, torch.tensor(1.0), {})
    assert readings.due
