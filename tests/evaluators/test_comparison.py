"""Whole evaluations compared, and refused where they were not measured alike."""

import numpy as np
import pytest
from drawn import noisy as drawn_noisy

from cselab.evaluators import Scores, compare
from cselab.evaluators.records import Outcome


def noisy(n=200, noise=1.0, seed=0, levels=None):
    return Outcome(*drawn_noisy(n, noise, seed, levels), [(np.arange(n), 1.0)])


def classified(right, gold=None, folds=1, **about):
    """An outcome that is right where it is said to be; the true classes are 0, 1, 2, 0, ..."""
    gold = np.arange(len(right)) % 3 if gold is None else gold
    predicted = np.where(right, gold, (gold + 1) % 3)
    strata = [(rows, 1 / folds) for rows in np.array_split(np.arange(len(gold)), folds)]
    return Outcome(predicted, gold, strata, **{"metrics": ("accuracy",), "protocol": "senteval", **about})


def drawn(share, n=300, seed=0):
    return np.random.default_rng(seed).random(n) < share


def test_two_encoders_are_compared_task_by_task():
    first = Scores([], outcomes={"A": noisy(), "B": noisy(seed=1)})
    second = Scores([], outcomes={"B": noisy(seed=1)})
    assert [comparison.name for comparison in compare(first, second)] == ["B"]
    with pytest.raises(ValueError, match=r"nothing to compare: .*cselab ties"):
        compare(first, Scores([]))


def test_comparisons_are_a_table_for_pandas_and_for_a_notebook():
    first = noisy()
    second = Outcome(-first.predicted, first.gold, first.strata)
    found = compare(Scores([], outcomes={"A": first}), Scores([], outcomes={"A": second}))
    (row,) = found.to_frame().to_dict("records")
    (one,) = found
    assert (row["name"], row["difference"], row["p_value"]) == ("A", one.difference, one.p_value)
    assert (row["low"], row["high"]) == one.interval and str(found) == str(one)
    assert "paired bootstrap" in found._repr_html_()


@pytest.mark.parametrize(
    "other, message",
    [
        (classified(drawn(0.7, 290)), r"CR: .* same rows, not 300 rows and 290 rows"),
        (classified(drawn(0.7), data_hash="ab" * 32), r"not 300 rows and 300 rows of data abababababab$"),
        (classified(drawn(0.7), protocol="lbfgs"), r"CR: .* same protocol, not 'senteval' and 'lbfgs'"),
        (classified(drawn(0.7), folds=2), r"same folds or subsets, not 1 of 300 rows and 2 of 150/150 rows"),
    ],
)
def test_other_rows_protocols_or_folds_are_not_compared(other, message):
    """Other rows protocols or folds are not compared and both are named."""
    one = classified(drawn(0.7))
    with pytest.raises(ValueError, match=message):
        compare(Scores([], outcomes={"CR": one}), Scores([], outcomes={"CR": other}))


def test_an_outcome_is_scored_by_its_own_metrics_only():
    with pytest.raises(ValueError, match=r"unknown metric 'spearman'.* Choose one of accuracy"):
        classified(drawn(0.5)).score("spearman")
    with pytest.raises(ValueError, match=r"unknown metric 'accuracy'.* Choose one of spearman, pearson"):
        noisy().interval("accuracy")
    scores = Scores([], outcomes={"A": noisy()})
    with pytest.raises(ValueError, match="metric is 'kendall'; expected 'spearman' or 'pearson'"):
        compare(scores, scores, "kendall")
    for sides in ((1, scores), (scores, scores.scores)):
        with pytest.raises(TypeError, match="; expected the Scores of evaluate, or the result of"):
            compare(*sides)


def test_sts_and_transfer_tasks_are_compared_together():
    """Sts and transfer tasks are compared together each by its own tests."""
    first = Scores([], outcomes={"A": noisy(), "CR": classified(drawn(0.6))})
    second = Scores([], outcomes={"A": noisy(), "CR": classified(drawn(0.8, seed=1))})
    found = compare(first, second)
    assert [(comparison.name, comparison.test) for comparison in found] == [
        ("A", "paired bootstrap"),
        ("CR", "paired bootstrap"),
        ("CR", "McNemar's exact test"),
    ]
    assert found[1].difference == pytest.approx(found[2].difference) and found[1].difference > 0
