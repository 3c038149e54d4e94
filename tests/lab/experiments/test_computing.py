"""Rows train and are measured for real, in the smallest size; trained encoders are cached, guides trained first."""

import json
from dataclasses import replace

import pytest
from cselab_lab.experiments import compute, run_experiment
from cselab_lab.experiments.compute import K_MEANS_RUNS, RUNS_A_SEED, _measured, run_job
from cselab_lab.experiments.corpora import corpus
from cselab_lab.experiments.experiment import Experiment, Row
from small_experiment import DEV, job_of, tiny_profile
from stsb import write_stsb
from tiny import make_encoder

from cselab import SentenceEncoder
from cselab.evaluators import Geometry, Scores, word_overlap
from cselab.training import TrainingDiverged

TRAINED = [
    ("whitenedcse-table3", "ZCA"),
    ("whitenedcse-table3", "PCA"),
    ("whitenedcse-table3", "shuffled groups, one pass"),
    ("whitenedcse-table3", "shuffled groups, vector after the head"),
    ("whitenedcse-table4", "fixed, 4 channels a group"),
    ("whitenedcse-table5", "4 views"),
    ("whitenedcse-table6", "3 dropout views"),
    ("imsimcse-table1", "+noise on positives"),
    ("imsimcse-table1", "-noise on negatives"),
    ("imsimcse-table2", "Barlow Twins, full rank"),
    ("imsimcse-table3", "only dimension-wise"),
    ("imsimcse-table5", "m = 0.5 on the positive"),
    ("focal-table5", "m = 0.2"),
    (Experiment("mine", "?", (Row("triplets", "supervised_simcse"),)), "triplets"),
]


@pytest.mark.parametrize(("experiment", "label"), TRAINED)
def test_a_row_trains_and_has_a_dev_score(experiment, label):
    steps = []
    line = run_job(job_of(experiment, label, tiny_profile(1)), lambda step, total: steps.append((step, total)))
    assert line.failure is None and -100 < line.scores[DEV] < 100
    assert steps[-1] == (1, 1) and line.best_step == 1 and line.scores["diversity"] > 0


@pytest.mark.parametrize("label", ["word overlap", "plain, first 4 components removed", "plain, whitened"])
def test_a_baseline_is_measured_without_training(label, tiny):
    line = run_job(job_of("main-comparison", label, tiny, suites=("world",)))
    assert {"World-STS", "Classroom-STS"} <= line.scores.keys()
    assert ("mean_cosine" in line.scores) == (label != "word overlap")


def diverges(*_):
    raise TrainingDiverged("training diverged at step 3")


@pytest.mark.parametrize(("label", "failure"), [("SimCSE", ""), ("DCLR", "guide: ")])
def test_what_diverges_is_a_result_and_not_an_error(label, failure, tiny, monkeypatch):
    monkeypatch.setattr(compute, "_fit", diverges)
    line = run_job(job_of("survey-table8", label, tiny, suites=("world",)))
    assert line.failure == f"{failure}training diverged at step 3" and line.scores == {}


def test_without_the_data_folder_the_rest_is_measured_and_what_is_missing_is_named(tiny, monkeypatch):
    monkeypatch.setenv("CSELAB_DATA", "")
    line = run_job(job_of("main-comparison", "word overlap", tiny, suites=("world", "sts")))
    assert set(line.scores) == {"World-STS", "Classroom-STS"}
    assert "no data folder" in line.missing["sts"]


@pytest.fixture
def asked(monkeypatch):
    """The suites that are asked of `evaluate`, by name, none of them computed."""
    found = {}

    def evaluate(encoder, suites, **options):
        found.update({suite if isinstance(suite, str) else suite.name: suite for suite in suites})
        return Scores([])

    monkeypatch.setattr("cselab.data.senteval_folder", lambda: None)
    monkeypatch.setattr("cselab.evaluators.evaluate", evaluate)
    return found


def test_five_seeds_make_ten_runs_of_k_means_and_geometry_is_measured_on_dev(asked):
    _measured(make_encoder(), ("sts",), "STS-B")
    assert asked.pop("geometry") == Geometry(split="dev") and asked.pop("sts")
    job = job_of("survey-table10", "MixCSE")
    _measured(make_encoder(), job.suites, job.geometry, RUNS_A_SEED)
    assert set(asked) == {"world", "transfer", "clustering"}
    assert len(asked["clustering"].seeds) * 5 == 10 == K_MEANS_RUNS


def test_a_table_of_hyper_parameters_scores_dev_pairs_and_no_test_set(tmp_path, monkeypatch):
    pairs = [("5", "a dog runs"), ("3", "a dog sleeps"), ("0", "it is late")]
    write_stsb(tmp_path, lambda _, row: (pairs[row % 3][0], "a dog runs", pairs[row % 3][1]))
    monkeypatch.setenv("CSELAB_DATA", str(tmp_path))
    job = job_of("imsimcse-table5", "plain")
    found = _measured(word_overlap, job.suites, job.geometry)
    assert found["scores"]["STS-B dev"] == 100.0 and not {"STS-B", "SICK-R"} & found["scores"].keys()


@pytest.mark.parametrize(("fit_on", "rows"), [(None, 64), (40, 40)])
def test_a_transform_is_fitted_on_as_many_sentences_as_asked(fit_on, rows, monkeypatch):
    seen = []
    monkeypatch.setattr(
        compute, "_transformed", lambda encoder, kind, fitted_on: seen.append(len(fitted_on)) or encoder
    )
    run_job(job_of("main-comparison", "plain, mean subtracted", replace(tiny_profile(), fit_on=fit_on)))
    assert seen == [rows]


def test_a_corpus_is_the_same_each_time(tmp_path):
    assert corpus("world:50") == corpus("world:50") and len(set(corpus("world:50"))) == 50
    (tmp_path / "mine.txt").write_text("One.\nTwo.\n")
    assert corpus(str(tmp_path / "mine.txt")) == ["One.", "Two."]


# ------------------------------------------------------------------------------------------------ guides, the cache


@pytest.fixture
def fitted(monkeypatch):
    """The methods that were trained, with the guides that they were given."""
    found, fit = [], compute._fit

    def watched(encoder, rows, spec, report):
        found.append((spec.method, spec.parameters.get("guide")))
        return fit(encoder, rows, spec, report)

    monkeypatch.setattr(compute, "_fit", watched)
    return found


@pytest.mark.parametrize("seed", [0, 3])
def test_the_guide_is_the_simcse_of_the_table_with_the_same_seed(seed, tiny):
    spec = job_of("survey-table8", "DCLR", tiny, seed).spec
    assert spec.parameters["guide"] == job_of("survey-table8", "SimCSE", tiny, seed).spec
    assert "seed" not in str(spec.with_seed(None).to_json()) and spec.with_seed(None).with_seed(seed) == spec


def test_a_guide_is_trained_first_and_not_again_where_it_is_cached(tiny, fitted, tmp_path):
    guided, simcse = (job_of("survey-table8", label, tiny, suites=()) for label in ("DCLR", "SimCSE"))
    apart = run_job(guided).scores
    assert [method for method, _ in fitted] == ["simcse", "dclr"]
    run_job(simcse, cache=tmp_path)
    del fitted[:]
    assert run_job(guided, cache=tmp_path).scores == apart
    assert fitted == [("dclr", str(tmp_path / simcse.hash))]


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("survey-table8", "SimCSE"),
        ("survey-table8", "DCPCSE"),  # a prefix is part of the encoder
        ("survey-table8", "PromptBERT"),  # its vector is that of a template's [MASK]
        ("survey-table8", "DiffCSE"),  # a second network, which the encoder does without
        ("whitenedcse-table6", "both"),  # a head that whitens
    ],
)
def test_what_is_cached_is_measured_as_if_it_had_just_been_trained(name, label, tiny, fitted, tmp_path, monkeypatch):
    def measured(model, *_):
        vectors.append(model.encode(["A cat sleeps on the old sofa.", "Prices rise."]))
        return {"scores": {}, "missing": {}, "failures": {}}

    vectors = []
    monkeypatch.setattr(compute, "_measured", measured)
    trained, again = (run_job(job_of(name, label, tiny), cache=tmp_path) for _ in range(2))
    assert replace(trained, seconds=0) == replace(again, seconds=0) and len(fitted) == 1
    assert (vectors[0] == vectors[1]).all()


def test_another_command_measures_what_the_first_has_trained_and_a_notebook_opens_it(small, tiny, fitted, tmp_path):
    run_experiment(small, tiny, [0], folder=tmp_path / "one", keep_encoders=tmp_path / "kept")
    found = run_experiment(small, tiny, [0], folder=tmp_path / "two", keep_encoders=str(tmp_path / "kept"))
    assert found.values("cold", DEV).keys() == {0} and len(fitted) == 2
    encoder = SentenceEncoder.from_pretrained(tmp_path / "kept" / found.lines["cold"][0].hash)
    assert encoder.encode(["Prices rise."]).shape == (1, 128)


def test_it_is_trained_again_where_writing_was_cut_off_or_the_versions_are_others(small, tiny, fitted, tmp_path):
    job = job_of(small, "cold", tiny)
    first = run_job(job, cache=tmp_path)
    training = tmp_path / job.hash / compute.TRAINING
    training.unlink()
    assert run_job(job, cache=tmp_path).scores == first.scores
    record = json.loads(training.read_text())
    training.write_text(json.dumps(record | {"versions": record["versions"] | {"torch": "1.0"}}))
    assert run_job(job, cache=tmp_path).scores == first.scores
    assert len(fitted) == 3 and json.loads(training.read_text())["versions"] == record["versions"]
