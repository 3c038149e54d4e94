"""Shared by every test: shapes in annotations are checked at each call (not in `make test`); browsers are found."""

import gc
import importlib
import os
import sys
from pathlib import Path

import pytest
from browser import MISSING, find_browser, in_ci
from hypothesis import settings
from jaxtyping import install_import_hook

gc.disable()  # until all tests are collected: it would walk again and again through what stays
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # the cores are busy with tests

settings.register_profile("the same everywhere", derandomize=True, deadline=None, database=None, max_examples=25)
settings.load_profile("the same everywhere")

sys.modules.setdefault("rfc3987_syntax", None)  # a grammar that jsonschema compiles for two seconds, and nobody uses

from jupyterlab_page import browser, lab, open_notebook, page, server  # noqa: E402, F401  (fixtures for all folders)

CHECKED = [  # not `encoder` and `evaluators.evaluation`, which say themselves, in words, what users may give
    "cselab.losses",
    "cselab.sgw",
    "cselab.encoders.pooling",
    "cselab.encoders.heads",
    "cselab.transforms",
    "cselab.encoders.training_forward",
    "cselab.encoders.adapters",
    "cselab.methods",
    "cselab.augmentations",
    "cselab.metrics",
    *(
        f"cselab.evaluators.{module}"
        for module in "baselines clustering comparison dev geometry records sts task transfer vectors world".split()
    ),
]
if os.environ.get("CHECK_SHAPES") != "0":
    install_import_hook(CHECKED, "typechecker.check")

# Real data sets are for tests that look for them: those of CSELAB_DATA, or beside the checkout; never a user's own.
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
os.environ.setdefault("CSELAB_DATA", str(BESIDE) if BESIDE.is_dir() else "")


@pytest.fixture
def real_data():
    """The root of the real data sets, where they are on this machine: the folder that holds `senteval`."""
    from cselab.data import data_root

    root = data_root()
    if root is None:
        pytest.skip("the real data sets are not on this machine (CSELAB_DATA)")
    return root.parent if root.name == "senteval" else root


@pytest.fixture
def registered():
    """Registers methods, which are forgotten after the test."""
    from cselab.methods import METHODS, register

    before = dict(METHODS)
    yield register
    METHODS.clear()
    METHODS.update(before)


SLOWEST_FIRST = ("lesson", "browser", "slow")


def pytest_collection_modifyitems(items):
    """Slow files first, so that processes that share the files out end together.

    Without a browser the tests marked `browser` are skipped, with how to get one; in CI they fail.
    """
    marks = {item.path: set() for item in items}
    for item in items:
        marks[item.path] |= {mark.name for mark in item.iter_markers()}
    items.sort(key=lambda item: [mark not in marks[item.path] for mark in SLOWEST_FIRST])
    marked = [item for item in items if item.get_closest_marker("browser")]
    if marked and not find_browser() and not in_ci():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=MISSING))


def pytest_collection_finish():
    gc.freeze()
    gc.set_threshold(100_000)  # objects; 700 otherwise
    gc.enable()


def pytest_runtest_setup(item):
    if item.get_closest_marker("browser") and not find_browser():
        pytest.fail(MISSING, pytrace=False)
    if item.get_closest_marker("gpu") and not importlib.import_module("torch").cuda.is_available():
        pytest.skip("there is no CUDA device")
