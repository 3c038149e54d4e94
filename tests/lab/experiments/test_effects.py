"""The recorded effects, as lessons and panels read them: an experiment like the others."""

from pathlib import Path
from statistics import mean, stdev

import pytest
from cselab_lab.experiments import read_results

RESULTS = Path(__file__).parents[3] / "results"


@pytest.fixture(scope="module")
def effects():
    return read_results("effects", folder=RESULTS)


def test_every_row_was_run_with_five_seeds_or_three_where_a_step_has_twenty_passes(effects):
    assert effects.lines.keys() == {row.label for row in effects.experiment.all_rows}
    trained = {row.label: len(effects.lines[row.label]) for row in effects.experiment.rows if row.method}
    assert all(trained.pop(f"-noise on {views}") >= 3 for views in ("positives", "negatives"))
    assert set(trained.values()) == {5}


def test_what_was_recorded_once_is_there_to_the_digit(effects):
    line = effects.lines["SimCSE"][0]
    assert line["settings"]["recipe"] == {
        "steps": 200, "lr": 3e-4, "batch_size": 64, "eval_every": 20, "precision": "fp32", "seed": 0
    }  # fmt: skip
    assert (line["scores"]["Avg."], line["scores"]["mean_cosine"], line["seconds"]) == (57.2811, 0.4321, 134.5)
    assert [at["step"] for at in line["curve"]] == list(range(0, 201, 20)) and line["best_step"] == 160


def test_a_row_that_trains_nothing_has_one_value_and_no_curve(effects):
    assert list(effects.values("plain", "World-STS")) == [None]
    assert effects.curves("plain") == {}
    assert effects.curves("SimCSE").keys() == effects.values("SimCSE", "STS-B").keys()


def test_a_table_has_means_spreads_and_how_many_seeds(effects):
    head, plain, simcse = effects.table(["plain", "SimCSE"], ["STS-B", "mean_cosine"]).splitlines()
    values = list(effects.values("SimCSE", "STS-B").values())
    assert head.split() == ["STS-B", "mean", "cosine"]
    assert plain.split()[:2] == ["plain", f"{effects.mean('plain', 'STS-B'):.2f}"]
    assert simcse.split()[:5] == ["SimCSE", f"{mean(values):.2f}", "±", f"{stdev(values):.2f}", "(5)"]


def test_a_mean_of_nothing_is_refused_with_what_there_is(effects):
    with pytest.raises(ValueError, match="no row 'simcse'; its rows are: 'random vectors'"):
        effects.mean("simcse", "STS-B")
    with pytest.raises(ValueError, match=r"'plain' has no 'MR'; measured were Avg., Classroom-STS, Classroom-STS dev"):
        effects.mean("plain", "MR")


def test_one_row_over_another_seed_by_seed(effects):
    over = effects.over("SimCSE", "plain", "STS-B")
    (plain,) = effects.values("plain", "STS-B").values()
    assert over == {seed: value - plain for seed, value in effects.values("SimCSE", "STS-B").items()}
    assert effects.over("plain", "plain", "STS-B") == {None: 0.0}
    assert len(effects.verdicts("World-STS")) == len(effects.experiment.claims)
    with pytest.raises(ValueError, match=r"effects has no column 'MR'; its columns are: 'Avg.', 'World-STS'"):
        effects.verdicts("MR")
