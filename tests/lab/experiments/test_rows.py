"""Rows train and are measured for real, in the smallest size: one of each kind."""

import lzma
from dataclasses import replace

import pytest
from cselab_lab.experiments import get_experiment
from cselab_lab.experiments.compute import K_MEANS_RUNS, RUNS_A_SEED, _measured, run_job
from cselab_lab.experiments.corpora import corpus
from cselab_lab.experiments.jobs import NotPossible, job_of
from cselab_lab.experiments.profiles import get_profile
from small_experiment import DEV, tiny_profile
from tiny import make_encoder

from cselab.evaluators import Geometry, Scores, word_overlap

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
    ("imsimcse-table3", "dimension-wise alone"),
    ("imsimcse-table5", "m = 0.5 on the positive"),
    ("focal-table5", "m = 0.2"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "label"), TRAINED)
def test_a_row_trains_and_has_a_dev_score(name, label):
    experiment = get_experiment(name)
    job = job_of(experiment, experiment.row(label), tiny_profile(1), seed=0)
    steps = []
    line = run_job(job.settings, (), "world", lambda step, total: steps.append((step, total)))
    assert line["failure"] is None and -100 < line["scores"][DEV] < 100
    assert steps[-1] == (1, 1) and line["best_step"] == 1 and line["scores"]["diversity"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("label", ["word overlap", "plain, first 4 components removed", "plain, whitened"])
def test_a_control_is_measured_without_training(label):
    experiment = get_experiment("main-comparison")
    job = job_of(experiment, experiment.row(label), tiny_profile(), seed=None)
    line = run_job(job.settings, ("world",), "world")
    assert job.seed is None and {"World-STS", "Classroom-STS"} <= line["scores"].keys()
    assert ("mean_cosine" in line["scores"]) == (label != "word overlap")


def test_what_diverges_is_a_result_and_not_an_error(monkeypatch):
    from cselab_lab.experiments import compute as module

    from cselab.training import TrainingDiverged

    def diverges(*_):
        raise TrainingDiverged("training diverged at step 3")

    monkeypatch.setattr(module, "_trained", diverges)
    experiment = get_experiment("imsimcse-table1")
    job = job_of(experiment, experiment.row("SimCSE"), tiny_profile(), seed=0)
    line = run_job(job.settings, ("world",), "world")
    assert line["failure"] == "training diverged at step 3" and line["scores"] == {}


def test_without_the_data_folder_the_rest_is_measured_and_what_is_missing_is_named(monkeypatch):
    monkeypatch.setenv("CSELAB_DATA", "")
    experiment = get_experiment("main-comparison")
    job = job_of(experiment, experiment.row("word overlap"), tiny_profile(), seed=None)
    line = run_job(job.settings, ("world", "sts"), "STS-B")
    assert set(line["scores"]) == {"World-STS", "Classroom-STS"}
    assert "no data folder" in line["missing"]["sts"]


def test_geometry_is_measured_on_sts_b_dev_or_test(monkeypatch):
    asked = {}

    def evaluate(encoder, suites, **options):
        asked.update(options, suites=suites)
        return Scores([])

    monkeypatch.setattr("cselab.data.senteval_folder", lambda: None)
    monkeypatch.setattr("cselab.evaluators.evaluate", evaluate)
    for pairs, split in (("STS-B", "dev"), ("STS-B test", "test")):
        _measured(make_encoder(), ("sts",), pairs)
        assert asked["suites"] == ["sts", Geometry(split=split)]


def test_a_table_of_hyper_parameters_scores_dev_pairs_and_no_test_set(tmp_path, monkeypatch):
    file = tmp_path / "STS" / "STSBenchmark" / "sts-dev.csv"
    file.parent.mkdir(parents=True)
    pairs = [("a dog runs", "a dog runs", 5), ("a dog runs", "a dog sleeps", 3), ("a dog runs", "it is late", 0)]
    file.write_text(
        "".join(f"g\tf\ty\t{n}\t{pairs[n % 3][2]}\t{pairs[n % 3][0]}\t{pairs[n % 3][1]}\n" for n in range(1500))
    )
    monkeypatch.setenv("CSELAB_DATA", str(tmp_path))
    study = get_profile("study")
    searched, compared = (get_experiment(name) for name in ("imsimcse-table5", "focal-table5"))
    job = job_of(searched, searched.row("plain"), study, seed=None)
    assert job.suites == ("world", "STS-B dev")
    assert job_of(compared, compared.row("plain"), study, seed=None).suites == ("world", "sts")
    found = _measured(word_overlap, job.suites, job.geometry)
    assert found["scores"]["STS-B dev"] == 100.0 and not {"STS-B", "SICK-R"} & found["scores"].keys()


def test_one_training_serves_two_of_the_surveys_tables_and_five_seeds_make_ten_runs_of_k_means(monkeypatch):
    asked = {}

    def evaluate(encoder, suites, **options):
        asked.update({suite if isinstance(suite, str) else suite.name: suite for suite in suites})
        return Scores([])

    tables = [get_experiment(f"survey-table{number}") for number in (8, 9, 10)]
    similarity, transfer, clustering = (job_of(t, t.row("MixCSE"), get_profile("study"), seed=1) for t in tables)
    assert similarity.hash == transfer.hash == clustering.hash
    assert set(similarity.suites) == {"world", "sts"}
    assert transfer.suites == clustering.suites == ("world", "transfer", "clustering")
    monkeypatch.setattr("cselab.data.senteval_folder", lambda: None)
    monkeypatch.setattr("cselab.evaluators.evaluate", evaluate)
    _measured(make_encoder(), clustering.suites, "STS-B", RUNS_A_SEED)
    assert set(asked) == {"world", "transfer", "clustering"}
    assert len(asked["clustering"].seeds) * len(get_profile("study").seeds) == 10 == K_MEANS_RUNS


@pytest.mark.parametrize(("fit_on", "rows"), [(None, 64), (40, 40)])
def test_a_transform_is_fitted_on_as_many_sentences_as_asked(fit_on, rows, monkeypatch):
    seen = []
    monkeypatch.setattr(
        "cselab_lab.experiments.compute._transformed",
        lambda encoder, kind, sentences: seen.append(len(sentences)) or encoder,
    )
    experiment, profile = get_experiment("main-comparison"), replace(tiny_profile(), fit_on=fit_on)
    job = job_of(experiment, experiment.row("plain, mean subtracted"), profile, seed=None)
    run_job(job.settings, (), "world")
    assert seen == [rows] and job.settings["fit_on"] == fit_on


def test_a_corpus_is_the_same_each_time_and_missing_text_says_where_it_was_looked_for(monkeypatch, tmp_path):
    assert corpus("world:50") == corpus("world:50") and len(set(corpus("world:50"))) == 50
    (tmp_path / "mine.txt").write_text("One.\nTwo.\n")
    assert corpus(str(tmp_path / "mine.txt")) == ["One.", "Two."]
    monkeypatch.setenv("CSELAB_DATA", str(tmp_path))
    with pytest.raises(OSError, match=r"no simplewiki\.txt in .*: looked for corpora/simplewiki-1m\.txt\.xz"):
        corpus("half-world:10")


def test_a_method_of_several_columns_gets_its_rows_from_the_world():
    from cselab_lab.experiments import Column, Experiment, Row

    mine = Experiment("mine", "?", (Row("triplets", "supervised_simcse"),), (Column(DEV),))
    job = job_of(mine, mine.row("triplets"), tiny_profile(1), seed=0)
    assert job.settings["columns"] == ["sentence", "entailment", "contradiction"]
    assert run_job(job.settings, (), "world")["scores"].keys() >= {DEV}
    with pytest.raises(NotPossible, match="wiki1m has no rows of sentence, entailment, contradiction"):
        job_of(mine, mine.row("triplets"), replace(tiny_profile(), corpus="wiki1m"), seed=0)


def test_half_of_the_mixed_corpus_is_of_the_world(monkeypatch, tmp_path):
    text = [f"line {number} of the encyclopedia says something" for number in range(300_020)]
    with lzma.open(tmp_path / "simplewiki-1m.txt.xz", "wt", preset=0) as file:
        file.write("\n".join(text))
    monkeypatch.setenv("CSELAB_DATA", str(tmp_path))
    mixed = corpus("half-world:20")
    assert len(mixed) == 20 and sum("encyclopedia" in sentence for sentence in mixed) == 10
    assert set(corpus("world:10")) < set(mixed)
