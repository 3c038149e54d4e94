"""The table of effects: rows are compared seed by seed, a row without seeds with every seed of the other."""

import importlib.util
from pathlib import Path

import pytest

from cselab.methods import create_method

PATH = Path(__file__).parents[3] / "benchmarks" / "effects.py"


@pytest.fixture(scope="module")
def effects():
    spec = importlib.util.spec_from_file_location("effects", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def scored(value):
    return {"STS-B": value, "World-STS": value + 1, "Classroom-STS": value + 2}


def test_every_row_is_a_method_that_exists(effects):
    for name, (method, parameters) in effects.METHODS.items():
        assert create_method(method, **parameters).name == method, name


def test_every_claim_is_between_rows_of_the_table(effects):
    rows = {*effects.METHODS, *effects.CONTROLS}
    assert all({higher, lower} <= rows for _, higher, lower in effects.CLAIMS)


def test_only_seeds_that_both_rows_have_are_compared(effects):
    first = {0: scored(50.0), 1: scored(52.0), 7: scored(99.0)}
    second = {0: scored(49.0), 1: scored(48.0), 8: scored(0.0)}
    found = effects.difference(first, second, "STS-B")
    assert found.startswith("+2.5 (") and found.endswith("seed by seed +1.0 +4.0")


def test_a_row_without_seeds_stands_beside_each_seed_of_the_other(effects):
    found = effects.difference({0: scored(50.0), 3: scored(51.0)}, {None: scored(40.0)}, "World-STS")
    assert found.endswith("seed by seed +10.0 +11.0")


def test_one_seed_is_shown_without_a_test(effects):
    assert effects.difference({0: scored(50.0)}, {None: scored(40.0)}, "STS-B") == "+10.0 (one seed)"


def test_the_table_has_a_line_a_row_with_the_number_of_its_seeds(effects):
    text = {"corpus": "half-world:20000"}
    lines = [{"row": "plain", **text, "scores": scored(40.0)}]
    lines += [{"row": "SimCSE", **text, "seed": seed, "steps": 60, "scores": scored(50.0 + seed)} for seed in (0, 1)]
    text = effects.in_words(lines)
    row = next(line for line in text.splitlines() if line.startswith("| SimCSE"))
    assert [cell.strip() for cell in row.split("|")[2:6]] == ["2", "60", "", "50.5 ± 0.7"]
    assert "SimCSE is above plain: +10.5" in text
