"""How effects grow: every size changes one thing, is compared with its own SimCSE, and shares jobs with the tables."""

import pytest
from cselab_lab.experiments import EXPERIMENTS, PROFILES
from cselab_lab.experiments.growth import BATCHES, EFFECTS, LENGTHS, label
from cselab_lab.experiments.jobs import jobs, settings_of

GROWTH, STUDY = EXPERIMENTS["effects-grow"], PROFILES["study"]
SIZES = [("steps", "steps", factor) for factor in LENGTHS] + [("batch", "batch_size", factor) for factor in BATCHES]


@pytest.mark.parametrize(("name", "field", "factor"), SIZES)
def test_a_size_is_the_recipe_with_one_thing_changed(name, field, factor):
    for effect in EFFECTS:
        row = GROWTH.row(label(effect, name, factor))
        settings = settings_of(GROWTH, row, STUDY)
        assert settings["recipe"] == {**STUDY.recipe, field: round(factor * STUDY.recipe[field])}
        assert isinstance(settings["recipe"][field], int) and settings["corpus"] == STUDY.corpus


@pytest.mark.parametrize(("name", "factor"), [(name, factor) for name, _, factor in SIZES])
def test_a_gain_is_over_simcse_of_the_same_size_and_simcses_own_over_the_plain_encoder(name, factor):
    simcse, *others = (GROWTH.row(label(effect, name, factor)) for effect in EFFECTS)
    assert simcse.against == "plain" and {row.against for row in others} == {simcse.label}


def test_what_the_papers_tables_have_at_this_size_is_no_other_job():
    tables = ("main-comparison", "imsimcse-table1", "imsimcse-table2", "focal-table2")
    recorded = {job.hash for name in tables for job in jobs(EXPERIMENTS[name], STUDY, [0])[0]}
    at_home = {job.label: job.hash for job in jobs(GROWTH, STUDY, [0])[0]}
    assert all(at_home[label(effect)] in recorded for effect in EFFECTS)


def test_a_batch_as_wide_as_the_encoder_has_full_rank_without_artificial_rows():
    at_most = {job.label for job in jobs(GROWTH, STUDY, [0])[0]}
    missing = {row.label for row in GROWTH.all_rows} - at_most
    assert missing == {"Barlow Twins, full rank, batch x 4"}


def test_a_recipe_in_epochs_has_no_steps_to_multiply():
    possible, reasons = jobs(GROWTH, PROFILES["paper"], [0])
    assert reasons["SimCSE, steps x 3"] == "the recipe of paper has no steps"
    assert {"SimCSE", "SimCSE, batch x 4"} <= {job.label for job in possible}
