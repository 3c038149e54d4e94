"""What the command line does before it imports anything."""

import os
import sys

import pytest
from cselab_lab.cli import main


@pytest.mark.parametrize(
    ("given", "left"),
    [({}, (None, "10000")), ({"GOMP_SPINCOUNT": "7"}, (None, "7")), ({"OMP_WAIT_POLICY": "active"}, ("active", None))],
)
def test_threads_that_wait_soon_sleep_unless_the_user_chose_otherwise(given, left, monkeypatch):
    for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT"):
        monkeypatch.setenv(name, given.get(name, ""))
        if name not in given:
            monkeypatch.delenv(name)
    monkeypatch.setattr(sys, "argv", ["cselab", "-h"])
    main()
    assert (os.environ.get("OMP_WAIT_POLICY"), os.environ.get("GOMP_SPINCOUNT")) == left
