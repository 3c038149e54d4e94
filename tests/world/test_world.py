"""What the world hands out: repeatable, balanced, true to its labels, and no story in two splits."""

import json
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict

import numpy as np
import pytest

from cselab.data import Pairs
from cselab.world import World, changes
from cselab.world.grammar import QUESTION_KINDS
from cselab.world.meaning import SPLIT_PERCENTILES
from cselab.world.world import PAIR_KINDS, TASKS, overlap

WORLD = World(seed=0)


@pytest.fixture(scope="module")
def many():
    """Many sentences: seconds, which nobody waits for who only collects the tests."""
    return WORLD.sentences(20_000)


@pytest.fixture(scope="module")
def sts():
    return WORLD.sts(600, "test")


@pytest.fixture
def nothing_kept(monkeypatch):
    monkeypatch.setattr("cselab.world.world.kept_pairs", lambda split: [])


def test_many_sentences_are_distinct_and_of_their_split(many):
    assert len({sentence.text for sentence in many}) == 20_000
    assert {sentence.meaning.split for sentence in many} == {"train"}
    assert World(seed=1).sentences(50) != many[:50]


def test_every_topic_has_its_share_of_the_sentences(many):
    topics = Counter(WORLD.frames[sentence.meaning.frame].topic for sentence in many)
    assert topics.keys() == set(WORLD.topics)
    assert min(topics.values()) > 0.5 * max(topics.values())


def test_one_text_has_one_story(many):
    stories = defaultdict(set)
    for sentence in many:
        stories[sentence.text].add(sentence.meaning.story)
    assert max(map(len, stories.values())) == 1


def test_rows_may_hold_labels_of_the_sentence_as_text(many):
    rows = WORLD.rows(("sentence", "topic", "sentiment"), 240)
    assert 10 < len({topic for _, topic, _ in rows} & set(WORLD.topics)) == len({topic for _, topic, _ in rows})
    assert {feeling for _, _, feeling in rows} == {"positive", "negative"}
    of_text = {sentence.text: sentence.meaning for sentence in many}
    known = [(of_text[text], topic, feeling) for text, topic, feeling in rows if text in of_text]
    assert len(known) >= 10
    for meaning, topic, feeling in known:
        assert topic == WORLD.frames[meaning.frame].topic
        assert WORLD.feeling(meaning) == {"positive": 1, "negative": -1}[feeling]


def test_the_same_seed_gives_the_same_in_another_process(many):
    code = """if True:
        import json
        from cselab.world import World
        world = World(0)
        print(json.dumps([
            [str(s) for s in world.sentences(30)],
            world.sts(60, "test").sentences1,
            [[str(s) for s in d] for d in world.documents(3)],
            world.transfer("question", 20).sentences,
            [float(x) for x in world.scene_vector(world.sentences(1)[0].meaning)],
        ]))"""
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        for seed in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout
    assert json.loads(runs[0].stdout)[0] == [str(sentence) for sentence in many[:30]]


def test_splits_have_their_shares():
    shares = Counter(sentence.meaning.split for sentence in _any_split(5_000))
    assert shares["train"] / 5_000 == pytest.approx(0.8, abs=0.02)
    assert shares["dev"] / 5_000 == pytest.approx(0.1, abs=0.02)


def _any_split(n):
    rng = random.Random(0)
    frames = list(WORLD.frames.values())
    return [WORLD.say(WORLD.composer.compose(rng.choice(frames), rng), rng) for _ in range(n)]


def test_no_text_and_no_story_is_in_two_splits(many):
    texts = {sentence.text for sentence in many}
    stories = {sentence.meaning.story for sentence in many}
    for split in ("dev", "test"):
        others = WORLD.sentences(2000, split)
        assert {sentence.meaning.split for sentence in others} == {split}
        assert not texts & {sentence.text for sentence in others}
        assert not stories & {sentence.meaning.story for sentence in others}


def test_pairs_and_labels_stay_in_their_split(many, sts):
    train = {sentence.text for sentence in many}
    rng = random.Random(0)
    for split in ("dev", "test"):
        for kind in 50 * [(5, "same", "apart"), (2, "negation", "alike")]:
            assert {sentence.meaning.split for sentence in WORLD.pair(*kind, split, rng)} == {split}
        for task in TASKS:
            assert not train & set(WORLD.transfer(task, 100, split).texts)
    assert not train & set(sts.sentences)


def test_details_denial_and_roles_leave_a_story_in_its_split(many, sts):
    rng = random.Random(0)
    for sentence in many[:300]:
        for change in (changes.negation, changes.roles, changes.number, changes.less, changes.more, changes.moved):
            changed = change(WORLD.composer, sentence.meaning, rng)
            assert changed is None or changed.split == sentence.meaning.split


# ---- sts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("split", ["dev", "test"])
def test_the_kept_pairs_are_those_that_the_world_draws(split, request):
    """The pairs that are kept in a file are those that the world draws."""
    kept = WORLD.sts(1200, split)
    request.getfixturevalue("nothing_kept")
    assert WORLD.sts(1200, split) == kept


def test_sts_pairs_are_pairs_balanced_over_the_grades(sts):
    assert isinstance(sts, Pairs)
    assert (sts.name, sts.split, len(sts)) == ("world-sts", "test", 600)
    assert Counter(sts.scores) == {float(grade): 100 for grade in range(6)}
    assert all(one != two for one, two in zip(sts.sentences1, sts.sentences2, strict=True))


def test_every_kind_of_pair_comes_with_its_grade(sts):
    found = set(zip(sts.scores, sts.subsets, strict=True))
    assert found == {(float(grade), kind[0]) for grade, kinds in PAIR_KINDS.items() for kind in kinds}


# ---- what is true of the labels ----------------------------------------------------------------------------


def test_paraphrases_say_one_meaning_in_different_words():
    rng = random.Random(0)
    pairs = [WORLD.pair(5, "same", "apart", "train", rng) for _ in range(200)]
    assert all(one.meaning == two.meaning and one.text != two.text for one, two in pairs)
    assert np.mean([overlap(pair) for pair in pairs]) < 0.45


def test_negations_differ_in_nothing_but_the_denial():
    rng = random.Random(0)
    for _ in range(200):
        one, two = WORLD.pair(2, "negation", "alike", "train", rng)
        assert one.meaning.negated != two.meaning.negated
        denied = one.text if one.meaning.negated else two.text
        assert " not " in denied or "n't " in denied


@pytest.mark.parametrize("task", TASKS)
def test_transfer_sets_are_balanced_and_distinct(task):
    labelled = WORLD.transfer(task, 420)
    counts = Counter(labelled.labels)
    assert counts.keys() == set(range(len(labelled.classes)))
    assert max(counts.values()) - min(counts.values()) <= 1
    assert len(set(zip(labelled.sentences, labelled.sentences2 or labelled.sentences, strict=True))) == 420


def test_feeling_is_turned_by_a_denial(many):
    rng = random.Random(0)
    felt = [sentence.meaning for sentence in many[:3000] if WORLD.feeling(sentence.meaning)]
    assert len(felt) > 300
    for meaning in felt:
        denied = changes.negation(WORLD.composer, meaning, rng)
        assert denied is None or WORLD.feeling(denied) == -WORLD.feeling(meaning)


def test_questions_begin_with_what_they_ask_for():
    labelled = WORLD.transfer("question", 300)
    begins = {
        "person": ("Who",),
        "thing": ("What", "Which"),
        "place": ("Where",),
        "time": ("When",),
        "number": ("How many",),
    }
    for text, label in zip(labelled.sentences, labelled.labels, strict=True):
        assert text.endswith("?")
        kind = QUESTION_KINDS[label]
        wh = tuple(word for words in begins.values() for word in words)
        assert text.startswith(begins[kind]) if kind in begins else not text.startswith(wh)


def test_clusters_are_the_topics():
    clusters = WORLD.clustering(420)
    assert len(clusters.classes) >= 12
    assert set(Counter(clusters.labels).values()) == {420 // len(clusters.classes)}


def test_a_document_goes_on_with_its_people_and_things():
    for document in WORLD.documents(30):
        assert len(document) == 5
        assert len({WORLD.frames[sentence.meaning.frame].topic for sentence in document}) == 1
        met = {thing.noun for _, thing in document[0].meaning.roles}
        for sentence in document[1:]:
            cast = {thing.noun for _, thing in sentence.meaning.roles}
            assert cast & met
            met |= cast


def test_what_is_known_in_a_document_takes_the():
    for document in WORLD.documents(50):
        met = set()
        for sentence in document:
            for _, thing in sentence.meaning.roles:
                noun = WORLD.lexicon.nouns.get(thing.noun)
                if noun and noun.name in met and noun.kind == "count" and not thing.quality:
                    text = sentence.text.lower()[:-1].replace("lorry driver", "driver")
                    assert not any(f" a {one} " in f" {text} " for one, _ in noun.words)
            met |= {thing.noun for _, thing in sentence.meaning.roles}


def test_a_scene_is_the_same_for_every_wording(many):
    """A scene is the same for every wording and near for similar events."""
    rng = random.Random(0)
    near, far = [], []
    for sentence in many[:200]:
        scene = WORLD.scene_vector(sentence.meaning)
        assert scene.dtype == np.float32
        assert np.linalg.norm(scene) == pytest.approx(1, abs=1e-5)
        denied = changes.negation(WORLD.composer, sentence.meaning, rng)
        if denied:
            assert np.array_equal(WORLD.scene_vector(denied), scene)
        other = changes.other(WORLD.composer, sentence.meaning, rng)
        if other:
            near.append(scene @ WORLD.scene_vector(other))
        far.append(scene @ WORLD.scene_vector(rng.choice(many).meaning))
    assert np.mean(near) > 0.5 > 0.2 > np.mean(far)


@pytest.mark.parametrize("ask", [
    lambda: WORLD.sentences(1, split="validation"),
    lambda: WORLD.sts(1, split=""),
    lambda: WORLD.transfer("topic", 1, split="all"),
])  # fmt: skip
def test_an_unknown_split_is_refused_with_the_known_ones(ask):
    with pytest.raises(ValueError, match=", ".join(SPLIT_PERCENTILES)):
        ask()


def test_an_unknown_task_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="topic, sentiment, question"):
        WORLD.transfer("irony", 1)


@pytest.mark.parametrize("ask", [
    lambda: WORLD.sentences(0),
    lambda: WORLD.sts(0),
    lambda: WORLD.documents(0),
])  # fmt: skip
def test_nothing_is_refused(ask):
    with pytest.raises(ValueError, match="at least 1"):
        ask()
