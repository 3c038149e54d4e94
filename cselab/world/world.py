"""The world: sentences whose meaning is known."""

from __future__ import annotations

import random
from functools import cached_property

from cselab.world.frames import Frame, Role, read_frames
from cselab.world.grammar import Grammar
from cselab.world.lexicon import Lexicon
from cselab.world.meaning import Meaning, Sentence, Thing


class World:
    """Everything drawn from the world comes from here; the same seed draws the same."""

    def __init__(self, seed: int = 0):
        self.seed = seed
        self.lexicon = Lexicon()
        self.frames = read_frames()
        self.grammar = Grammar(self.lexicon, self.frames)

    def random(self, *purpose) -> random.Random:
        return random.Random("/".join(map(str, (self.seed, *purpose))))

    def meaning(self, rng: random.Random, split: str | None = None, frame: str | None = None) -> Meaning:
        """A random meaning, of one split if asked."""
        while True:
            meaning = self._compose(self.frames[frame or rng.choice(self._names)], rng)
            if split is None or meaning.split == split:
                return meaning

    @cached_property
    def _names(self) -> list[str]:
        return list(self.frames)

    def sentences(self, n: int, split: str = "train") -> list[Sentence]:
        """`n` sentences, all different."""
        rng, found = self.random("sentences", split), {}
        while len(found) < n:
            meaning = self.meaning(rng, split)
            text = self.grammar.say(meaning, rng)
            found.setdefault(text, Sentence(text, meaning))
        return list(found.values())

    def _compose(self, frame: Frame, rng: random.Random) -> Meaning:
        roles: list[tuple[str, Thing]] = []
        for role in frame.roles.values():
            thing = self._fill(role, rng)
            while thing.noun and any(thing.noun == other.noun for _, other in roles):
                thing = self._fill(role, rng)
            roles.append((role.name, thing))
        tenses = {"past": 5, "now": 3, "habit": 1, "future": 1}
        tense = rng.choices(frame.tenses, [tenses[name] for name in frame.tenses])[0]
        negated = rng.random() < 0.08
        if negated:
            roles = [
                (name, Thing(thing.noun, thing.quality, thing.quantity and "some")) for name, thing in roles
            ]
        return Meaning(
            frame=frame.name,
            roles=tuple(roles),
            tense=tense,
            time=self._time(frame, tense, rng),
            place=self._location(frame, rng),
            way=self._way(frame, rng) if rng.random() < 0.2 and not negated else "",
            negated=negated,
        )

    def _fill(self, role: Role, rng: random.Random) -> Thing:
        if role.adjectives:
            return Thing(quality=rng.choice(self.lexicon.family(role.adjectives)))
        name, number = rng.choice(role.classes)
        noun = self.lexicon.pick(name, rng)
        countable = noun.kind in ("count", "mine") and number
        several = countable and (number == "+" or rng.random() < 0.5)
        quantity = ""
        if several:
            quantity = rng.choice(list(self.lexicon.quantities)) if rng.random() < 0.4 else "some"
        quality = self._quality(noun, rng) if rng.random() < 0.15 else ""
        return Thing(noun.name, quality, quantity)

    def _quality(self, noun, rng: random.Random) -> str:
        return rng.choice(self.lexicon.family(rng.choice(noun.families))) if noun.families else ""

    def _time(self, frame: Frame, tense: str, rng: random.Random) -> str:
        if not frame.scales or frame.lasting and tense == "now" or tense != "habit" and rng.random() < 0.5:
            return ""
        return rng.choice(self.lexicon.family(f"{tense}/{rng.choice(frame.scales)}"))

    def _location(self, frame: Frame, rng: random.Random) -> Thing | None:
        places = [place for place in frame.places if place != "none"]
        if not places or rng.random() < 0.6:
            return None
        noun = self.lexicon.pick(rng.choice(places), rng)
        return Thing(noun.name, self._quality(noun, rng) if rng.random() < 0.1 else "")

    def _way(self, frame: Frame, rng: random.Random) -> str:
        if not frame.ways:
            return ""
        family, _, only = rng.choice(frame.ways).partition(":")
        return rng.choice(
            [f"{family}.{way}" for way in only.split("/")] if only else self.lexicon.family(family)
        )
