"""DCLR's guide: the table's own SimCSE of the same seed, trained first, and once where encoders are kept."""

import pytest
from cselab_lab.experiments import compute, get_experiment
from cselab_lab.experiments.compute import run_job
from cselab_lab.experiments.jobs import job_of, of_seed

from cselab.training import TrainingDiverged

TABLE = get_experiment("survey-table8")


def job(label, tiny, seed=0):
    return job_of(TABLE, TABLE.row(label), tiny, seed)


@pytest.fixture
def trained(monkeypatch):
    """The methods that were trained, with the guides that they were given."""
    found, train = [], compute._trained

    def watched(encoder, sentences, settings, report):
        found.append((settings["method"], settings["parameters"].get("guide")))
        return train(encoder, sentences, settings, report)

    monkeypatch.setattr(compute, "_trained", watched)
    return found


@pytest.mark.parametrize("seed", [0, 3])
def test_the_guide_is_the_simcse_of_the_table_with_the_same_seed(seed, tiny):
    settings = job("DCLR", tiny, seed).settings
    assert settings["parameters"]["guide"] == job("SimCSE", tiny, seed).settings
    assert "seed" not in str(of_seed(settings, None)) and of_seed(of_seed(settings, None), seed) == settings


@pytest.mark.slow
def test_it_is_trained_first_and_not_again_where_it_was_kept(tiny, trained, tmp_path):
    guided, simcse = job("DCLR", tiny), job("SimCSE", tiny)
    apart = run_job(guided.settings, (), "world")["scores"]
    assert [method for method, _ in trained] == ["simcse", "dclr"]
    run_job(simcse.settings, (), "world", keep_encoders=tmp_path)
    del trained[:]
    assert run_job(guided.settings, (), "world", keep_encoders=tmp_path)["scores"] == apart
    assert trained == [("dclr", str(tmp_path / simcse.hash))]


def test_a_guide_that_diverges_is_the_rows_failure(tiny, monkeypatch):
    def diverges(*_):
        raise TrainingDiverged("training diverged at step 3")

    monkeypatch.setattr(compute, "_trained", diverges)
    line = run_job(job("DCLR", tiny).settings, (), "world")
    assert line["failure"] == "guide: training diverged at step 3" and line["scores"] == {}
