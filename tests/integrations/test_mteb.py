import json
import math

import pytest

from cselab.data import DataError, MissingFile
from cselab.integrations.mteb import read_results


def entry(main_score, subset="default", **metrics):
    return {
        "main_score": main_score,
        "hf_subset": subset,
        "languages": ["eng-Latn"],
        "mteb_version": "2.26.24",
    } | metrics


def result(task, **splits):
    return {
        "dataset_revision": "abc",
        "task_name": task,
        "mteb_version": "2.26.24",
        "scores": splits,
        "evaluation_time": 2,
    }


def write(folder, *results, **meta):
    folder.mkdir(parents=True, exist_ok=True)
    for one in results:
        (folder / f"{one['task_name']}.json").write_text(json.dumps(one))
    if meta:
        (folder / "model_meta.json").write_text(json.dumps(meta))
    return folder


STS = result("STSBenchmark", test=[entry(0.7812, spearman=0.7812, cosine_spearman=0.7812, cosine_pearson=0.8)])


def test_a_file_gives_the_main_score_in_points_under_the_name_that_it_has_here(tmp_path):
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


def test_a_model_without_a_name_has_that_of_the_folder_that_was_named(tmp_path):
    write(tmp_path / "simcse-1.5/none/none", STS, name="no_model_name/available")
    assert list(read_results(tmp_path / "simcse-1.5")) == ["simcse-1.5"]


def test_a_score_that_is_not_finite_is_a_failure_and_no_number(tmp_path):
    (scores,) = read_results(write(tmp_path, result("STS12", test=[entry(math.nan)]))).values()
    assert scores.scores == {} and list(scores.failures) == ["STS12"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"scores": {"STS12": 60.7}, "records": []}', "no result of MTEB"),
        ('{"task_name": "STS12", "sco', "cut short or damaged"),
        ('{"task_name": "STS12", "scores": {"test": [{"spearman": 0.5}]}}', "lacks 'main_score'"),
    ],
)
def test_what_is_no_result_is_refused_by_name(tmp_path, content, told):
    file = tmp_path / "STS12.json"
    file.write_text(content)
    with pytest.raises(DataError, match=rf"STS12\.json.*{told}"):
        read_results(file)


def test_an_empty_folder_and_a_missing_one_are_told_apart(tmp_path):
    with pytest.raises(DataError, match="no result of MTEB in it"):
        read_results(tmp_path)
    with pytest.raises(MissingFile, match="no such"):
        read_results(tmp_path / "elsewhere")
