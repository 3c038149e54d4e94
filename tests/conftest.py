"""Shared by every test: the shapes in the annotations are checked at each call; browser tests need a browser."""

import pytest
from browser import MISSING, find_browser, in_ci
from jaxtyping import install_import_hook

install_import_hook(["cselab.losses", "cselab.sgw", "cselab.pooling", "cselab.measures"], "typechecker.check")


def pytest_collection_modifyitems(items):
    """Without a browser the tests marked `browser` are skipped, with how to get one; in CI they fail."""
    marked = [item for item in items if item.get_closest_marker("browser")]
    if marked and not find_browser() and not in_ci():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=MISSING))


def pytest_runtest_setup(item):
    if item.get_closest_marker("browser") and not find_browser():
        pytest.fail(MISSING, pytrace=False)
