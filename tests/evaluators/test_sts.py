import random

import numpy as np
import pytest
from scipy import stats

from cselab.data import Pairs, load_sts
from cselab.evaluators import evaluate
from cselab.evaluators.sts import AGGREGATIONS, OwnPairs, StsTask, strata
from cselab.evaluators.vectors import Encoded, Scorer
from cselab.metrics import DegenerateEmbeddings


def subset_pairs():
    """Three subsets of 4, 6 and 10 pairs, whose similarities a scorer draws at random."""
    subsets = ["a"] * 4 + ["b"] * 6 + ["c"] * 10
    generator = np.random.default_rng(0)
    gold = generator.uniform(0, 5, size=20)
    rows = [str(row) for row in range(20)]
    return Pairs(rows, [row + "'" for row in rows], list(gold), "toy", "test", subsets), generator.normal(size=20)


@pytest.fixture
def measured():
    """Pairs, predictions, and the records of the task in the "all" aggregation."""
    pairs, predicted = subset_pairs()
    return pairs, predicted, StsTask(pairs, "toy").measure(Scorer(lambda first, second: predicted)).records


def value_of(records, metric, aggregation="", subset=""):
    found = [r for r in records if (r.metric, r.aggregation, r.subset) == (metric, aggregation, subset)]
    assert len(found) == 1
    return found[0].value


@pytest.mark.parametrize("metric", ["spearman", "pearson"])
def test_aggregations_are_what_their_names_say(measured, metric):
    pairs, predicted, records = measured
    gold, subsets = np.array(pairs.scores), np.array(pairs.subsets)
    of = {"spearman": stats.spearmanr, "pearson": stats.pearsonr}[metric]
    each = {s: 100 * of(predicted[subsets == s], gold[subsets == s]).statistic for s in "abc"}
    assert value_of(records, metric, "all") == pytest.approx(100 * of(predicted, gold).statistic)
    assert value_of(records, metric, "mean") == pytest.approx(sum(each.values()) / 3)
    weighted = (4 * each["a"] + 6 * each["b"] + 10 * each["c"]) / 20
    assert value_of(records, metric, "weighted_mean") == pytest.approx(weighted)
    for subset in "abc":
        assert value_of(records, metric, subset=subset) == pytest.approx(each[subset])


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_the_suite_hands_its_aggregation_to_its_tasks(aggregation, measured):
    pairs, predicted, records = measured
    for scores in (
        evaluate(lambda first, second: predicted, pairs, aggregation=aggregation),
        evaluate(lambda first, second: predicted, OwnPairs(pairs, aggregation)),
    ):
        assert scores.scores == {"toy": pytest.approx(value_of(records, "spearman", aggregation))}
        (headline,) = [record for record in scores.records if record.key]
        assert (headline.metric, headline.aggregation) == ("spearman", aggregation)
        assert headline.interval[0] < headline.value < headline.interval[1]
    assert len({value_of(records, "spearman", each) for each in AGGREGATIONS}) == 3


def test_a_set_without_subsets_has_one_number_a_metric():
    pairs, predicted = subset_pairs()
    whole = Pairs(pairs.sentences1, pairs.sentences2, pairs.scores, "toy")
    records = StsTask(whole, "toy", "mean").measure(Scorer(lambda first, second: predicted)).records
    assert [(record.metric, record.aggregation) for record in records] == [("spearman", ""), ("pearson", "")]


def test_records_say_what_was_measured(measured):
    pairs, _, records = measured
    assert {(r.task, r.split, r.data_hash, r.provenance, r.protocol) for r in records} == {
        ("toy", "test", pairs.hash, "not checked", "scored without vectors")
    }
    assert [record.rows for record in records if record.subset == "b"] == [6, 6]


def test_a_subset_that_cannot_be_correlated_fails_alone():
    """A subset that cannot be correlated fails alone with the means built on it."""
    pairs, predicted = subset_pairs()
    predicted = predicted.copy()
    predicted[:4] = 0.5
    records = StsTask(pairs, "toy").measure(Scorer(lambda first, second: predicted)).records
    failed = {(r.aggregation, r.subset) for r in records if r.failure}
    assert failed == {("mean", ""), ("weighted_mean", ""), ("", "a")}
    assert all("all the same" in record.failure for record in records if record.failure)


def test_similarities_that_are_all_the_same_are_a_failure():
    """Similarities that are all the same are a failure of the task."""
    pairs, _ = subset_pairs()
    with pytest.raises(DegenerateEmbeddings, match="the 20 predictions are all the same"):
        StsTask(pairs, "toy").measure(Scorer(lambda first, second: np.ones(20)))


def test_the_similarity_is_the_cosine():
    pairs = Pairs(["e1", "e1", "e1"], ["e1", "e2", "both"], [5.0, 0.0, 3.0])
    vectors = np.array([[2.0, 0.0], [0.0, 0.5], [7.0, 7.0]])
    outcome = StsTask(pairs, "toy").outcome(Encoded(["e1", "e2", "both"], vectors))
    assert outcome.predicted == pytest.approx([1.0, 0.0, np.sqrt(0.5)])


def test_word_overlap_scores_the_real_sets(real_data):
    """Word overlap scores the real sets as the literature knows."""
    from cselab.evaluators import word_overlap

    task = StsTask(load_sts("STS-B", real_data), "STS-B")
    assert task.measure(Scorer(word_overlap)).records[0].value == pytest.approx(51.8, abs=0.05)


@pytest.mark.parametrize("sizes", [[4], [4, 6], [4, 6, 10, 3, 7], [1, 1, 1, 1, 1, 20], [30, 2, 2, 2, 2, 2, 2]])
def test_the_shares_of_any_number_of_subsets_sum_to_one(sizes):
    subsets = [f"s{number}" for number, size in enumerate(sizes) for _ in range(size)]
    random.Random(0).shuffle(subsets)
    for aggregation, expected in (
        ("weighted_mean", [size / sum(sizes) for size in sizes]),
        ("mean", [1 / len(sizes)] * len(sizes)),
    ):
        found = strata(subsets, aggregation)
        assert sorted(share for _, share in found) == pytest.approx(sorted(expected))
        assert sum(share for _, share in found) == pytest.approx(1)
        assert sorted(row for rows, _ in found for row in rows.tolist()) == list(range(len(subsets)))
