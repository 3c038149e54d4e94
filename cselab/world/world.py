"""The world: sentences whose meaning is known, and what can be made of them."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cselab.data import Pairs
from cselab.data.classification import Labelled
from cselab.world import changes
from cselab.world.composer import Composer
from cselab.world.frames import Frame, read_frames
from cselab.world.grammar import QUESTIONS, Grammar
from cselab.world.lexicon import Lexicon
from cselab.world.meaning import SPLITS, Meaning, Sentence, Thing, overlap
from cselab.world.rows import rows
from cselab.world.rubric import Rubric

# Kinds of STS pairs by grade: name, what is changed, and whether the two are worded as "alike" as can be, "free"
# or "apart". The hard ones keep the words and turn the meaning, or keep the meaning and change the words.
# One that stands twice comes twice as often.
KINDS = {
    5: (("same words", "same", "alike"), ("paraphrase", "same", "free"), *3 * [("other words", "same", "apart")]),
    4: (*2 * [("detail", "detail", "apart")], ("detail", "detail", "free"), ("hypernym", "hypernym", "apart")),
    3: (
        ("other", "other", "free"),
        ("other", "other", "apart"),
        ("details", "details", "apart"),
        ("number", "number", "alike"),
    ),
    2: (
        ("negation", "negation", "alike"),
        ("roles", "roles", "alike"),
        ("opposite", "opposite", "free"),
        ("event", "event", "alike"),
    ),
    1: (("topic", "topic", "free"), ("event", "event", "alike")),
    0: (("none", "none", "free"), ("shared words", "words", "alike")),
}
ENTAILMENT = {  # the changes that make a hypothesis of each relation
    "entailment": ("same", "less", "hypernym"),
    "neutral": ("more", "other", "roles", "event"),
    "contradiction": ("negation", "negation", "opposite"),
}
TASKS = ("topic", "sentiment", "question", "subjectivity", "paraphrase")
FEELINGS = {"negative": -1, "positive": 1}


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
    >>> sorted(set(world.sts(12, split="dev").scores))
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.lexicon, self.frames = Lexicon(), read_frames()
        self.composer = Composer(self.lexicon, self.frames)
        self.grammar = Grammar(self.lexicon, self.frames)
        self.rubric = Rubric(self.lexicon, self.frames)
        self.topics = tuple(self.composer.of_topic)
        self._all = list(self.frames.values())

    # ---- sentences and texts -----------------------------------------------------------------------------

    def meaning(self, rng: random.Random, split: str, suits: Callable[[Frame], bool] | None = None) -> Meaning:
        """A random meaning of a split, of any frame that suits."""
        frames = [frame for frame in self._all if suits(frame)] if suits else self._all
        while True:
            meaning = self.composer.compose(rng.choice(frames), rng, split)
            if meaning:
                return meaning

    def say(self, meaning: Meaning, rng: random.Random) -> Sentence:
        """One of the sentences for a meaning."""
        return Sentence(self.grammar.say(meaning, rng), meaning)

    def sentences(self, n: int, split: str = "train") -> list[Sentence]:
        """`n` sentences, all different.

        Raises:
            ValueError: an unknown split, or `n` below 1; so too for all that follows.
        """
        rng = self._random("sentences", n, split)
        found: dict[str, Sentence] = {}
        while len(found) < n:
            sentence = self.say(self.meaning(rng, split), rng)
            found.setdefault(sentence.text, sentence)
        return list(found.values())

    def documents(self, n: int, split: str = "train", length: int = 5) -> list[list[Sentence]]:
        """`n` short texts of `length` sentences; each goes on with people or things of those before."""
        rng = self._random("documents", n, split)
        out: list[list[Sentence]] = []
        if length not in range(1, 9):
            raise ValueError(f"length {length!r}: a document has 1 to 8 sentences")
        while len(out) < n:
            document = list(self._told(length, split, rng))
            if len(document) == length:
                out.append(document)
        return out

    def _told(self, length: int, split: str, rng: random.Random) -> Iterator[Sentence]:
        """The sentences of one text; fewer than `length` where the story does not go on."""
        meaning = replace(self.meaning(rng, split), tense="past", time="", negated=False)
        told: set[str] = set()
        known: frozenset[str] = frozenset()
        opener = ""
        for _ in range(length):
            yield Sentence(self.grammar.say(meaning, rng, opener=opener, known=known), meaning)
            frame = self.frames[meaning.frame]
            told |= {frame.name, frame.kind_of} - {""}
            met = {thing.noun for _, thing in meaning.roles if thing.noun}
            known |= met
            kinds = {kind for noun in met for kind in self.lexicon.nouns[noun].ancestors}
            left = [
                other
                for other in self.composer.of_topic[frame.topic]
                if not (other.lasting or told & {other.name, other.kind_of, other.opposite})
                and not kinds.isdisjoint(other.classes)
            ]
            if not left:
                return
            tries = (self.composer.retell(meaning, rng.choice(left), rng) for _ in range(20))
            events = (
                event for event in tries if known & {thing.noun for _, thing in event.roles} and event.split == split
            )
            event = next(events, None)
            if not event:
                return
            meaning = replace(event, tense="past", place=None, time="", way="", negated=False)
            opener = self.grammar.word(rng.choice(self.lexicon.families["sequence"]), rng)

    # ---- pairs -------------------------------------------------------------------------------------------

    def sts(self, n: int, split: str = "test") -> Pairs:
        """`n` pairs graded 0 to 5 by the rubric of rubric.py, as many of each grade.

        The grade is that of the meanings. `subsets` names the kind of each pair (see `KINDS`).
        """
        rng, rows = self._random("sts", n, split), []
        for number in range(n):
            kind, change, wording = rng.choice(KINDS[number % 6])
            one, two = self._pair(split, change, wording, rng, grade=number % 6)
            rows.append((one.text, two.text, float(number % 6), kind))
        ones, twos, grades, kinds = map(list, zip(*rows, strict=True))
        return Pairs(ones, twos, grades, name="world-sts", split=split, subsets=kinds)

    def paraphrases(self, n: int, split: str = "train") -> list[tuple[Sentence, Sentence]]:
        """`n` times one meaning in two wordings."""
        rng = self._random("paraphrases", n, split)
        return [self._pair(split, "same", "apart", rng) for _ in range(n)]

    def negations(self, n: int, split: str = "train") -> list[tuple[Sentence, Sentence]]:
        """`n` times a sentence and its denial in the same words: soft negatives."""
        rng = self._random("negations", n, split)
        return [self._pair(split, "negation", "alike", rng) for _ in range(n)]

    def _pair(
        self, split: str, change: str, wording: str, rng: random.Random, grade: int | None = None
    ) -> tuple[Sentence, Sentence]:
        """A meaning and its change, of a grade if asked, in different texts."""
        while True:
            first = self.meaning(rng, split, changes.NEEDS.get(change))
            for second in (self.changed(first, change, rng) for _ in range(8)):
                if second and grade in (None, self.rubric.grade(first, second)):
                    pair = self._worded(first, second, wording, rng)
                    if pair[0].text != pair[1].text:
                        return pair

    def changed(self, meaning: Meaning, change: str, rng: random.Random) -> Meaning | None:
        """The meaning after a change of `cselab.world.changes`, if it can be made and stays in its split."""
        changed = getattr(changes, change)(self.composer, meaning, rng)
        return changed if changed and changed.split == meaning.split else None

    def _worded(self, first: Meaning, second: Meaning, wording: str, rng: random.Random) -> tuple[Sentence, Sentence]:
        """Both meanings said: freely, or in those of several wordings that share the most or fewest words."""
        if wording == "free":
            return self.say(first, rng), self.say(second, rng)
        seeds = [rng.random() for _ in range(6)]  # the same choices for both keep the texts alike
        ones = [self.say(first, random.Random(seed)) for seed in seeds]
        twos = [self.say(second, random.Random(seed)) for seed in seeds]
        different = [(one, two) for one in ones for two in twos if one.text != two.text]
        return (max if wording == "alike" else min)(different or [(ones[0], twos[0])], key=overlap)

    def rows(self, columns: Sequence[str], n: int, split: str = "train") -> list[str] | list[tuple[str, ...]]:
        """`n` rows for a method with these `columns`: texts for one column, tuples of texts for several.

        * "sentence"; "paraphrase", the same meaning in other words; "negation", its denial in the same words;
          "entailment", what follows from it; "contradiction", what cannot be true beside it;
        * "topic" and "sentiment" ("positive" or "negative"), labels of it;
        * "entity", somebody or something with a name that it speaks of; "other_entity", one of the same kind that it
          does not speak of;
        * "scene", 64 numbers with blanks between: what a picture of it would show (see `scene_vector`);
        * "document", alone: five sentences that follow one another.

        Raises:
            ValueError: an unknown column, one given twice, a document beside others, an unknown split.

        >>> World(seed=0).rows(("sentence", "entity"), 1)
        [('A week ago, Nora Byrne bought the fresco from the gallery.', 'Nora Byrne')]
        """
        rng = self._random(f"rows/{'/'.join(columns)}", n, split)
        return rows(self, columns, n, rng, split)

    # ---- labels ------------------------------------------------------------------------------------------

    def entailment(self, n: int, split: str = "train") -> Labelled:
        """`n` pairs, as many of each label: the second follows from the first, may be so, or cannot be."""
        return self._labelled("entailment", n, split, tuple(ENTAILMENT))

    def transfer(self, task: str, n: int, split: str = "train") -> Labelled:
        """`n` sentences with labels for a task of `TASKS`, as many of each label; "paraphrase" labels pairs.

        Raises:
            ValueError: an unknown task.
        """
        classes = {
            "topic": self.topics,
            "sentiment": tuple(FEELINGS),
            "question": QUESTIONS,
            "subjectivity": ("objective", "subjective"),
            "paraphrase": ("different", "paraphrase"),
        }
        if task not in classes:
            raise ValueError(f"unknown transfer task {task!r}; the world's tasks are: {', '.join(TASKS)}")
        return self._labelled(task, n, split, classes[task])

    def clustering(self, n: int, split: str = "test") -> Labelled:
        """`n` sentences with their topics as labels, as many of each."""
        return self._labelled("clustering", n, split, self.topics)

    def feeling(self, meaning: Meaning) -> int:
        """Is what is said pleasant (1), unpleasant (-1) or neither (0)?"""
        said = [self.lexicon.words[thing.quality].feeling for _, thing in meaning.roles if not thing.noun]
        return (sum(said) or self.frames[meaning.frame].feeling) * (-1 if meaning.negated else 1)

    def _labelled(self, task: str, n: int, split: str, classes: tuple[str, ...]) -> Labelled:
        rng = self._random(task, n, split)
        rows: dict[tuple[str, ...], int] = {}
        while len(rows) < n:
            label = len(rows) % len(classes)
            example = self._example(task, classes[label], split, rng)
            if example:
                rows.setdefault(tuple(sentence.text for sentence in example), label)
        first, *second = map(list, zip(*rows, strict=True))
        made = Labelled(first, list(rows.values()), classes, f"world-{task}", split)
        return replace(made, sentences2=second[0]) if second else made

    def _example(self, task: str, label: str, split: str, rng: random.Random) -> tuple[Sentence, ...] | None:
        """A try at an example of a label; None where the meaning drawn gives none."""
        match task:
            case "topic" | "clustering":
                return (self.say(self.meaning(rng, split, lambda frame: frame.topic == label), rng),)
            case "sentiment":
                meaning = self.meaning(rng, split, lambda frame: frame.opinion or frame.feeling != 0)
                return (self.say(meaning, rng),) if self.feeling(meaning) == FEELINGS[label] else None
            case "subjectivity":  # opinions, half of them introduced as such; and facts
                meaning = self.meaning(rng, split, lambda frame: frame.opinion == (label == "subjective"))
                introduced = label == "subjective" and rng.random() < 0.5
                opener = self.grammar.word(rng.choice(self.lexicon.families["opinion"]), rng) if introduced else ""
                return (Sentence(self.grammar.say(meaning, rng, opener=opener), meaning),)
            case "question":
                meaning = self.meaning(rng, split)
                question = self.grammar.ask(meaning, label, rng)
                return (Sentence(question, meaning),) if question else None
            case "paraphrase":  # another meaning in words as near as can be
                first, same = self.meaning(rng, split), label == "paraphrase"
                change = "same" if same else rng.choice(("negation", "roles", "opposite", "other", "number"))
                second = self.changed(first, change, rng)
                if not second or (self.rubric.grade(first, second) == 5) != same:
                    return None
                return self._worded(first, second, "free" if same else "alike", rng)
            case "entailment":  # not from a denial, which turns entailment round
                premise, change = self.meaning(rng, split), rng.choice(ENTAILMENT[label])
                hypothesis = self.changed(premise, change, rng)
                passing = change == "opposite" and not self.frames[premise.frame].lasting  # may both come true
                if not hypothesis or premise.negated or passing:
                    return None
                return self._worded(premise, hypothesis, "alike" if change == "negation" else "free", rng)
        raise AssertionError(f"no example of {task}")

    # ---- words, names, scenes ----------------------------------------------------------------------------

    def synonyms(self) -> dict[str, tuple[str, ...]]:
        """Words of one meaning by the first of them: nouns, verbs, adjectives, adverbs, times, quantities."""
        table = {noun.name: tuple(one for one, _ in noun.words) for noun in self.lexicon.nouns.values() if noun.said}
        table |= {word.words[0]: word.words for word in self.lexicon.words.values()}
        for saying in (saying for frame in self._all for saying in frame.sayings):
            verbs = tuple(verb.replace("_", " ") for verb in saying.verbs)
            table[verbs[0]] = verbs
        return {first: words for first, words in table.items() if len(words) > 1}

    def antonyms(self) -> dict[str, tuple[str, ...]]:
        """The words of opposite meaning of every adjective, adverb, time and quantity that has some."""
        known = self.lexicon.words
        found: dict[str, tuple[str, ...]] = {}
        for word in known.values():
            for one in word.words if word.opposite in known else ():
                found[one] = tuple(dict.fromkeys((*found.get(one, ()), *known[word.opposite].words)))
        return found

    def hypernyms(self) -> dict[str, str]:
        """The next broader noun of every noun that has one."""
        said = [noun for noun in self.lexicon.nouns.values() if noun.said and noun.hypernym]
        return {noun.name: noun.hypernym.name for noun in said if noun.hypernym}

    def entities(self) -> list[Entity]:
        """Everybody and everything that has a name of its own."""
        named = [noun for noun in self.lexicon.nouns.values() if noun.kind == "name"]
        return [
            Entity(noun.name, noun.parent.name, tuple(one for one, _ in noun.words[1:]))
            for noun in named
            if noun.parent
        ]

    def scene_vector(self, meaning: Meaning, width: int = 64) -> np.ndarray:
        """What a picture of the situation would show, as a unit vector: the same for every wording, float32.

        The sum of fixed random directions of the event and its topic, of the kinds of people and things in
        their roles, of their qualities and numbers, and of the place. A picture shows no names, no times and
        no denials, and its vector knows none of them.
        """
        frame = self.frames[meaning.frame]
        seen = [f"topic {frame.topic}", *2 * [f"event {frame.name}"]]
        for role, thing in (*meaning.roles, ("place", meaning.place or Thing())):
            if thing.noun:
                noun = self.lexicon.nouns[thing.noun]
                shown = noun.parent if noun.kind == "name" and noun.parent else noun
                seen += [f"{role} {shown.name}", *shown.ancestors[:2]]
            seen += [mark for mark in (thing.quality, thing.quantity) if mark]
        total = np.sum([direction(name, width) for name in seen], axis=0)
        return (total / np.linalg.norm(total)).astype(np.float32)

    def _random(self, purpose: str, n: int, split: str) -> random.Random:
        if split not in SPLITS:
            raise ValueError(f"unknown split {split!r}; the splits are: {', '.join(SPLITS)}")
        if n < 1:
            raise ValueError(f"n is {n}; ask for at least 1")
        return random.Random(f"{self.seed}/{purpose}/{split}")


def direction(name: str, width: int) -> np.ndarray:
    """A random unit vector, always the same for a name."""
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])
    vector = np.random.default_rng(seed).standard_normal(width)
    return vector / np.linalg.norm(vector)
