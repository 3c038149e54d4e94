import json
import re
from dataclasses import replace
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pandas
import pytest
from tiny import make_encoder, make_sentences

from cselab.data import DataError, Pairs
from cselab.evaluators import STS, Geometry, RandomEncoder, Scores, evaluate, read_scores
from cselab.evaluators.records import Record
from cselab.evaluators.vectors import encode_distinct
from cselab.metrics import alignment, effective_rank, feature_correlation, mean_cosine, uniformity

MEASURES = (uniformity, mean_cosine, feature_correlation, effective_rank)


class Broken:
    """Vectors of the angle encoder, spoilt."""

    def __init__(self, encoder, spoil):
        self.encoder, self.spoil = encoder, spoil

    def encode(self, sentences):
        return self.spoil(self.encoder.encode(sentences))


def with_nan(vectors):
    vectors[3, 0] = np.nan
    return vectors


def constant(vectors):
    return np.full_like(vectors, 0.25)


def constant_but_for_rounding(vectors):
    return constant(vectors) + 1e-8 * vectors


def test_a_perfect_ranking_scores_100(angles, pairs):
    scores = evaluate(angles, pairs)
    assert scores.scores == {"angles": pytest.approx(100)}
    (record,) = [record for record in scores.records if record.key]
    assert (record.encoder, record.pooling, record.representation) == ("angles", "none", "backbone")
    assert record.versions["torch"] and record.seconds > 0 and record.rows == 20


def test_every_distinct_sentence_of_all_suites_is_encoded_once(angles, sts_folder):
    scores = evaluate(angles, ["sts", "geometry"], data=sts_folder, tasks=["STS-B", "STS-B/dev", "uniformity"])
    assert set(scores.scores) == {"STS-B", "STS-B/dev", "uniformity"}
    (encoded,) = angles.calls
    assert len(encoded) == len(set(encoded))


def test_a_task_that_did_not_run_is_absent(angles, sts_folder):
    """A task that did not run is absent and the average with it."""
    scores = evaluate(angles, "sts", data=sts_folder)
    assert set(scores.scores) == {"STS-B"}
    assert scores.avg is None and scores.covers == ("STS-B",)
    assert set(scores.missing) == {"STS12", "STS13", "STS14", "STS15", "STS16", "SICK-R"}
    assert "STS.input.MSRpar.txt: no such file" in scores.missing["STS12"]
    assert "avg" not in scores.to_dict()
    assert "no average: only STS-B of the seven STS sets" in str(scores)
    assert "STS12 did not run" in str(scores)


def test_a_damaged_file_stops_everything(angles, sts_folder):
    """A damaged file stops everything before anything is encoded."""
    path = sts_folder / "STS/STSBenchmark/sts-test.csv"
    path.write_bytes(path.read_bytes()[:-500])
    with pytest.raises(DataError, match=r"sts-test\.csv"):
        evaluate(angles, ["sts", "geometry"], data=sts_folder)
    assert angles.calls == []


def test_the_average_is_that_of_the_seven_test_splits():
    tasks = ["STS12", "STS13", "STS14", "STS15", "STS16", "STS-B", "SICK-R"]
    records = [Record(task, "spearman", value=float(row), key=task) for row, task in enumerate(tasks)]
    beside = Record("STS-B", "spearman", value=99.0, key="STS-B/dev")
    scores = Scores([*records, beside])
    assert scores.avg == 3.0
    assert scores.to_dict()["avg"] == 3.0
    assert Scores(records[1:]).avg is None


@pytest.mark.parametrize(
    "spoil, reason",
    [
        (with_nan, r"\d of 2758 embeddings are not finite"),
        (constant, "constant embeddings"),
        (constant_but_for_rounding, "constant embeddings"),
    ],
)
def test_embeddings_that_cannot_be_scored_give_a_reason(angles, sts_folder, spoil, reason):
    """Embeddings that cannot be scored give a reason and no number."""
    scores = evaluate(
        Broken(angles, spoil), ["sts", "geometry"], data=sts_folder, tasks=["STS-B", "uniformity"], split="test"
    )
    assert scores.scores == {}
    assert set(scores.failures) == {"STS-B", "uniformity"}
    for record in scores.records:
        assert record.value is None
        assert record.failure == scores.failures[record.key]
        assert re.search(reason, record.failure)
    assert "STS-B failed: " in str(scores) and "nan" not in str(scores)


def test_duplicate_vectors_are_counted(angles):
    pairs = Pairs(["0 a", "0 b", "90 c"], ["45 d", "0 e", "10 f"], [3.0, 5.0, 1.0], "toy")
    (record, *_) = evaluate(angles, pairs).records
    assert record.duplicates == 3
    assert evaluate(RandomEncoder(), pairs).records[0].duplicates == 0


def test_scores_travel_through_json(angles, sts_folder, tmp_path):
    scores = evaluate(Broken(angles, with_nan), "sts", data=sts_folder, tasks=["STS-B"])
    scores.records.extend(evaluate(angles, "geometry", data=sts_folder).records)
    scores.to_json(tmp_path / "scores.json")
    content = json.loads((tmp_path / "scores.json").read_text())
    assert content["scores"] == scores.scores
    assert content["failures"].keys() == {"STS-B"}
    assert len(content["records"]) == len(scores.records)
    back = read_scores(tmp_path / "scores.json")
    assert back.records == scores.records and back.scores == scores.scores


def test_a_notebook_shows_the_same_table(angles, sts_folder):
    scores = evaluate(angles, "sts", sts_folder)
    html = scores._repr_html_()
    rows = [[cell.text for cell in row] for row in ElementTree.fromstring(f"<div>{html}</div>").iter("tr")]
    assert [row[:4] for row in rows[1:]] == [["STS-B", "test", "1379", "spearman"]]
    assert "<p>STS12 did not run: " in html and "no average: only STS-B" in html
    failing = Scores([Record("<b>", "spearman", failure="a < b", key="<b>")])._repr_html_()
    assert "&lt;b&gt;" in failing and "a &lt; b" in failing and "<b>" not in failing


def test_the_records_are_a_data_frame(angles, sts_folder):
    scores = evaluate(angles, ["sts", "geometry"], sts_folder, ["STS-B", "uniformity"])
    frame = scores.to_frame()
    assert len(frame) == len(scores.records)
    headlines = frame[frame.key != ""].set_index("key")
    assert headlines.value.to_dict() == scores.scores
    assert headlines.loc["uniformity", "split"] == "dev"
    row = headlines.loc["STS-B"]
    assert (row.low, row.high) == scores.records[0].interval and row.low <= row.value
    assert Scores([]).to_frame().columns.tolist() == frame.columns.tolist()


# ------------------------------------------------------------------------------------- suites, pairs, options


def test_a_suite_is_an_object_with_options_or_a_name(angles, sts_folder):
    """A suite is an object with options or a name whose options are passed on."""
    by_name = evaluate(angles, "sts", sts_folder, ["STS-B"], seed=3).records
    by_object = evaluate(angles, STS(seed=3), sts_folder, ["STS-B"]).records
    assert [r.interval for r in by_name] == [r.interval for r in by_object] and by_name[0].seed == 3
    both = evaluate(angles, [STS(), "geometry"], sts_folder, ["STS-B", "alignment"], split="test")
    assert [(record.key, record.split) for record in both.records if record.key] == [
        ("STS-B", "test"),
        ("alignment", "test"),
    ]


# ---------------------------------------------------------------------------------------------- the cache


def test_cached_vectors_give_the_same_scores_without_encoding(angles, pairs, tmp_path):
    first = evaluate(angles, pairs, cache=tmp_path)
    again = evaluate(angles, pairs, cache=tmp_path)
    assert len(angles.calls) == 1
    assert again.scores == first.scores


def test_the_number_of_cut_sentences_is_recorded(angles, pairs, tmp_path):
    """The number of cut sentences is recorded and kept with the vectors."""
    assert evaluate(angles, pairs).records[0].truncated is None
    angles.last_truncation, angles.max_length = SimpleNamespace(cut=3), 16
    evaluate(angles, pairs, cache=tmp_path)
    angles.last_truncation = SimpleNamespace(cut=99)
    (record, *_) = evaluate(angles, pairs, cache=tmp_path).records
    assert (record.truncated, record.max_length) == (3, 16)


def test_other_weights_pooling_or_sentences_are_not_confused(angles, pairs, tmp_path):
    evaluate(angles, pairs, cache=tmp_path)
    evaluate(angles, pairs.rows(range(10)), cache=tmp_path)
    angles.pooling = "other"
    evaluate(angles, pairs, cache=tmp_path)
    angles.weights_hash = lambda: "other weights"
    evaluate(angles, pairs, cache=tmp_path)
    assert len(angles.calls) == 4


DAMAGE = {
    "flipped": lambda content: content[:-3] + bytes([content[-3] ^ 1]) + content[-2:],
    "cut": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "no tensors": lambda content: b"version https://git-lfs.github.com/spec/v1\n",
    "nested": lambda content: (8 + 50_000).to_bytes(8, "little") + b"[" * 50_008,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_cache_is_named_and_computed_again(damage, angles, pairs, tmp_path):
    first = evaluate(angles, pairs, cache=tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_bytes(DAMAGE[damage](file.read_bytes()))
    with pytest.warns(UserWarning, match=rf"{file.name}.*; the vectors are computed again"):
        again = evaluate(angles, pairs, cache=tmp_path)
    assert len(angles.calls) == 2 and again.scores == first.scores
    assert evaluate(angles, pairs, cache=tmp_path).scores == first.scores and len(angles.calls) == 2


def test_sentences_with_line_ends_are_not_confused(tmp_path):
    encoder = make_encoder()
    for sentences in (["a\nb", "c"], ["a", "b\nc"]):
        encode_distinct(encoder, sentences, cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


# ----------------------------------------------------------------------------------------------- geometry


def test_the_geometry_suite_measures_pairs_above_four(angles):
    """The geometry suite measures pairs above four and sentences of both sides."""
    pairs = Pairs(["0 a", "10 b", "20 c"], ["60 d", "40 e", "25 f"], [5.0, 4.0, 4.5], "toy", "test")
    scores = evaluate(angles, "geometry", data=pairs)
    vectors = angles.encode(pairs.sentences)
    expected = {measure.__name__: measure(vectors) for measure in MEASURES}
    expected["alignment"] = alignment(vectors[[0, 2]], vectors[[3, 5]])
    assert scores.scores == pytest.approx(expected, rel=1e-5)
    rows = {record.metric: record.rows for record in scores.records}
    assert rows["alignment"] == 2 and rows["uniformity"] == 6
    (record, *_) = evaluate(angles, Geometry(threshold=4.6), pairs).records
    assert (record.metric, record.rows) == ("alignment", 1) and "gold > 4.6" in record.protocol


def test_the_geometry_of_a_corpus_has_no_alignment(angles, tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("0 a\n30 b\n90 c\n")
    from_file = evaluate(angles, "geometry", data=path)
    from_list = evaluate(angles, "geometry", data=["0 a", "30 b", "90 c"])
    for held in (pandas.Series(["0 a", "30 b", "90 c"]), pandas.DataFrame({"x": ["0 a", "30 b", "90 c"]})):
        assert evaluate(angles, "geometry", data=held).scores == from_list.scores
    table = pandas.DataFrame({"sentence1": ["0 a", "5 d"], "sentence2": ["30 b", "90 c"], "score": [5, 0]})
    assert evaluate(angles, "geometry", data=table).scores["alignment"] > 0
    assert from_file.scores == from_list.scores
    assert "alignment" not in from_file.scores
    assert from_file.missing == {"alignment": "corpus.txt has no pairs with a score above 4"}


def test_the_geometry_is_that_of_sts_b_dev_unless_another_split(angles, sts_folder):
    """The geometry is that of sts b dev unless another split is asked for."""
    for options, split, rows in (({}, "dev", 3000), ({"split": "test"}, "test", 2758)):
        scores = evaluate(angles, "geometry", sts_folder, ["uniformity"], **options)
        (record,) = scores.records
        assert (record.task, record.split, record.rows) == ("STS-B", split, rows)
        assert str(scores).splitlines()[1].split()[:3] == ["uniformity", split, str(rows)]
    assert evaluate(RandomEncoder(), "geometry", "world", ["mean_cosine"]).records[0].task == "world-sts"


def test_a_large_corpus_is_sampled_and_says_so(angles, monkeypatch):
    from cselab.evaluators import geometry as geometry_suite

    sentences = [f"{row} degrees" for row in range(50)]
    exact = evaluate(angles, "geometry", data=sentences).scores["uniformity"]
    monkeypatch.setattr(geometry_suite, "EXACT_UP_TO", 49)
    scores = evaluate(angles, "geometry", data=sentences)
    (record,) = [record for record in scores.records if record.metric == "uniformity"]
    assert "drawn at random" in record.protocol
    assert record.value == pytest.approx(exact, abs=5 * record.standard_error)


def test_a_prompt_is_put_before_every_sentence(tmp_path):
    """A prompt is put before every sentence and named in the record."""
    encoder = make_encoder()
    encoder.prompts = {"query": "this cat sees ", "plain": ""}
    texts = make_sentences(24)
    pairs = Pairs(texts[:12], texts[12:], [float(row % 6) for row in range(12)], "toy", "test")
    one, two = ([f"this cat sees {text}" for text in side] for side in (pairs.sentences1, pairs.sentences2))
    prompted = replace(pairs, sentences1=one, sentences2=two)
    by_name = evaluate(encoder, pairs, prompt_name="query", cache=tmp_path)
    assert by_name.scores == evaluate(encoder, prompted).scores != evaluate(encoder, pairs, cache=tmp_path).scores
    assert by_name.records[0].encoder == "tiny, prompt query"
    assert evaluate(encoder, pairs, prompt_name="query", cache=tmp_path).scores == by_name.scores
    with pytest.raises(ValueError, match="unknown prompt 'passage'; tiny has"):
        evaluate(encoder, pairs, prompt_name="passage")
