"""The situations of the world, read from data/frames.txt; its head explains the notation."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from cselab.world.lexicon import lines, split

TENSES = {
    "past": ("past",),
    "once": ("past", "future"),
    "habit": ("past", "now", "habit", "future"),
    "state": ("past", "now"),
}
PREPOSITIONS = set(
    "about across against as at by for from in into of off on onto out over through to under with".split()
)
FEELINGS = {"good": 1, "bad": -1}


@dataclass(frozen=True)
class Role:
    """A place in a frame: classes that may fill it, each with its number ("", "+", "*", "&"), or adjectives."""

    name: str
    classes: tuple[tuple[str, str], ...] = ()
    adjectives: str = ""


@dataclass(frozen=True)
class Saying:
    """One way of saying a frame: subject, verb (with its synonyms), and the rest as tokens."""

    subject: str
    verbs: tuple[str, ...]
    rest: tuple[str, ...]
    passive: bool  # can its object become the subject,
    movable: bool  # or be brought to the front: "it was the letter that ..."


@dataclass(eq=False)
class Frame:
    """A kind of situation: its topic, its roles, and the ways of saying it."""

    name: str
    topic: str
    roles: dict[str, Role]
    sayings: list[Saying] = field(default_factory=list)
    places: tuple[str, ...] = ()
    ways: tuple[str, ...] = ()
    tenses: tuple[str, ...] = ("past", "now", "future")
    scales: tuple[str, ...] = ("day", "week")
    kind_of: str = ""
    opposite: str = ""
    feeling: int = 0
    opinion: bool = False
    lasting: bool = False
    mutual: bool = False
    plain: bool = False

    @cached_property
    def describes(self) -> bool:
        """Whether the frame describes a quality of a person or thing."""
        return any(role.adjectives for role in self.roles.values())

    @cached_property
    def classes(self) -> list[str]:
        """The classes of all its roles; a class that may fill two roles is listed twice."""
        return [name for role in self.roles.values() for name, _ in role.classes]

    @cached_property
    def reversible(self) -> bool:
        """Could two participants change places?"""
        return len(self.classes) > len(set(self.classes)) and not self.mutual

    def set(self, option: str) -> Any:
        """Apply an option of the file."""
        mark, values = option[0], tuple(option[1:].split("|"))
        if mark in "@~":
            setattr(self, "places" if mark == "@" else "ways", () if values == ("none",) else values)
        elif mark == "%":
            self.scales = values
        elif option.startswith("><"):
            self.opposite = option[2:]
        elif mark == "<":
            self.kind_of = option[1:]
        elif option in ("opinion", "mutual", "plain"):
            setattr(self, option, True)
        elif option in FEELINGS:
            self.feeling = FEELINGS[option]
        else:
            self.tenses, self.lasting = TENSES[option], option == "state"
            if option in ("past", "state"):  # mishaps and states are not done carefully
                self.ways = ()
            if self.lasting:  # love has neither hour nor place
                self.scales = self.places = ()


def read_frames() -> dict[str, Frame]:
    """Every frame by name, in the order of the file."""
    frames: dict[str, Frame] = {}
    frame: Frame
    for line in lines("frames.txt"):
        if line.startswith("["):
            topic, _, defaults = line.partition(";")
        elif line.startswith(" "):
            frame.sayings.append(read_saying(line.split(), frame.roles))
        else:
            name, _, tail = line.partition(":")
            roles, _, options = tail.partition(";")
            if name in frames:
                raise ValueError(f"two frames are named {name!r}")
            frame = frames[name] = Frame(name, topic.strip("[]"), dict(map(read_role, split(roles, ","))))
            for option in split(defaults, ",") + split(options, ","):
                frame.set(option)
    return frames


def read_role(text: str) -> tuple[str, Role]:
    """A role and who may fill it, from its entry in frames.txt."""
    name, _, nouns = text.partition(" ")
    if nouns.startswith("="):
        return name, Role(name, adjectives=nouns[1:])
    classes = [(noun.rstrip("+*&"), noun[len(noun.rstrip("+*&")) :]) for noun in nouns.split("|")]
    return name, Role(name, tuple(classes))


def read_saying(tokens: list[str], roles: dict[str, Role]) -> Saying:
    """A wording of an event, from its line in frames.txt."""
    subject, verb, *rest = tokens
    bare = rest[1:] if rest[:1] in (["the"], ["a"]) else rest
    has_object = bool(bare) and bare[0] in roles and not roles[bare[0]].adjectives and bare[1:2] != ["of"]
    passive = has_object and not verb.endswith("!") and verb.split("_")[0] != "be"
    movable = passive and set(bare[1:2]) <= PREPOSITIONS
    return Saying(subject.replace("_", " "), tuple(verb.rstrip("!").split("|")), tuple(rest), passive, movable)
