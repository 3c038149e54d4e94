import numpy as np
import pytest
import torch
from cselab_lab.headless.record import MIME_TYPE, record
from IPython.utils.capture import capture_output


@pytest.fixture
def shown(monkeypatch):
    """The bundles that were displayed."""
    bundles = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: bundles.append(data))
    return bundles


@pytest.mark.parametrize(
    "value, plain",
    [
        (3, 3),
        (0.25, 0.25),
        (True, True),
        ("mean", "mean"),
        (np.float32(0.5), 0.5),
        (np.int64(7), 7),
        (np.bool_(True), True),
        (torch.tensor(0.5), 0.5),
        (np.array([2.5]), 2.5),
    ],
)
def test_a_record_has_a_plain_value_and_a_line_to_read(shown, value, plain):
    record("rho", value, tolerance=0.5)
    kept = shown[0][MIME_TYPE]
    assert kept == {"name": "rho", "value": plain, "tolerance": 0.5}
    assert type(kept["value"]) is type(plain)
    assert shown[0]["text/plain"] == f"rho = {plain}"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), torch.tensor(float("nan"))])
def test_a_value_that_is_not_finite_is_no_result(shown, value):
    with pytest.raises(ValueError, match=r"record\('rho'\): the value is (nan|inf)"):
        record("rho", value)
    assert not shown


@pytest.mark.parametrize("value", [None, [1, 2], {"a": 1}, np.zeros(3), np.zeros(0), torch.zeros(2)])
def test_only_single_values_can_be_recorded(value):
    with pytest.raises(TypeError, match=r"record\('rho'\): the value must be one number, bool or str"):
        record("rho", value)


def test_a_record_needs_a_name_and_a_tolerance_of_at_least_0():
    with pytest.raises(ValueError, match="needs a name"):
        record(" ", 1)
    with pytest.raises(ValueError, match="tolerance must be 0 or more; got -1"):
        record("rho", 1, tolerance=-1)
    with pytest.raises(ValueError, match="tolerance must be 0 or more; got nan"):
        record("rho", 1, tolerance=float("nan"))


def test_outside_a_notebook_a_record_is_still_readable():
    with capture_output() as captured:
        record("rho", 0.123456789)
    assert "rho" in captured.stdout
