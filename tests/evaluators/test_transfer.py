"""The transfer suite against a plain implementation of its protocol: one fold and one penalty at a time."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from drawn import folds_of, overlapping_classes
from numpy.testing import assert_array_equal
from sklearn.model_selection import StratifiedKFold
from torch import nn

from cselab.data import MissingFile
from cselab.data.classification import Labelled
from cselab.evaluators import evaluate
from cselab.evaluators.transfer import (
    PROTOCOLS,
    Protocol,
    Transfer,
    TransferTask,
    _choice,
    pair_features,
    stratified_folds,
    transfer,
)
from cselab.evaluators.vectors import Encoded
from cselab.metrics.linear_probes import Fold, MinibatchProbes

ADAM = MinibatchProbes("Adam", 1e-2, batch_size=8, tenacity=2, epoch_size=2, max_epochs=12)
RMSPROP = MinibatchProbes("RMSprop", 1e-2, batch_size=16, tenacity=1, epoch_size=1, max_epochs=10)
PENALTIES = (1e-3, 0.1, 1.0)


def plain_fit(x, y, classes, fold, penalty, setting):
    """One classifier, step by step: dev accuracy and the classes of the test rows."""
    draw = np.random.RandomState(setting.seed)
    with torch.random.fork_rng():
        torch.manual_seed(setting.seed)
        model = nn.Linear(x.shape[1], classes)
    optimiser = getattr(torch.optim, setting.optimiser)(
        model.parameters(), lr=setting.learning_rate, weight_decay=penalty
    )
    train, dev = fold.train, fold.dev
    if dev is None:
        order = draw.permutation(len(train))
        aside = int(setting.held_out * len(train))
        train, dev = train[order[aside:]], train[order[:aside]]
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    best, best_model, misses, epochs = -1.0, None, 0, 0
    while epochs <= setting.max_epochs:
        for _ in range(setting.epoch_size):
            order = train[draw.permutation(len(train))]
            for start in range(0, len(order), setting.batch_size):
                rows = order[start : start + setting.batch_size]
                optimiser.zero_grad()
                nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
                optimiser.step()
        epochs += setting.epoch_size
        with torch.no_grad():
            accuracy = (model(x[dev]).argmax(1) == y[dev]).double().mean().item()
        if accuracy > best:
            best, best_model = accuracy, copy.deepcopy(model)
        elif misses >= setting.tenacity:
            break
        else:
            misses += 1
    with torch.no_grad():
        return best, best_model(x[fold.test]).argmax(1).numpy()


@pytest.mark.parametrize("setting", [ADAM, RMSPROP, replace(ADAM, tenacity=100)])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_batch_equals_one_classifier_at_a_time(setting, classes):
    x, y = overlapping_classes(87, 4, classes)
    folds = folds_of(87, 4)
    assert len({-(-len(fold.train) // setting.batch_size) for fold in folds}) > 1
    penalties = np.array([[1e-4, 1e-2, 1.0]] * 3 + [[1.0, 1e-4, 1e-2]])
    probes = setting.fit(x, y, classes, folds, penalties)
    for f, fold in enumerate(folds):
        for p, penalty in enumerate(penalties[f]):
            accuracy, predicted = plain_fit(x, y, classes, fold, penalty, setting)
            assert probes.dev_accuracy[f, p] == pytest.approx(accuracy, abs=1e-7)
            assert_array_equal(probes.predicted[f][p], predicted)
    assert len(set(probes.dev_accuracy.ravel().tolist())) > 2


def test_folds_that_stop_early_leave_the_others_alone():
    """Folds that stop early leave the others their own penalty and history."""
    x, y = overlapping_classes(82, 4, 3)  # 8 steps a pass in each fold: one batch
    folds, setting = folds_of(82, 4)[::-1], replace(ADAM, tenacity=1, max_epochs=60)
    penalties = np.array([[0.3], [10.0], [1e-4], [3.0]])  # the folds stop in this order
    probes = setting.fit(x, y, 3, folds, penalties)
    for f, fold in enumerate(folds):
        accuracy, predicted = plain_fit(x, y, 3, fold, penalties[f, 0], setting)
        assert probes.dev_accuracy[f, 0] == pytest.approx(accuracy, abs=1e-7)
        assert_array_equal(probes.predicted[f][0], predicted)


def folds_by_hand(y, k):
    return list(StratifiedKFold(k, shuffle=True, random_state=1111).split(y, y))


def plain_search(x, y, classes, folds, setting):
    """The first best penalty, by mean accuracy over the folds in per cent with two digits."""
    means = []
    for penalty in PENALTIES:
        accuracies = [plain_fit(x, y, classes, Fold(train, dev, dev), penalty, setting)[0] for train, dev in folds]
        means.append(round(100 * float(np.mean(accuracies)), 2))
    return PENALTIES[means.index(max(means))], max(means)


@pytest.mark.parametrize("setting", [ADAM, RMSPROP])
@pytest.mark.parametrize(
    "k, classes, sizes",
    [(3, 2, {"all": 90}), (4, 3, {"train": 80, "test": 40}), (4, 2, {"train": 80, "dev": 30, "test": 40})],
)
def test_a_protocol_equals_one_fold_and_penalty_at_a_time(k, classes, sizes, setting):
    x, y = overlapping_classes(sum(sizes.values()), 4, classes)
    result = transfer(x, y, sizes, classes, Protocol("plain", k, PENALTIES, setting))
    if "all" in sizes:
        folds = [Fold(train, None, test) for train, test in folds_by_hand(y, k)]
    else:
        parts = np.split(np.arange(len(y)), np.cumsum(list(sizes.values()))[:-1])
        folds = [Fold(parts[0], parts[1] if "dev" in sizes else None, parts[-1])]
    predicted, penalties, accuracies, dev_accuracies = y.copy(), [], [], []
    for train, dev, test in folds:
        inner = [(train, dev)] if dev is not None else [(train[a], train[b]) for a, b in folds_by_hand(y[train], k)]
        penalty, dev_accuracy = plain_search(x, y, classes, inner, setting)
        _, predicted[test] = plain_fit(x, y, classes, Fold(train, dev, test), penalty, setting)
        penalties.append(penalty)
        dev_accuracies.append(dev_accuracy)
        accuracies.append(100 * (predicted[test] == y[test]).mean())
    tested = np.sort(np.concatenate([fold.test for fold in folds]))
    assert result.penalties == tuple(penalties)
    assert_array_equal(result.predicted, predicted[tested])
    assert result.accuracy == pytest.approx(np.mean(accuracies))
    assert result.dev_accuracy == pytest.approx(np.mean(dev_accuracies), abs=0.005)
    for found, fold in zip(result.folds, folds, strict=True):
        assert_array_equal(tested[found], fold.test)


def test_penalties_are_compared_in_per_cent_with_two_digits():
    assert _choice(np.array([0.50001, 0.50004])) == 0
    assert _choice(np.array([0.50001, 0.50011])) == 1


def test_folds_keep_every_row_once():
    """Folds keep every row once and refuse classes that are too rare."""
    rows = np.arange(100, 150)
    folds = stratified_folds(rows, np.arange(50) % 2, 5)
    assert sorted(np.concatenate([test for _, test in folds])) == rows.tolist()
    assert all(not set(train) & set(test) for train, test in folds)


def test_the_protocols_are_those_of_sentevals_settings():
    full, fast = PROTOCOLS["senteval"], PROTOCOLS["senteval-fast"]
    assert (full.folds, full.penalties) == (10, (1e-5, 1e-4, 1e-3, 1e-2))
    assert full.probes == MinibatchProbes("Adam", 1e-3, 64, tenacity=5, epoch_size=4, max_epochs=200)
    assert (fast.folds, fast.penalties) == (5, full.penalties)
    assert fast.probes == MinibatchProbes("RMSprop", 1e-2, 128, tenacity=3, epoch_size=2, max_epochs=200)


def test_features_of_a_pair_are_distance():
    """Features of a pair are distance and product by coordinate."""
    u, v = np.array([[1.0, -2.0]]), np.array([[3.0, 4.0]])
    assert pair_features(u, v).tolist() == [[2.0, 6.0, 3.0, -8.0]]


SMALL = Protocol("small", 3, (1e-3, 1e-2), ADAM)


def labelled(labels, split, pairs=False):
    sentences = [f"{split} sentence {n}" for n in range(len(labels))]
    second = [f"{split} other {n}" for n in range(len(labels))] if pairs else []
    return Labelled(sentences, [int(y) for y in labels], ("no", "yes"), "Toy", split, second)


def task_with(sizes, pairs=False):
    random = np.random.default_rng(3)
    return TransferTask(
        "Toy", {split: labelled(random.integers(2, size=n), split, pairs) for split, n in sizes.items()}, SMALL
    )


def telling(task, noise=0.3, seed=0):
    """Vectors that tell the label; those of pairs agree where the label is 1 and are opposite where it is 0."""
    random = np.random.default_rng(seed)
    sentences, vectors = [], []
    for rows in task.splits.values():
        for n, label in enumerate(rows.labels):
            sign = 2 * label - 1
            vector = random.normal(size=4) if rows.sentences2 else np.array([sign, 1.0, 0.0, 0.5])
            sentences.append(rows.sentences[n])
            vectors.append(vector + noise * random.normal(size=4))
            if rows.sentences2:
                sentences.append(rows.sentences2[n])
                vectors.append(sign * vector + noise * random.normal(size=4))
    order = random.permutation(len(sentences))
    return Encoded([sentences[i] for i in order], np.array(vectors, dtype=np.float32)[order])


@pytest.mark.parametrize(
    "sizes, pairs, tested, how",
    [
        ({"all": 90}, False, ("all", 90), "cross-validation"),
        ({"train": 90, "test": 40}, True, ("test", 40), "cross-validation"),
        ({"train": 90, "dev": 30, "test": 40}, False, ("test", 40), "dev"),
    ],
)
def test_a_task_finds_the_vectors_of_its_rows(sizes, pairs, tested, how):
    """A task finds the vectors of its rows and records what it measured."""
    task = task_with(sizes, pairs)
    records, outcome = task.measure(telling(task))
    assert [record.metric for record in records] == ["accuracy", "accuracy"] + ["f1"] * pairs
    headline, dev = records[:2]
    assert headline.key == "Toy" and not any(record.key for record in records[1:])
    assert (headline.split, headline.rows) == tested
    assert dev.split == how and dev.value > 85
    assert 85 < headline.value <= 100 and headline.interval[0] < headline.value <= headline.interval[1]
    gold = task.tested.labels
    assert outcome.gold.tolist() == gold and (outcome.protocol, outcome.data_hash) == ("small", headline.data_hash)
    assert 100 * outcome.score() == pytest.approx(headline.value)
    assert [len(rows) for rows, _ in outcome.strata] == ([30, 30, 30] if "all" in sizes else [40])
    for record in records:
        assert record.protocol == "small" and record.seed == 1111
        assert record.provenance == "not checked" and record.failure is None


def test_the_data_hash_sees_the_training_rows_too():
    task = task_with({"train": 30, "test": 10})
    changed = {**task.splits, "train": labelled([0] * 15 + [1] * 15, "train")}
    assert replace(task, splits=changed).outline()[0].data_hash != task.outline()[0].data_hash


class Broken:
    """Every vector is NaN."""

    def encode(self, sentences):
        return np.full((len(sentences), 4), np.nan, dtype=np.float32)


def write_cr(folder):
    (folder / "CR").mkdir()
    for name, rows in (("pos", 2407), ("neg", 1368)):
        (folder / "CR" / f"custrev.{name}").write_text("".join(f"{name} {n} .\n" for n in range(rows)))


def test_a_broken_encoder_has_no_score_and_absent_sets_are_named(tmp_path):
    write_cr(tmp_path)
    scores = evaluate(Broken(), "transfer", tmp_path)
    assert scores.scores == {}
    assert scores.failures == {"CR": "3775 of 3775 embeddings are not finite (NaN or Inf)"}
    assert sorted(scores.missing) == ["MPQA", "MR", "MRPC", "SST-2", "SUBJ", "TREC"]
    assert "subj.objective" in scores.missing["SUBJ"]


def test_named_sets_must_be_there_and_the_protocol_must_be_known(tmp_path):
    write_cr(tmp_path)
    tasks, missing = Transfer("senteval-fast").collect(tmp_path, ["CR"])
    assert [task.protocol.name for task in tasks] == ["senteval-fast"] and missing == {}
    with pytest.raises(MissingFile, match="rt-polarity"):
        Transfer().collect(tmp_path, ["CR", "MR"])
    with pytest.raises(MissingFile):
        Transfer().collect(tmp_path / "CR", None)
