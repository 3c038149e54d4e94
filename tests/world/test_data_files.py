"""The lexicon and the frames: enough of them, all of a piece, every word of use."""

import re
from collections import Counter, defaultdict
from itertools import combinations

from cselab.world import World
from cselab.world.lexicon import entries

WORLD = World()
NOUNS, WORDS, FRAMES = WORLD.lexicon.nouns, WORLD.lexicon.words, WORLD.frames
CLASSES = {name for frame in FRAMES.values() for role in frame.roles.values() for name, _ in role.classes}


def below(noun):
    """The nouns of a class that can be said."""
    found = {noun.name} if noun.said else set()
    for child in noun.children:
        found |= below(child)
    return found


def test_no_entry_replaces_another_of_its_name():
    for file, known in {"nouns": NOUNS, "words": WORDS, "frames": FRAMES, "verbs": WORLD.lexicon.verbs}.items():
        assert len(list(entries(f"{file}.jsonl"))) == len(known), file


def test_no_word_is_said_of_two_nouns():
    said = Counter(one for noun in NOUNS.values() if noun.said for one, _ in noun.words)
    assert [word for word, times in said.items() if times > 1] == []


def test_a_frame_names_only_what_there_is():
    for frame in FRAMES.values():
        assert frame.sayings
        for role in frame.roles.values():
            assert role.classes or role.adjectives in WORLD.lexicon.families, frame.name
            assert {name for name, _ in role.classes} <= NOUNS.keys(), frame.name
        assert set(frame.places) <= NOUNS.keys(), frame.name
        for way in frame.ways:
            family, _, only = way.partition(":")
            words = {f"{family}.{word}" for word in only.split("/")} if only else set(WORLD.lexicon.families[family])
            assert words and words <= WORDS.keys(), frame.name
        assert {frame.opposite, frame.kind_of} <= FRAMES.keys() | {""}, frame.name


def test_every_saying_of_a_frame_says_all_its_roles():
    """Every saying of a frame says all its roles and nothing unknown."""
    for frame in FRAMES.values():
        for saying in frame.sayings:
            tokens = [saying.subject, *saying.rest]
            assert {token for token in tokens if re.fullmatch("[A-Z]", token)} == frame.roles.keys(), frame.name
            assert all(re.fullmatch(r"[A-Z]|[a-z' |-]+", token) for token in tokens), frame.name
            assert all(re.fullmatch(r"[a-z_-]+", verb) for verb in saying.verbs), frame.name


def test_opposites_are_mutual_and_of_one_topic():
    for frame in FRAMES.values():
        if frame.opposite:
            assert FRAMES[frame.opposite].opposite == frame.name
            assert FRAMES[frame.opposite].topic == frame.topic
    for word in WORDS.values():
        assert not word.opposite or WORDS[word.opposite].opposite == word.name


def test_broader_events_and_times_exist():
    for frame in FRAMES.values():
        assert not frame.kind_of or FRAMES[frame.kind_of].roles.keys() == frame.roles.keys()
    assert all(not word.within or word.within in WORDS for word in WORDS.values())


def test_no_two_frames_can_say_the_same_sentence():
    """Else one text would have two meanings, two splits, and a pair of equal texts a low grade."""

    def fillers(role):
        if role.adjectives:
            return {word for name in WORLD.lexicon.families[role.adjectives] for word in WORDS[name].words}
        return {one for name, _ in role.classes for noun in below(NOUNS[name]) for one, _ in NOUNS[noun].words}

    sayings = defaultdict(list)
    for frame in FRAMES.values():
        for saying in frame.sayings:
            for verb in saying.verbs:
                tokens = [saying.subject, verb.replace("_", " "), *saying.rest]
                shape = " ".join("_" if token in frame.roles else token for token in tokens)
                roles = [frame.roles[token] for token in tokens if token in frame.roles]
                sayings[shape].append((frame.name, [fillers(role) for role in roles]))
    clashes = [
        (shape, first, second)
        for shape, said in sayings.items()
        for (first, ours), (second, theirs) in combinations(said, 2)
        if first != second and all(one & other for one, other in zip(ours, theirs, strict=True))
    ]
    assert clashes == []


def test_names_are_told_apart_by_their_short_forms():
    called = {noun.name: [name for name, _ in noun.words] for noun in WORLD.lexicon.names}
    assert len(called) >= 100
    assert max(Counter(name for names in called.values() for name in names).values()) == 1
    assert called["Anna Keller"] == ["Anna Keller", "Anna", "Ms Keller"]
    assert WORLD.lexicon.nouns["Anna Keller"].parent.name == "woman"
