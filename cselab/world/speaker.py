"""Random meanings as sentences and texts, with their labels."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

import numpy as np

from cselab._util.arguments import check_choice, checked
from cselab.world import changes

from .composer import Composer
from .frames import Frame, read_frames
from .grammar import Grammar
from .lexicon import Lexicon
from .meaning import SPLIT_PERCENTILES, Meaning, Sentence, Thing

DOCUMENT_SENTENCES = 5  # sentences of a document
LARGEST_SAMPLE = 10**7  # largest n of one call, which needs minutes and gigabytes of memory


class Speaker:
    """The part of a `World` that writes single sentences with lexicon, frames and grammar."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.lexicon, self.frames = Lexicon(), read_frames()
        self.composer = Composer(self.lexicon, self.frames)
        self.grammar = Grammar(self.lexicon, self.frames)
        self.topics = tuple(self.composer.of_topic)
        self._all = list(self.frames.values())

    def meaning(self, rng: Random, split: str, suits: Callable[[Frame], bool] | None = None) -> Meaning:
        """A random meaning of a split, of any frame that suits."""
        frames = [frame for frame in self._all if suits(frame)] if suits else self._all
        while True:
            meaning = self.composer.cast(rng.choice(frames), rng)
            if meaning.split == split:
                return self.composer.detailed(meaning, rng)

    def say(self, meaning: Meaning, rng: Random) -> Sentence:
        """One of the sentences for a meaning."""
        return Sentence(self.grammar.say(meaning, rng), meaning)

    def documents(self, n: int, split: str = "train") -> list[list[Sentence]]:
        """`n` short texts of five sentences; each sentence continues with people or things of the earlier ones."""
        rng = self._random("documents", n, split)
        out: list[list[Sentence]] = []
        while len(out) < n:
            document = list(self._told(split, rng))
            if len(document) == DOCUMENT_SENTENCES:
                out.append(document)
        return out

    def _told(self, split: str, rng: Random) -> Iterator[Sentence]:
        """The sentences of one text; fewer than `DOCUMENT_SENTENCES` where the story does not go on."""
        meaning = replace(self.meaning(rng, split), tense="past", time="", negated=False)
        told: set[str] = set()
        known: frozenset[str] = frozenset()
        opener = ""
        for _ in range(DOCUMENT_SENTENCES):
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

    def changed(self, meaning: Meaning, change: str, rng: Random) -> Meaning | None:
        """The meaning after a change of `cselab.world.changes`, if it can be made and stays in its split."""
        changed = getattr(changes, change)(self.composer, meaning, rng)
        return changed if changed and changed.split == meaning.split else None

    def feeling(self, meaning: Meaning) -> int:
        """Whether the content is pleasant (1), unpleasant (-1) or neither (0)."""
        said = [self.lexicon.words[thing.quality].feeling for _, thing in meaning.roles if not thing.noun]
        return (sum(said) or self.frames[meaning.frame].feeling) * (-1 if meaning.negated else 1)

    def scene_vector(self, meaning: Meaning) -> np.ndarray:
        """The content of a picture of the situation, as a unit vector of 64 numbers: the same for every wording.

        The sum of fixed random directions of the event and its topic, of the kinds of people and things in
        their roles, of their qualities and numbers, and of the place. A picture shows no names, no times and no
        denials, so its vector does not depend on them.
        """
        frame = self.frames[meaning.frame]
        seen = [f"topic {frame.topic}", *2 * [f"event {frame.name}"]]
        for role, thing in (*meaning.roles, ("place", meaning.place or Thing())):
            if thing.noun:
                noun = self.lexicon.nouns[thing.noun]
                shown = noun.parent if noun.kind == "name" and noun.parent else noun
                seen += [f"{role} {shown.name}", *shown.ancestors[:2]]
            seen += [mark for mark in (thing.quality, thing.quantity) if mark]
        total = np.sum([direction(name) for name in seen], axis=0)
        return (total / np.linalg.norm(total)).astype(np.float32)

    @checked
    def _random(self, purpose: str, n: int, split: str) -> Random:
        check_choice("split", split, SPLIT_PERCENTILES)
        if not 1 <= n <= LARGEST_SAMPLE:
            raise ValueError(f"n is {n}; ask for at least 1, at most {LARGEST_SAMPLE:,}")
        return Random(f"{self.seed}/{purpose}/{split}")


def direction(name: str) -> np.ndarray:
    """A random unit vector, always the same for a name."""
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])
    vector = np.random.default_rng(seed).standard_normal(64)
    return vector / np.linalg.norm(vector)
