import json
import math

import pytest
from cells import table
from tiny import make_encoder, make_sentences

from cselab.data import DataError, MissingFile
from cselab.evaluators import evaluate
from cselab.evaluators.comparison import shared_scores
from cselab.integrations.mteb import read_results
from cselab.training import TrainConfig, train
from cselab.world import World


def entry(main_score, subset="default", **metrics):
    shared = {"hf_subset": subset, "languages": ["eng-Latn"], "mteb_version": "2.26.24"}
    return {"main_score": main_score} | shared | metrics


def result(task, revision="abc", **splits):
    """The file of a task; by split a score, scores by subset, or what `entry` gives."""

    def entries(scores):
        scores = {"default": scores} if isinstance(scores, float | int | None) else scores
        return [entry(score, subset) for subset, score in scores.items()] if isinstance(scores, dict) else scores

    found = {split: entries(scores) for split, scores in splits.items()}
    facts = {"dataset_revision": revision, "mteb_version": "2.26.24", "evaluation_time": 2}
    return {"task_name": task, "scores": found} | facts


def write(folder, *results, **meta):
    folder.mkdir(parents=True, exist_ok=True)
    for one in results:
        (folder / f"{one['task_name']}.json").write_text(json.dumps(one))
    if meta:
        (folder / "model_meta.json").write_text(json.dumps(meta))
    return folder


STS = result("STSBenchmark", test=[entry(0.7812, spearman=0.7812, cosine_spearman=0.7812, cosine_pearson=0.8)])


def test_a_file_gives_the_main_score_in_points(tmp_path):
    folder = write(tmp_path / "v1.5", STS, name="me/mine", revision="r")
    (scores,) = read_results(folder / "STSBenchmark.json").values()
    (record,) = scores.records
    assert scores.scores == {"STS-B": pytest.approx(78.12)}
    assert (record.metric, record.split, record.encoder) == ("spearman", "test", "me/mine")
    assert (record.data_hash, record.versions, record.seconds) == ("abc", {"mteb": "2.26.24"}, 2)


def test_subsets_are_averaged_and_kept_and_splits_told_apart(tmp_path):
    several = result(
        "MassiveIntent",
        validation=[entry(0.5, accuracy=0.5, f1=0.4)],
        test=[entry(0.6, "en", accuracy=0.6, f1=0.6), entry(0.4, "de", accuracy=0.4, f1=0.3)],
    )
    (scores,) = read_results(write(tmp_path, several)).values()
    assert scores.scores == pytest.approx({"MassiveIntent validation": 50.0, "MassiveIntent test": 50.0})
    frame = scores.to_frame().set_index("subset")
    assert frame.loc[["en", "de"], "value"].tolist() == pytest.approx([60.0, 40.0])
    assert set(frame["metric"]) == {"accuracy"}  # f1 has another value than the main score in one subset


@pytest.mark.parametrize(
    ("metas", "names"),
    [
        ([{"name": "me/a", "revision": "1"}, {"name": "me/b", "revision": "1"}], ["me/a", "me/b"]),
        ([{"name": "me/a", "revision": "1"}, {"name": "me/a", "revision": "2"}], ["me/a 1", "me/a 2"]),
        ([{"name": "no_model_name/available"}, {}], ["x/1", "x/2"]),
    ],
)
def test_a_folder_of_models_gives_the_scores_of_each_by_name(tmp_path, metas, names):
    for number, meta in enumerate(metas, start=1):
        write(tmp_path / f"x/{number}", STS, **meta)
    assert list(read_results(tmp_path)) == names


def test_a_model_without_a_name_has_that_of_its_folder(tmp_path):
    write(tmp_path / "simcse-1.5/none/none", STS, name="no_model_name/available")
    assert list(read_results(tmp_path / "simcse-1.5")) == ["simcse-1.5"]


@pytest.mark.parametrize("score", [math.nan, -math.inf, 60.0])
def test_a_score_out_of_range_is_a_failure(tmp_path, score):
    (scores,) = read_results(write(tmp_path, result("STS12", test=score))).values()
    assert scores.scores == {} and list(scores.failures) == ["STS12"]


NO_RESULT = """
{"scores": {"STS12": 60.7}, "records": []} | not a result of MTEB
{"task_name": "STS12", "sco | cut short or damaged
{"task_name": "STS12", "scores": {"test": [{"spearman": 0.5}]}} | a score has no 'main_score'
{"task_name": "STS12", "scores": {"test": [{"main_score": "0.5"}]}} | no number, but '0.5'
{"task_name": "STS12", "scores": {"test": [{"main_score": true}]}} | no number, but True
{"task_name": "STS12", "scores": {"test": {"main_score": 0.5}}} | no result of MTEB
{"mteb_dataset_name": "STS12", "test": {"cos_sim": {"spearman": 0.6}}} | before 1.11: convert it
"""


@pytest.mark.parametrize(("content", "told"), [*table(NO_RESULT), ("[" * 100_000, "nested too deeply")])
def test_what_is_no_result_is_refused_by_name(tmp_path, content, told):
    file = tmp_path / "STS12.json"
    file.write_text(content)
    with pytest.raises(DataError, match=rf"STS12\.json.*{told}"):
        read_results(file)


FAILED = {
    "null": (None, "could not compute"),
    "NaN": (math.nan, "could not compute"),
    "per cent": (70.1, "70.1; scores of MTEB are from -1 to 1, and this may be per cent: divide it by 100"),
    "minus per cent": (-70.1, "may be per cent"),
    "large": (7010, "7010; scores of MTEB are from -1 to 1"),
    "infinite": (math.inf, "inf; scores"),
}


@pytest.mark.parametrize("case", FAILED)
def test_a_failed_score_has_a_reason_and_leaves_the_others(tmp_path, case):
    score, reason = FAILED[case]
    folder = write(tmp_path, result("STS12", test=score), STS, result("STS13", test=[]))
    (scores,) = read_results(folder).values()
    assert scores.scores == {"STS-B": pytest.approx(78.12)}
    assert reason in scores.failures["STS12"] and "no score of the split test" in scores.failures["STS13"]
    halves = write(tmp_path / "other", result("STS14", test={"en": score, "de": 0.4}))
    (scores,) = read_results(halves).values()
    assert scores.scores == {} and [r.value for r in scores.records if r.subset == "de"] == [pytest.approx(40.0)]


def test_two_results_of_one_task_are_refused_with_both_files(tmp_path):
    folder = write(tmp_path / "merged", STS)
    (folder / "STSBenchmark (1).json").write_text(json.dumps(result("STSBenchmark", test=0.7)))
    with pytest.raises(DataError, match=r"STSBenchmark\.json and STSBenchmark \(1\)\.json are results of one task"):
        read_results(tmp_path)


def test_an_empty_folder_and_a_missing_one_are_told_apart(tmp_path):
    with pytest.raises(DataError, match="not a result of MTEB; expected"):
        read_results(tmp_path)
    with pytest.raises(MissingFile, match="no such"):
        read_results(tmp_path / "elsewhere")


STS12, STS13 = (result(task, test=0.5) for task in ("STS12", "STS13"))
NOWHERE = "no subset is in every system: STS22"
BETTER12, BETTER13 = (result(task, test=0.6) for task in ("STS12", "STS13"))


@pytest.mark.parametrize(
    ("task", "first", "second", "shared", "note"),
    [  # the mean over other subsets would put B above A by 6, where A leads by 8 on English
        ("STS22", {"test": {"en": 0.68, "de": 0.4}}, {"test": {"en": 0.6}}, [68.0, 60.0], "STS22: the mean over en"),
        ("STS22", {"test": {"en": 0.68, "de": 0.4}}, {"test": {"fr": 0.6, "es": 0.4}}, None, NOWHERE),
        ("STS22", {"test": {"de": 0.68}}, {"test": {"en": 0.6}}, None, NOWHERE),
        ("I", {"test": 0.5}, {"test": 0.6, "test_iid": 0.9}, [50.0, 60.0], "not every system has it: I test_iid"),
        ("I", {"test": 0.5}, {"validation": 0.6}, None, "not every system has it: I test."),
        ("I", {"test": 0.5}, {"test": 0.6, "revision": "def"}, None, "the data differ (revisions abc and def): I"),
        (
            "I",
            {"test": [entry(0.5, accuracy=0.5)]},
            {"test": [entry(0.6, f1=0.6)]},
            None,
            "the metrics differ (accuracy and f1): I",
        ),
    ],
)
def test_only_what_was_measured_on_the_same_data_is_compared(tmp_path, task, first, second, shared, note):
    one, two = (
        write(tmp_path / "one", result(task, **first), STS12, STS13, name="a"),
        write(tmp_path / "two", result(task, **second), BETTER12, BETTER13, name="b"),
    )
    read = [scores for folder in (one, two) for scores in read_results(folder).values()]
    scores, notes = shared_scores([each.records for each in read])
    easy = {"STS12": [50.0, 60.0], "STS13": [50.0, 60.0]}
    if shared:
        easy[task if task == "STS22" else f"{task} test"] = shared
    assert scores == {task: pytest.approx(values) for task, values in easy.items()}
    assert any(note in each for each in notes)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of MTEB and its libraries
def test_mteb_scores_the_folder_of_a_run_as_it_stands(tmp_path):
    mteb = pytest.importorskip("mteb", reason="pip install -c constraints.txt '.[mteb]'")
    import datasets
    from mteb.cache import ResultCache
    from sentence_transformers import SentenceTransformer

    pairs = World().sts(60, "test")
    columns = {"sentence1": pairs.sentences1, "sentence2": pairs.sentences2, "score": list(map(float, pairs.scores))}

    class WorldSTS(mteb.abstasks.AbsTaskSTS):
        unknown = dict.fromkeys(
            "reference date domains task_subtypes license annotations_creators dialect sample_creation".split()
        )
        metadata = mteb.TaskMetadata(
            name="WorldSTS", dataset={"path": "none", "revision": pairs.hash}, description="", type="STS",
            category="t2t", modalities=["text"], eval_splits=["test"], eval_langs=["eng-Latn"],
            main_score="cosine_spearman", bibtex_citation="", **unknown,
        )  # fmt: skip

        def load_data(self, **_):
            self.dataset = datasets.DatasetDict({"test": datasets.Dataset.from_dict(columns)})
            self.data_loaded = True

    output = tmp_path / "run"
    config = TrainConfig(steps=2, batch_size=4, precision="fp32")
    trained = train(make_encoder(), "simcse", make_sentences(24), config, output=output).encoder
    settings = {"cache": ResultCache(tmp_path / "mine"), "show_progress_bar": False, "co2_tracker": False}
    mteb.evaluate(SentenceTransformer(str(output), device="cpu"), [WorldSTS()], **settings)
    (scores,) = read_results(tmp_path / "mine").values()
    assert scores.scores["WorldSTS"] == pytest.approx(evaluate(trained, pairs).scores[pairs.name], abs=1e-3)
    assert scores.records[0].data_hash == pairs.hash and scores.records[0].encoder == "mine"
