"""Encoders that are kept: a training of any kind is measured again as it was, and nothing half written is taken."""

import json

import pytest
from cselab_lab.experiments import compute, get_experiment, kept, run_experiment
from cselab_lab.experiments.compute import run_job
from cselab_lab.experiments.jobs import job_of

from cselab import SentenceEncoder

pytestmark = pytest.mark.slow
KINDS = [
    ("survey-table8", "SimCSE"),
    ("survey-table8", "DCPCSE"),  # a prefix is part of the encoder
    ("survey-table8", "PromptBERT"),  # its vector is that of a template's [MASK]
    ("survey-table8", "DiffCSE"),  # a second network, which the encoder does without
    ("whitenedcse-table6", "both"),  # a head that whitens
]


def no_training(*_):
    raise AssertionError("what is kept is not trained again")


@pytest.mark.parametrize(("name", "label"), KINDS)
def test_what_is_kept_is_measured_as_if_it_had_just_been_trained(name, label, tiny, tmp_path, monkeypatch):
    def measured(model, *_):
        vectors.append(model.encode(["A cat sleeps on the old sofa.", "Prices rise."]))
        return {"scores": {}, "missing": {}, "failures": {}}

    vectors = []
    monkeypatch.setattr(compute, "_measured", measured)
    experiment = get_experiment(name)
    job = job_of(experiment, experiment.row(label), tiny, seed=0)
    trained = run_job(job.settings, (), "world", keep_encoders=tmp_path)
    monkeypatch.setattr(compute, "_trained", no_training)
    again = run_job(job.settings, (), "world", keep_encoders=tmp_path)
    assert {**trained, "seconds": 0} == {**again, "seconds": 0}
    assert (vectors[0] == vectors[1]).all()


def test_another_command_measures_what_the_first_has_trained_and_a_notebook_opens_it(
    small, tiny, tmp_path, monkeypatch
):
    run_experiment(small, tiny, [0], folder=tmp_path / "one", keep_encoders=tmp_path / "kept")
    monkeypatch.setattr(compute, "_trained", no_training)
    found = run_experiment(small, tiny, [0], folder=tmp_path / "two", keep_encoders=str(tmp_path / "kept"))
    assert found.values("cold", f"{tiny.dev} dev").keys() == {0}
    encoder = SentenceEncoder.from_pretrained(tmp_path / "kept" / found.lines["cold"][0]["hash"])
    assert encoder.encode(["Prices rise."]).shape == (1, 128)


def test_it_is_trained_again_where_writing_was_cut_off_or_the_versions_are_others(small, tiny, tmp_path, monkeypatch):
    job = job_of(small, small.row("cold"), tiny, seed=0)
    first = run_job(job.settings, (), "world", keep_encoders=tmp_path)
    trainings, train = [], compute._trained
    monkeypatch.setattr(compute, "_trained", lambda *given: trainings.append(1) or train(*given))
    training = tmp_path / job.hash / kept.TRAINING
    training.unlink()
    assert run_job(job.settings, (), "world", keep_encoders=tmp_path)["scores"] == first["scores"]
    said = json.loads(training.read_text())
    training.write_text(json.dumps(said | {"versions": said["versions"] | {"torch": "1.0"}}))
    assert run_job(job.settings, (), "world", keep_encoders=tmp_path)["scores"] == first["scores"]
    assert len(trainings) == 2 and json.loads(training.read_text())["versions"] == said["versions"]
