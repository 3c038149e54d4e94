import pytest

from cselab.evaluators import RandomEncoder, evaluate, word_overlap


def test_the_world_and_the_classroom_are_scored_without_a_data_folder(monkeypatch):
    monkeypatch.setenv("CSELAB_DATA", "")
    scores = evaluate(word_overlap, "world")
    assert list(scores.scores) == ["World-STS", "Classroom-STS"]
    assert {(r.split, r.provenance) for r in scores.records} == {("test", "embedded")}
    assert [r.rows for r in scores.records if r.key] == [1200, 322]
    assert not any(r.subset or r.failure for r in scores.records)


def test_words_say_something_of_the_world_and_chance_says_nothing():
    assert min(evaluate(word_overlap, "world").scores.values()) > 20
    assert list(evaluate(RandomEncoder(), "world").scores.values()) == pytest.approx([0, 0], abs=12)


def test_the_dev_splits_are_tasks_of_their_own():
    test = evaluate(word_overlap, "world", tasks=["Classroom-STS"]).records[0]
    dev = evaluate(word_overlap, "world", tasks=["Classroom-STS/dev"]).records[0]
    assert (test.key, dev.key, dev.split) == ("Classroom-STS", "Classroom-STS/dev", "dev")
    assert test.data_hash != dev.data_hash
