"""The situations of the world, read from data/frames.txt; its head explains the notation."""

from __future__ import annotations

from dataclasses import dataclass, field

from cselab.world.lexicon import lines, split

TENSES = {"past": ("past",), "once": ("past", "future"), "state": ("past", "now")}
SCALES = {"%day": ("day",), "%week": ("week",), "%year": ("year",)}


@dataclass(frozen=True)
class Role:
    """A place in a frame: the classes that may fill it, each with its number ("", "+", "*"), or adjectives."""

    name: str
    classes: tuple[tuple[str, str], ...] = ()
    adjectives: str = ""


@dataclass(frozen=True)
class Saying:
    """One way of saying a frame: subject, verb (with its synonyms) and the rest as tokens."""

    subject: str
    verbs: tuple[str, ...]
    rest: tuple[str, ...]
    passive: bool


@dataclass
class Frame:
    """A kind of situation: its topic, its roles, and the ways of saying it."""

    name: str
    topic: str
    roles: dict[str, Role]
    sayings: list[Saying] = field(default_factory=list)
    places: tuple[str, ...] = ()
    ways: tuple[str, ...] = ()
    tenses: tuple[str, ...] = ("past", "now", "habit", "future")
    scales: tuple[str, ...] = ("day", "week")
    kind_of: str = ""
    opposite: str = ""
    feeling: int = 0
    opinion: bool = False
    lasting: bool = False
    mutual: bool = False


def read_frames() -> dict[str, Frame]:
    """Every frame by name, in the order of the file."""
    frames: dict[str, Frame] = {}
    topic, defaults, frame = "", [], None
    for line in lines("frames.txt"):
        if line.startswith("["):
            topic, _, options = line.partition(";")
            defaults = split(options, ",")
        elif not line.startswith(" "):
            name, _, tail = line.partition(":")
            roles, _, options = tail.partition(";")
            if name in frames:
                raise ValueError(f"frames.txt has {name!r} twice")
            frame = frames[name] = Frame(
                name, topic.strip("[]"), {role.name: role for role in map(read_role, split(roles, ","))}
            )
            for option in defaults + split(options, ","):
                apply_option(frame, option)
        else:
            frame.sayings.append(read_saying(line.split(), frame.roles))
    return {name: frame for name, frame in frames.items() if frame.sayings}


def apply_option(frame: Frame, option: str):
    if option[0] == "@":
        frame.places = tuple(place for place in option[1:].split("|") if place != "none")
    elif option[0] == "~":
        frame.ways = () if option == "~none" else tuple(option[1:].split("|"))
    elif option in SCALES:
        frame.scales = SCALES[option]
    elif option in TENSES:
        frame.tenses, frame.lasting = TENSES[option], option == "state"
        frame.ways = () if option != "once" else frame.ways  # mishaps and states are not done carefully
        if option == "state":  # love has neither hour nor place
            frame.scales, frame.places = (), ()
    elif option.startswith("><"):
        frame.opposite = option[2:]
    elif option.startswith("<"):
        frame.kind_of = option[1:]
    elif option in ("opinion", "mutual"):
        setattr(frame, option, True)
    else:
        frame.feeling = {"good": 1, "bad": -1}[option]


def read_role(text: str) -> Role:
    name, _, nouns = text.partition(" ")
    if nouns.startswith("="):
        return Role(name, adjectives=nouns[1:])
    return Role(
        name, tuple((option.rstrip("+*"), option[len(option.rstrip("+*")) :]) for option in nouns.split("|"))
    )


def read_saying(tokens: list[str], roles: dict[str, Role]) -> Saying:
    subject, verb, *rest = tokens
    head = rest[rest[0] in ("the", "a") :] if rest else []
    passive = not verb.endswith("!") and verb.split("_")[0] != "be" and bool(head) and head[0] in roles
    passive = passive and not roles[head[0]].adjectives and head[1:2] != ["of"]
    return Saying(subject.replace("_", " "), tuple(verb.rstrip("!").split("|")), tuple(rest), passive)
