"""The clustering suite on synthetic vectors and files."""

from dataclasses import replace

import numpy as np
import pytest

from cselab.data import MissingFile
from cselab.data.classification import Labelled
from cselab.data.clustering import CLUSTERING_SIZES, FILES
from cselab.evaluators.clustering import Clustering, ClusteringTask, k_means
from cselab.evaluators.vectors import Encoded
from cselab.metrics.degenerate import DegenerateEmbeddings


def blobs(per_class, classes, spread, d=8, seed=0):
    random = np.random.default_rng(seed)
    labels = np.repeat(np.arange(classes), per_class)
    centres = 10 * random.normal(size=(classes, d))
    return (centres[labels] + spread * random.normal(size=(len(labels), d))).astype(np.float32), labels


def task_of(labels):
    texts = [f"text {n}" for n in range(len(labels))]
    classes = tuple(str(n) for n in range(max(labels) + 1))
    return ClusteringTask(Labelled(texts, list(map(int, labels)), classes, name="Blobs", split="all"))


def encoded(task, vectors):
    return Encoded(task.sentences, vectors)


@pytest.mark.parametrize("classes", [2, 5, 12])
def test_classes_far_apart_are_recovered_entirely(classes):
    vectors, labels = blobs(20, classes, spread=0.1)
    task = task_of(labels)
    records = {record.metric: record for record in task.measure(encoded(task, vectors)).records}
    assert records["accuracy"].value == 100.0
    assert records["nmi"].value == pytest.approx(100)
    assert records["accuracy"].interval[0] < 100 and records["accuracy"].interval[1] == pytest.approx(100)


def test_the_record_says_what_was_measured():
    """The record says what was measured and only accuracy is a score."""
    vectors, labels = blobs(10, 3, spread=0.1)
    task = task_of(labels)
    records = task.measure(encoded(task, vectors)).records
    assert [record.key for record in records] == ["Blobs", ""]
    for record in records:
        assert record.task == "Blobs" and record.rows == 30
        assert record.protocol == "mean of 10 k-means, one start each" and record.seed == 0
        assert record.data_hash == task.rows.hash


def test_a_score_is_the_mean_over_seeds():
    """A score is the mean over seeds and its interval holds their spread."""
    vectors, labels = blobs(40, 6, spread=9.0)
    task = replace(task_of(labels), seeds=(3, 4, 5, 6))
    accuracy, nmi = task.measure(encoded(task, vectors)).records
    runs = [replace(task, seeds=(seed,)).measure(encoded(task, vectors)).records for seed in task.seeds]
    alone = [run[0].value for run in runs]
    assert len(set(alone)) > 1
    assert accuracy.value == pytest.approx(np.mean(alone))
    assert accuracy.standard_error == pytest.approx(np.std(alone, ddof=1) / 2)
    assert nmi.value == pytest.approx(np.mean([run[1].value for run in runs]))
    assert accuracy.interval[0] < accuracy.value < accuracy.interval[1]
    assert runs[0][0].standard_error is None


def test_the_same_seed_gives_the_same_clusters():
    vectors, _ = blobs(30, 4, spread=8)
    first, second, again = k_means(vectors, 6, seeds=[3, 4, 3])
    np.testing.assert_array_equal(first, again)
    assert (first != second).any()


@pytest.mark.parametrize(
    "spoil, reason",
    [
        (lambda x: np.full_like(x, np.nan), "not finite"),
        (lambda x: np.ones_like(x), "constant"),
        (lambda x: x[np.arange(len(x)) % 2], "2 different embeddings cannot make 3 clusters"),
    ],
)
def test_vectors_that_cannot_be_clustered_are_a_failure(spoil, reason):
    """Vectors that cannot be clustered are a failure with a reason."""
    vectors, labels = blobs(10, 3, spread=0.1)
    task = task_of(labels)
    with pytest.raises(DegenerateEmbeddings, match=reason):
        task.measure(encoded(task, spoil(vectors)))


def write_tweet(folder):
    rows, classes = CLUSTERING_SIZES["Tweet"]
    (folder / FILES["Tweet"]).write_text("".join(f"{n % classes}\ttext {n}\n" for n in range(rows)))


def test_a_named_set_that_is_absent_is_an_error(tmp_path):
    """A named set that is absent is an error and so is none at all."""
    with pytest.raises(MissingFile):
        Clustering().collect(tmp_path, None)
    write_tweet(tmp_path)
    with pytest.raises(MissingFile, match="AgNews"):
        Clustering().collect(tmp_path, ["Tweet", "AgNews"])
    tasks, missing = Clustering(seeds=range(7, 9)).collect(tmp_path, ["Tweet"])
    assert [task.name for task in tasks] == ["Tweet"] and missing == {} and tasks[0].seeds == (7, 8)
