"""How effects grow: every size changes one thing, is compared with its own SimCSE, and shares jobs with the tables."""

import pytest
from cselab_lab.experiments import EXPERIMENTS, PROFILES, read_results
from cselab_lab.experiments.growth import BATCHES, EFFECTS, LENGTHS, by_size, label, published_gain
from cselab_lab.experiments.jobs import job_of, jobs, settings_of
from cselab_lab.experiments.store import Store

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


@pytest.fixture
def two_seeds(tmp_path):
    """SimCSE gains 3 and 5 points at home and 7 at three times the steps, Focal one more than that with one seed."""
    points = {"plain": {None: 50.0}, "SimCSE": {0: 53.0, 1: 55.0}, "SimCSE, steps x 3": {0: 57.0},
              "Focal-InfoNCE, steps x 3": {0: 58.0, 1: 90.0}}  # fmt: skip
    store = Store(tmp_path, "effects-grow", "study")
    for name, seeds in points.items():
        for seed, score in seeds.items():
            job = job_of(GROWTH, GROWTH.row(name), STUDY, seed)
            line = {"experiment": "effects-grow", "profile": "study", "row": name, "seed": seed, "hash": job.hash}
            told = {"settings": job.settings, "scores": {"Avg.": score}, "failure": None, "missing": {}}
            store.append(line | told | {"versions": {}})
    return read_results(GROWTH, STUDY, tmp_path)


def test_effects_by_size_are_paired_by_seed_and_stand_beside_the_papers(two_seeds):
    steps = by_size(two_seeds, "steps")
    here = steps[steps.whose == "here"].set_index(["effect", "steps"])
    assert here.gain.to_dict() == {("SimCSE", 200): 4.0, ("SimCSE", 600): 7.0, ("Focal-InfoNCE", 600): 1.0}
    assert here.seeds.tolist() == [2, 1, 1]
    assert here.gain_low.notna().tolist() == [True, False, False]
    assert here.gain_low[("SimCSE", 200)] == pytest.approx(4 - 12.706, abs=1e-3)  # Student's t of two
    paper = steps[steps.whose == "paper"].set_index("effect")
    assert set(paper.steps) == {15_600} and paper.gain["Barlow Twins, M = 0"] == pytest.approx(64.05 - 76.25)
    assert by_size(two_seeds, "batch")[["effect", "batch", "gain"]].values.tolist() == [["SimCSE", 64, 4.0]]


def test_one_epoch_stands_where_the_papers_trained(tmp_path):
    million = PROFILES["million"]
    store = Store(tmp_path, "effects-grow", "million")
    for name, score in {"plain": 50.0, "SimCSE": 56.0, "WhitenedCSE": 57.5}.items():
        job = job_of(GROWTH, GROWTH.row(name), million, None if name == "plain" else 0)
        line = {"experiment": "effects-grow", "profile": "million", "row": name, "seed": job.seed, "hash": job.hash}
        told = {"settings": job.settings, "scores": {"Avg.": score}, "failure": None, "missing": {}}
        store.append(line | told | {"versions": {}})
    found = by_size(read_results(GROWTH, million, tmp_path))
    there = found[found.whose == "one epoch"]
    assert there[["effect", "steps", "gain"]].values.tolist() == [["SimCSE", 15_600, 6.0], ["WhitenedCSE", 15_600, 1.5]]
    papers = found[found.whose == "paper"].set_index("effect").gain
    assert papers["WhitenedCSE"] == pytest.approx(published_gain("WhitenedCSE")) and "SimCSE" not in papers


def test_a_million_is_the_papers_recipe_but_for_the_encoder_and_the_world():
    million, paper = PROFILES["million"], PROFILES["paper"]
    assert million.recipe == {**paper.recipe, "precision": "fp32"} and million.encoders == STUDY.encoders
    assert int(million.corpus.removeprefix("world:")) // million.recipe["batch_size"] == pytest.approx(15_600, rel=0.01)
