"""How effects grow: every size changes one thing, is compared with its own SimCSE, and shares jobs with the tables."""

import pytest
from cselab_lab.experiments import EXPERIMENTS, PROFILES, read_results
from cselab_lab.experiments.growth import BATCHES, EFFECTS, LENGTHS, by_size, label, published_gain
from cselab_lab.experiments.plan import expand_rows, jobs
from small_experiment import write_lines

GROWTH, STUDY = EXPERIMENTS["effects-grow"], PROFILES["study"]
SIZES = [("steps", "steps", factor) for factor in LENGTHS] + [("batch", "batch_size", factor) for factor in BATCHES]


@pytest.mark.parametrize(("name", "field", "factor"), SIZES)
def test_a_size_changes_one_thing_and_a_gain_is_over_simcse_of_the_same_size(name, field, factor):
    simcse, *others = (GROWTH.row(label(effect, name, factor)) for effect in EFFECTS)
    assert simcse.against == "plain" and {row.against for row in others} == {simcse.label}
    for row in (simcse, *others):
        spec = expand_rows(GROWTH, STUDY)[0].get(row.label)
        if spec is not None:  # a batch as wide as the encoder is missing no rank
            assert spec.recipe == {**STUDY.recipe, field: round(factor * STUDY.recipe[field])}
            assert isinstance(spec.recipe[field], int)


def test_a_size_that_the_papers_tables_have_is_no_other_job_and_one_that_is_impossible_is_none():
    tables = ("main-comparison", "imsimcse-table1", "imsimcse-table2", "focal-table2")
    recorded = {job.hash for name in tables for job in jobs(EXPERIMENTS[name], STUDY, [0])[0]}
    found = {job.label: job.hash for job in jobs(GROWTH, STUDY, [0])[0]}
    assert all(found[label(effect)] in recorded for effect in EFFECTS)
    missing = {row.label for row in GROWTH.all_rows} - set(found)
    assert missing == {"Barlow Twins, full rank, batch x 4"}  # a batch as wide as the encoder has full rank
    _, reasons = expand_rows(GROWTH, PROFILES["paper"])
    assert reasons["SimCSE, steps x 3"] == "the recipe of paper has no steps"


@pytest.fixture
def recorded(tmp_path):
    """Reads the experiment with these averages by row and seed, and nothing else."""

    def read(profile, points):
        write_lines(tmp_path, GROWTH, profile, lambda label, seed: {"Avg.": points[label][seed]},
                    keep=lambda label, seed: seed in points.get(label, {}))  # fmt: skip
        return read_results(GROWTH, profile, tmp_path)

    return read


def test_effects_by_size_are_paired_by_seed_and_come_with_the_papers(recorded):
    """SimCSE gains 3 and 5 points at home and 7 at three times the steps, Focal one more than that with one seed."""
    points = {"plain": {None: 50.0}, "SimCSE": {0: 53.0, 1: 55.0}, "SimCSE, steps x 3": {0: 57.0}}
    found = recorded("study", points | {"Focal-InfoNCE, steps x 3": {0: 58.0, 1: 90.0}})
    steps = by_size(found, "steps")
    here = steps[steps.whose == "here"].set_index(["effect", "steps"])
    assert here.gain.to_dict() == {("SimCSE", 200): 4.0, ("SimCSE", 600): 7.0, ("Focal-InfoNCE", 600): 1.0}
    assert here.seeds.tolist() == [2, 1, 1]
    assert here.gain_low.notna().tolist() == [True, False, False]
    assert here.gain_low[("SimCSE", 200)] == pytest.approx(4 - 12.706, abs=1e-3)  # Student's t of two
    paper = steps[steps.whose == "paper"].set_index("effect")
    assert set(paper.steps) == {15_600} and paper.gain["Barlow Twins, M = 0"] == pytest.approx(64.05 - 76.25)
    assert by_size(found, "batch")[["effect", "batch", "gain"]].values.tolist() == [["SimCSE", 64, 4.0]]


def test_one_epoch_is_at_the_steps_of_the_papers(recorded):
    points = {"plain": {None: 50.0}, "SimCSE": {0: 56.0}, "WhitenedCSE, 3 passes": {0: 57.5}}
    found = by_size(recorded("million", points))
    there = found[found.whose == "one epoch"]
    assert there[["effect", "steps", "gain"]].values.tolist() == [
        ["SimCSE", 15_600, 6.0],
        ["WhitenedCSE, 3 passes", 15_600, 1.5],
    ]
    papers = found[found.whose == "paper"].set_index("effect").gain
    assert (
        papers["WhitenedCSE, 3 passes"] == pytest.approx(published_gain("WhitenedCSE, 3 passes"))
        and "SimCSE" not in papers
    )
