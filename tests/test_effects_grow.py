"""How effects grow: every size is the profile `study` with one thing changed, and every row can be laid out."""

import importlib.util
from dataclasses import fields
from pathlib import Path

import pytest
from cselab_lab.experiments import PROFILES
from cselab_lab.experiments.jobs import jobs

PATH = Path(__file__).parents[1] / "benchmarks" / "effects_grow.py"
STUDY = PROFILES["study"]


@pytest.fixture(scope="module")
def grow():
    spec = importlib.util.spec_from_file_location("effects_grow", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_size_is_the_study_with_one_thing_changed(grow):
    for axis, sizes in grow.SIZES.items():
        assert len({size.name for size in sizes}) == len(sizes) and STUDY in sizes
        for size in sizes:
            names = [field.name for field in fields(size)]
            changed = {name for name in names if getattr(size, name) != getattr(STUDY, name)}
            assert changed <= {"name", "corpus" if axis == "corpus" else "recipe"}
            assert sum(size.recipe[name] != value for name, value in STUDY.recipe.items()) <= 1


def test_every_size_has_all_rows_and_no_two_sizes_share_a_training(grow):
    hashes = {}
    rows = {row.label for row in grow.EFFECTS.rows}
    for size in {size.name: size for sizes in grow.SIZES.values() for size in sizes}.values():
        found, reasons = jobs(grow.EFFECTS, size, [0])
        alike = {"Barlow Twins, full rank"} if size.recipe["batch_size"] == 256 else set()  # as wide as the encoder
        assert not reasons and rows - {job.label for job in found} == alike
        hashes[size.name] = {job.hash for job in found if job.seed is not None}
    assert len(set().union(*hashes.values())) == sum(map(len, hashes.values()))
