"""The world: sentences whose meaning is known, and everything that can be made of them."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cselab.data import Pairs
from cselab.data.classification import Labelled
from cselab.world import changes
from cselab.world.composer import Composer
from cselab.world.frames import Frame, read_frames
from cselab.world.grammar import FORMS, QUESTIONS, Grammar, joined
from cselab.world.lexicon import Lexicon
from cselab.world.meaning import SPLITS, Meaning, Sentence, Thing
from cselab.world.rubric import Rubric

# Kinds of STS pairs by grade: what is changed, and how the two are worded: in words as "alike" as can be, "free",
# or "apart". The hard ones keep the words and turn the meaning, or keep the meaning and change the words.
# One that stands twice comes twice as often.
KINDS = {
    5: (
        ("same words", "same", "alike"),
        ("paraphrase", "same", "free"),
        *2 * [("other words", "same", "apart")],
    ),
    4: (("detail", "detail", "free"), ("detail", "detail", "apart"), ("hypernym", "hypernym", "free")),
    3: (*2 * [("other", "other", "free")], ("details", "details", "free"), ("number", "number", "alike")),
    2: (
        ("negation", "negation", "alike"),
        ("roles", "roles", "alike"),
        ("opposite", "opposite", "free"),
        ("event", "event", "free"),
    ),
    1: (*2 * [("topic", "topic", "free")], ("event", "event", "free")),
    0: (*2 * [("none", "none", "free")], ("shared words", "words", "alike")),
}
ENTAILMENT = {
    "entailment": ("same", "less", "hypernym"),
    "neutral": ("more", "other", "roles", "event"),
    "contradiction": ("negation", "negation", "opposite"),
}
TASKS = ("topic", "sentiment", "question", "subjectivity", "paraphrase")


class Entity(NamedTuple):
    """Somebody or something with a name: what kind it is, and what else it is called."""

    name: str
    kind: str
    aliases: tuple[str, ...]


class World:
    """Sentences, pairs, labels and scenes, drawn from a seed: the same seed gives the same in every process.

    Meanings are divided into train, dev and test by a hash of their story (frame and participants): however
    a story of one split is worded, denied or told in detail, it is not met in another.

    >>> world = World(seed=0)
    >>> world.sentences(3) == World(seed=0).sentences(3)
    True
    >>> pairs = world.sts(600, split="dev")
    >>> sorted(set(pairs.scores))
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    """

    def __init__(self, seed: int = 0):
        self.seed = seed
        self.lexicon, self.frames = Lexicon(), read_frames()
        self.composer = Composer(self.lexicon, self.frames)
        self.grammar = Grammar(self.lexicon, self.frames)
        self.rubric = Rubric(self.lexicon, self.frames)
        self._all = list(self.frames.values())
        self.topics = tuple(dict.fromkeys(frame.topic for frame in self.frames.values()))

    def meaning(
        self, rng: random.Random, split: str, suits: Callable[[Frame], bool] | None = None
    ) -> Meaning:
        """A random meaning of a split, of any frame that suits."""
        if split not in SPLITS:
            raise ValueError(f"unknown split {split!r}; the splits are: {', '.join(SPLITS)}")
        frames = [frame for frame in self._all if suits(frame)] if suits else self._all
        while True:
            meaning = self.composer.compose(rng.choice(frames), rng)
            if meaning.split == split:
                return meaning

    def say(self, meaning: Meaning, rng: random.Random) -> Sentence:
        """One of the sentences for a meaning."""
        return Sentence(self.grammar.say(meaning, rng), meaning)

    def sentences(self, n: int, split: str = "train") -> list[Sentence]:
        """`n` sentences, all different."""
        rng, found = self._random("sentences", split), {}
        while len(found) < n:
            sentence = self.say(self.meaning(rng, split), rng)
            found.setdefault(sentence.text, sentence)
        return list(found.values())

    def documents(self, n: int, split: str = "train", length: int = 5) -> list[list[Sentence]]:
        """`n` short texts: each sentence goes on with the people, things and place of the one before."""
        rng = self._random("documents", split)
        return [self._document(length, split, rng) for _ in range(n)]

    def _document(self, length: int, split: str, rng: random.Random) -> list[Sentence]:
        meaning = self.meaning(rng, split, lambda frame: len(frame.roles) > 1 and not frame.lasting)
        told, known, opener = [], frozenset[str](), ""
        while len(told) < length:
            meaning = replace(meaning, tense="past", time=meaning.time if meaning.tense == "past" else "")
            told.append(Sentence(self.grammar.say(meaning, rng, opener=opener, known=known), meaning))
            known |= {thing.noun for _, thing in meaning.roles}
            after = self._next(meaning, split, rng)
            opener = self.grammar.word(self.lexicon.openers["sequence"], rng)
            meaning = replace(after, place=None, time="", way="", negated=False)
        return told

    # ---- pairs -----------------------------------------------------------------------------------------------

    def sts(self, n: int, split: str = "test") -> Pairs:
        """`n` pairs graded 0 to 5 by the rubric of rubric.py, as many of each grade; `subsets` are their kinds."""
        rng, rows = self._random("sts", split), []
        while len(rows) < n:
            grade = len(rows) % 6
            kind, change, wording = rng.choice(KINDS[grade])
            first = self.meaning(rng, split)
            second = self._changed(first, change, rng)
            if second and self.rubric.grade(first, second) == grade:
                one, two = self._worded(first, second, wording, rng)
                if one.text != two.text:
                    rows.append((one.text, two.text, float(grade), kind))
        ones, twos, grades, kinds = map(list, zip(*rows, strict=True))
        return Pairs(ones, twos, grades, name="world-sts", split=split, subsets=kinds)

    def paraphrases(self, n: int, split: str = "train") -> list[tuple[Sentence, Sentence]]:
        """`n` times one meaning in two wordings."""
        return self._pairs(n, split, "same", "apart")

    def negations(self, n: int, split: str = "train") -> list[tuple[Sentence, Sentence]]:
        """`n` times a sentence and its denial in the same words: soft negatives."""
        return self._pairs(n, split, "negation", "alike")

    def _pairs(self, n: int, split: str, change: str, wording: str) -> list[tuple[Sentence, Sentence]]:
        rng, out = self._random(change, split), []
        while len(out) < n:
            first = self.meaning(rng, split)
            second = self._changed(first, change, rng)
            pair = second and self._worded(first, second, wording, rng)
            if pair and pair[0].text != pair[1].text:
                out.append(pair)
        return out

    def entailment(self, n: int, split: str = "train") -> Labelled:
        """`n` pairs, as many of each label: the second sentence follows from the first, may be so, or cannot be."""

        def pair(label: str, rng: random.Random) -> tuple[Sentence, Sentence] | None:
            premise = self.meaning(rng, split)
            change = rng.choice(ENTAILMENT[label])
            frame, hypothesis = self.frames[premise.frame], self._changed(premise, change, rng)
            if not hypothesis or premise.negated or (change == "opposite" and not frame.lasting):
                return None  # what entails is reversed by a denial; what was locked may be unlocked
            return self._worded(premise, hypothesis, "alike" if change == "negation" else "free", rng)

        return self._labelled("entailment", n, split, tuple(ENTAILMENT), pair)

    # ---- labels ----------------------------------------------------------------------------------------------

    def transfer(self, task: str, n: int, split: str = "train") -> Labelled:
        """`n` labelled sentences for a task of `TASKS`, as many of each label; "paraphrase" labels pairs.

        Raises:
            ValueError: an unknown task or split.
        """
        makers = {
            "topic": (self.topics, self._about),
            "sentiment": (("negative", "positive"), self._felt),
            "question": (QUESTIONS, self._asked),
            "subjectivity": (("objective", "subjective"), self._meant),
            "paraphrase": (("different", "paraphrase"), self._alike),
        }
        if task not in makers:
            raise ValueError(f"unknown transfer task {task!r}; the world's tasks are: {', '.join(makers)}")
        classes, make = makers[task]
        return self._labelled(task, n, split, classes, lambda label, rng: make(label, split, rng))

    def clustering(self, n: int, split: str = "test") -> Labelled:
        """`n` sentences, as many of each topic."""
        return self._labelled(
            "clustering", n, split, self.topics, lambda *drawn: self._about(drawn[0], split, drawn[1])
        )

    def feeling(self, meaning: Meaning) -> int:
        """Is what is said pleasant (1), unpleasant (-1) or neither (0)?"""
        said = sum(
            self.lexicon.qualities[thing.quality].feeling for _, thing in meaning.roles if not thing.noun
        )
        return (said or self.frames[meaning.frame].feeling) * (-1 if meaning.negated else 1)

    def _about(self, topic: str, split: str, rng: random.Random) -> tuple[Sentence]:
        return (self.say(self.meaning(rng, split, lambda frame: frame.topic == topic), rng),)

    def _felt(self, label: str, split: str, rng: random.Random) -> tuple[Sentence] | None:
        meaning = self.meaning(rng, split, lambda frame: frame.opinion or frame.feeling != 0)
        wanted = {"negative": -1, "positive": 1}[label]
        return (self.say(meaning, rng),) if self.feeling(meaning) == wanted else None

    def _meant(self, label: str, split: str, rng: random.Random) -> tuple[Sentence]:
        """Opinions, half of them introduced as such, and facts."""
        meaning = self.meaning(rng, split, lambda frame: frame.opinion == (label == "subjective"))
        opener = (
            rng.choice(self.lexicon.openers["opinion"])
            if label == "subjective" and rng.random() < 0.5
            else ""
        )
        return (Sentence(self.grammar.say(meaning, rng, opener=opener), meaning),)

    def _asked(self, kind: str, split: str, rng: random.Random) -> tuple[Sentence] | None:
        meaning = self.meaning(rng, split)
        question = self.grammar.ask(meaning, kind, rng)
        return (Sentence(question, meaning),) if question else None

    def _alike(self, label: str, split: str, rng: random.Random) -> tuple[Sentence, Sentence] | None:
        """The same meaning in free wording, or another in words as near as can be."""
        first, same = self.meaning(rng, split), label == "paraphrase"
        change = "same" if same else rng.choice(("negation", "roles", "opposite", "other", "event", "number"))
        second = self._changed(first, change, rng)
        if not second or (self.rubric.grade(first, second) == 5) != same:
            return None
        return self._worded(first, second, "free" if same else "alike", rng)

    # ---- words, names, scenes ------------------------------------------------------------------------------------

    def synonyms(self) -> dict[str, tuple[str, ...]]:
        """Words of one meaning by the first of them: nouns, verbs, adjectives, adverbs, times, quantities."""
        table = {
            noun.name: tuple(one for one, _ in noun.words)
            for noun in self.lexicon.nouns.values()
            if noun.said
        }
        for frame in self.frames.values():
            table |= {
                s.verbs[0].replace("_", " "): tuple(v.replace("_", " ") for v in s.verbs)
                for s in frame.sayings
            }
        for words in (self.lexicon.qualities, self.lexicon.ways, self.lexicon.times, self.lexicon.quantities):
            table |= {word.words[0]: word.words for word in words.values() if word.words}
        return {first: words for first, words in table.items() if len(words) > 1}

    def hypernyms(self) -> dict[str, str]:
        """The next broader noun of every noun that has one."""
        broader = {noun.name: noun.hypernym() for noun in self.lexicon.nouns.values() if noun.said}
        return {name: noun.name for name, noun in broader.items() if noun}

    def entities(self) -> list[Entity]:
        """Everybody and everything that has a name of its own."""
        named = [noun for noun in self.lexicon.nouns.values() if noun.kind == "name"]
        return [
            Entity(noun.name, noun.parent.name, tuple(one for one, _ in noun.words[1:])) for noun in named
        ]

    def scene_vector(self, meaning: Meaning, width: int = 64) -> np.ndarray:
        """What a picture of the situation would show, as a unit vector: the same for every wording, float32.

        The sum of fixed random directions of the event and its topic, of the kinds of people and things in
        their roles, of their qualities and numbers, and of the place. A picture shows no names, no times and
        no denials, and its vector knows none of them.
        """
        frame = self.frames[meaning.frame]
        seen = 2 * [f"event {frame.name}"] + [f"topic {frame.topic}"]
        for role, thing in (*meaning.roles, ("place", meaning.place or Thing())):
            noun = self.lexicon.nouns.get(thing.noun)
            kinds = [kind.name for kind in noun.ancestors() if kind.kind != "name"][:2] if noun else []
            seen += [f"{kind}" for kind in kinds] + [f"{role} {kind}" for kind in kinds[:1]]
            seen += [mark for mark in (thing.quality, thing.quantity) if mark]
        total = np.sum([direction(name, width) for name in seen], axis=0)
        return (total / np.linalg.norm(total)).astype(np.float32)

    # ---- how it is done ------------------------------------------------------------------------------------------

    def _random(self, *purpose: str) -> random.Random:
        return random.Random("/".join((str(self.seed), *purpose)))

    def _changed(self, meaning: Meaning, change: str, rng: random.Random) -> Meaning | None:
        """The meaning changed, if it can be and stays in its split."""
        changed = getattr(changes, change)(self.composer, meaning, rng)
        return changed if changed and changed.split == meaning.split else None

    def _next(self, meaning: Meaning, split: str, rng: random.Random) -> Meaning:
        """Something that could come next: the topic again, at least one participant again."""
        cast = {thing.noun for _, thing in meaning.roles}
        while True:
            following = changes.event(self.composer, meaning, rng)
            shared = cast & {thing.noun for _, thing in following.roles}
            if shared and following.split == split and following.tense == "past":
                return following

    def _worded(
        self, first: Meaning, second: Meaning, wording: str, rng: random.Random
    ) -> tuple[Sentence, Sentence]:
        """Both meanings said: freely, or in the pair of several wordings with the most or fewest words in common."""
        if wording == "free":
            return self.say(first, rng), self.say(second, rng)
        seeds = [rng.random() for _ in range(6)]
        ones = [self.say(first, random.Random(seed)) for seed in seeds]
        twos = [self.say(second, random.Random(seed)) for seed in seeds]
        best = max if wording == "alike" else min
        return best(
            ((one, two) for one in ones for two in twos if one.text != two.text or first != second),
            key=overlap,
            default=(ones[0], twos[0]),
        )

    def _labelled(self, name: str, n: int, split: str, classes: tuple[str, ...], make) -> Labelled:
        rng, rows = self._random(name, split), {}
        while len(rows) < n:
            label = len(rows) % len(classes)
            made = make(classes[label], rng)
            if made:
                rows.setdefault(tuple(sentence.text for sentence in made), label)
        first, *second = map(list, zip(*rows, strict=True))
        return Labelled(first, list(rows.values()), classes, f"world-{name}", split, *second)


def overlap(pair: tuple[Sentence, Sentence]) -> float:
    """Jaccard similarity of the two sets of words."""
    one, two = (set(sentence.text.lower().strip(".?").split()) for sentence in pair)
    return len(one & two) / len(one | two)


def direction(name: str, width: int) -> np.ndarray:
    """A random unit vector, always the same for a name."""
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])
    vector = np.random.default_rng(seed).standard_normal(width)
    return vector / np.linalg.norm(vector)
