"""Makes up meanings: at random, or so that they continue a given one."""

from dataclasses import replace
from random import Random

from .frames import Frame, Role
from .lexicon import Lexicon, Noun
from .meaning import Meaning, Thing

TENSES = {"past": 5, "now": 3, "habit": 1, "future": 1}
SEVERAL = ("several", "uncounted")


class Composer:
    """Fills frames with suitable words."""

    def __init__(self, lexicon: Lexicon, frames: dict[str, Frame]) -> None:
        self.lexicon, self.frames = lexicon, frames
        self.of_topic: dict[str, list[Frame]] = {}
        for frame in frames.values():
            self.of_topic.setdefault(frame.topic, []).append(frame)

    def compose(self, frame: Frame, rng: Random) -> Meaning:
        """A random meaning of one frame."""
        return self.detailed(self.cast(frame, rng), rng)

    def cast(self, frame: Frame, rng: Random) -> Meaning:
        """A meaning of a fixed frame with random participants."""
        things: dict[str, Thing] = {}
        for name, role in frame.roles.items():
            taken = [thing.noun for thing in things.values()]
            thing = self._fill(role, rng, taken)
            bare = thing.noun and (frame.plain or frame.describes)  # not "the angry waiter was polite"
            things[name] = replace(thing, quality="") if bare else thing
        return Meaning(frame.name, tuple(things.items()))

    def detailed(self, meaning: Meaning, rng: Random) -> Meaning:
        """The meaning with a tense, and perhaps a time, a place and a manner; or denied."""
        frame = self.frames[meaning.frame]
        tense = rng.choices(frame.tenses, [TENSES[name] for name in frame.tenses])[0]
        meaning = replace(meaning, tense=tense, time=self._time(frame, tense, rng), place=self._place(frame, rng))
        if tense == "habit" or rng.random() > 0.08:
            return replace(meaning, way=self._way(frame, rng))
        # "did not carefully peel three carrots" would deny less than it seems to
        some = {name: replace(thing, quantity=thing.quantity and "some") for name, thing in meaning.roles}
        return replace(meaning.filled(**some), negated=True)

    def retell(self, meaning: Meaning, frame: Frame, rng: Random) -> Meaning:
        """The participants, time and place of `meaning` in a different frame, as far as they fit."""
        new = self.compose(frame, rng)
        roles, cast = dict(new.roles), dict(meaning.roles)
        for name, role in frame.roles.items():
            suitable = [known for known, thing in cast.items() if self.may_fill(role, thing)]
            taken = [thing.noun for other, thing in roles.items() if other != name]
            if suitable:
                known = name if name in suitable else suitable[0]
                if cast[known].noun not in taken:
                    roles[name] = cast.pop(known)
        there = self.lexicon.nouns[meaning.place.noun] if meaning.place else None
        place = meaning.place if there and any(map(there.is_a, frame.places)) else None
        new = replace(new, roles=tuple(roles.items()), place=place, way="", negated=meaning.negated)
        return replace(new, tense=meaning.tense, time=meaning.time) if meaning.tense in frame.tenses else new

    def may_fill(self, role: Role, thing: Thing) -> bool:
        """Would the thing, in its number, suit the role?"""
        noun = self.lexicon.nouns.get(thing.noun)
        return noun is not None and any(
            noun.is_a(name)
            and (bool(thing.quantity) == (number in SEVERAL) or number == "either" or noun.kind == "mass")
            for name, number in role.classes
        )

    def number(self, noun: Noun, rng: Random) -> str:
        """A random count: small numbers are more frequent, and people are few."""
        numbers = self.lexicon.families["number"][: 9 if noun.is_a("person") else None]
        return numbers[int(len(numbers) * rng.random() ** 2)]

    def _fill(self, role: Role, rng: Random, taken: list[str]) -> Thing:
        if role.adjectives:
            return Thing(quality=rng.choice(self.lexicon.families[role.adjectives]))
        while True:
            name, number = rng.choice(role.classes)
            noun = self.lexicon.pick(name, rng)
            if noun.name not in taken:
                break
        quality = ""
        if noun.families and rng.random() < (0.07 if noun.is_a("person") else 0.2):
            quality = rng.choice(self.lexicon.families[rng.choice(noun.families)])
        if noun.kind in ("count", "mine") and (number in SEVERAL or (number == "either" and rng.random() < 0.5)):
            counted = number != "uncounted" and rng.random() < 0.4
            return Thing(noun.name, quality, self.number(noun, rng) if counted else "some")
        return Thing(noun.name, quality)

    def _time(self, frame: Frame, tense: str, rng: Random) -> str:
        timeless = not frame.scales or (frame.lasting and tense == "now")
        if timeless or (tense != "habit" and rng.random() < 0.5):
            return ""
        return rng.choice(self.lexicon.families[f"{tense}/{rng.choice(frame.scales)}"])

    def _place(self, frame: Frame, rng: Random) -> Thing | None:
        if not frame.places or rng.random() < 0.6:
            return None
        noun = self.lexicon.pick(rng.choice(frame.places), rng)
        lively = noun.is_a("town place") and rng.random() < 0.1
        return Thing(noun.name, rng.choice(self.lexicon.families["bustle"]) if lively else "")

    def _way(self, frame: Frame, rng: Random) -> str:
        if not frame.ways or rng.random() > 0.2:
            return ""
        family, _, only = rng.choice(frame.ways).partition(":")
        named = [f"{family}.{way}" for way in only.split("/")] if only else self.lexicon.families[family]
        return rng.choice(named)
