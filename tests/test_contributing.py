"""The examples of CONTRIBUTING.md run as they stand, and a registered method works everywhere at once."""

import re
from pathlib import Path

import pytest
from tiny import make_encoder, make_rows

from cselab.methods import METHODS, create_method
from cselab.training import TrainConfig, train

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (A new \w+)\n(.*?)(?=^## |\Z)", TEXT, flags=re.MULTILINE | re.DOTALL))
EXAMPLES = {title: re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL) for title, text in SECTIONS.items()}


@pytest.mark.parametrize("title", EXAMPLES)
def test_the_examples_of_a_section_run(title, registered):
    assert EXAMPLES[title]
    for example in EXAMPLES[title]:
        exec(compile(example, f"CONTRIBUTING.md, {title}", "exec"), {"__name__": "example"})


@pytest.mark.parametrize("number", range(len(EXAMPLES["A new method"])))
def test_each_methods_example_is_short_and_trains(number, registered):
    example = EXAMPLES["A new method"][number]
    assert sum(bool(line.strip()) for line in example.split("@register")[1].splitlines()) < 30
    before = set(METHODS)
    exec(example, {"__name__": "example"})
    (name,) = set(METHODS) - before
    method = create_method(name)
    config = TrainConfig(steps=3, batch_size=8, lr=1e-3, precision="fp32")
    run = train(make_encoder(layers=1), method, make_rows(method.columns, 24), config, show_progress_bar=False)
    assert len(run.history) == 4 and all(row["loss"] > 0 for row in run.history[1:])


def test_the_files_that_the_touch_lists_name_are_there():
    root = Path(__file__).parents[1]
    named = re.findall(r"`((?:cselab|widgets|tests|notebooks)/[\w/.]+\.(?:py|ipynb))`", TEXT)
    assert named
    assert [path for path in named if not (root / path).exists()] == []
