from collections import Counter

import numpy as np
import pytest

from cselab.evaluators import RandomEncoder, compare, evaluate, word_overlap
from cselab.evaluators.transfer import PROTOCOLS
from cselab.evaluators.world import PROBE_ROWS, WorldTransfer, world_labelled, world_topics

TRANSFER = ("World-Topic", "World-Sentiment", "World-Question", "World-Subjectivity", "World-Paraphrase")


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch):
    monkeypatch.setenv("CSELAB_DATA", "")


def test_the_world_and_the_classroom_are_scored():
    """The world and the classroom are scored without a data folder."""
    scores = evaluate(word_overlap, "world")
    assert list(scores.scores) == ["World-STS", "Classroom-STS"]
    assert {(r.split, r.provenance) for r in scores.records} == {("test", "bundled")}
    assert [r.rows for r in scores.records if r.key] == [1200, 322]
    assert not any(r.subset or r.failure for r in scores.records)
    (dev, *_) = evaluate(word_overlap, "world", tasks=["Classroom-STS/dev"]).records
    assert dev.split == "dev" and dev.data_hash not in {r.data_hash for r in scores.records}


# ------------------------------------------------------------------------------------ transfer


class Oracle:
    """An encoder that knows the class of every sentence of a task, and points in its direction."""

    def __init__(self, *parts):
        self.classes = {text: label for rows in parts for text, label in zip(rows.texts, rows.labels, strict=True)}
        self.width = len(parts[0].classes)

    def encode(self, sentences):
        return np.eye(self.width, dtype=np.float32)[[self.classes[sentence] for sentence in sentences]]


def test_the_world_has_five_transfer_tasks():
    """The world has five transfer tasks of balanced classes whose splits are apart."""
    assert WorldTransfer.tasks == TRANSFER
    for task in TRANSFER:
        splits = [world_labelled(task, split) for split in PROBE_ROWS]
        assert [(rows.name, rows.split, len(rows)) for rows in splits] == [
            (task, split, n) for split, n in PROBE_ROWS.items()
        ]
        for rows in splits:
            counts = Counter(rows.labels)
            assert len(counts) == len(rows.classes) and max(counts.values()) - min(counts.values()) <= 1
        train, dev, test = (set(zip(r.sentences, r.sentences2 or r.sentences, strict=True)) for r in splits)
        allowed = 3 if task == "World-Question" else 0  # "Who slept?" may be asked of two stories
        assert len(train & test) + len(train & dev) + len(dev & test) <= allowed


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_encoder_that_knows_the_classes_is_right_everywhere(protocol):
    """An encoder that knows the classes is right everywhere by each protocol."""
    oracle = Oracle(*(world_labelled("World-Question", split) for split in PROBE_ROWS))
    scores = evaluate(oracle, "world-transfer", tasks=["World-Question"], protocol=protocol)
    assert scores.scores == {"World-Question": 100.0}
    headline, dev = scores.records
    assert (headline.metric, headline.split, headline.rows, headline.protocol) == (
        "accuracy",
        "test",
        PROBE_ROWS["test"],
        protocol,
    )
    assert (dev.split, dev.rows, dev.value) == ("dev", PROBE_ROWS["dev"], 100.0)
    assert {record.provenance for record in scores.records} == {"bundled"}


def test_two_encoders_are_compared_on_the_rows():
    """Two encoders are compared on the rows of a transfer task."""
    tasks = ["World-Question"]
    oracle = Oracle(*(world_labelled("World-Question", split) for split in PROBE_ROWS))
    first, second, other = (
        evaluate(encoder, "world-transfer", tasks=tasks, protocol=protocol)
        for encoder, protocol in ((RandomEncoder(), "senteval-fast"), (oracle, "senteval-fast"), (oracle, "senteval"))
    )
    for comparison in compare(first, second):
        assert comparison.difference == pytest.approx(100 - first.scores["World-Question"])
        assert comparison.interval[0] > 50 and comparison.samples == PROBE_ROWS["test"]
    with pytest.raises(ValueError, match=r"World-Question: .*not 'senteval-fast' and 'senteval'"):
        compare(first, other)


# ------------------------------------------------------------------------------------ clustering


def test_the_topics_of_the_world_are_clustered():
    rows = world_topics()
    scores = evaluate(Oracle(rows), "world-clustering", seeds=[3, 4])
    assert scores.scores == {"World-Clustering": 100.0}
    assert [record.metric for record in scores.records] == ["accuracy", "nmi"]
    assert {(r.protocol, r.split, r.rows, r.provenance) for r in scores.records} == {
        ("mean of 2 k-means, one start each", "test", len(rows), "bundled")
    }


# ------------------------------------------------------------------------------------ all together


def test_tasks_of_several_suites_of_the_world_are_asked():
    """Tasks of several suites of the world are asked for by name."""
    oracle = Oracle(world_topics())
    scores = evaluate(oracle, ["world", "world-transfer", "world-clustering"], tasks=["World-Clustering"])
    assert list(scores.scores) == ["World-Clustering"]


def test_a_function_of_pairs_has_what_it_can_score():
    """A function of pairs has what it can score and says what it cannot."""
    scores = evaluate(word_overlap, ["world", "world-clustering"])
    assert list(scores.scores) == ["World-STS", "Classroom-STS"]
    assert scores.missing.keys() == {"World-Clustering"}
    assert "World-Clustering did not run: this task needs sentence vectors" in str(scores)
