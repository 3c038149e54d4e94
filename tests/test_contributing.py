"""The examples of CONTRIBUTING.md run as they stand, and a registered method works everywhere at once."""

import re
from pathlib import Path

import pytest

from cselab.methods import METHODS

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"^## (A new \w+)\n.*?```python\n(.*?)```", TEXT, flags=re.MULTILINE | re.DOTALL))


@pytest.fixture
def registry_as_before():
    before = dict(METHODS)
    yield
    METHODS.clear()
    METHODS.update(before)


def test_there_is_an_example_for_each_touch_list():
    assert list(EXAMPLES) == ["A new loss", "A new method", "A new panel", "A new notebook"]


@pytest.mark.parametrize("title", EXAMPLES)
def test_the_example_runs(title, registry_as_before):
    exec(compile(EXAMPLES[title], f"CONTRIBUTING.md, {title}", "exec"), {"__name__": "example"})


def test_the_methods_example_is_found_by_name_once_registered(registry_as_before):
    exec(EXAMPLES["A new method"], {"__name__": "example"})
    assert METHODS["symmetric"].parameters() == {"temperature": 0.05, "head": "mlp"}


def test_the_files_that_the_touch_lists_name_are_there():
    root = Path(__file__).parents[1]
    named = re.findall(r"`((?:cselab|widgets|tests|notebooks)/[\w/.]+\.(?:py|ipynb))`", TEXT)
    assert named
    assert [path for path in named if not (root / path).exists()] == []
