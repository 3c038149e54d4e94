"""The situations of the world, read from data/frames.jsonl, which has one frame per line."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from .lexicon import entries


@dataclass(frozen=True)
class Role:
    """A place in a frame: classes that may fill it, each with its number, or a family of adjectives.

    A number is "one", "several", "either", or "uncounted": several that nobody counts.
    """

    classes: tuple[tuple[str, str], ...] = ()
    adjectives: str = ""


@dataclass(frozen=True, eq=False)
class Saying:
    """One way of saying a frame: subject, verb (with its synonyms), and the rest as tokens.

    Roles are capital letters. In a verb "_" joins words. Before a role, "the", "a", "bare" and "their" fix its article,
    and "at" is the place's own preposition; "on|about" is either.
    """

    subject: str
    verbs: Sequence[str]
    rest: Sequence[str] = ()
    passive: bool = False  # can its object become the subject,
    movable: bool = False  # or be brought to the front: "it was the letter that ..."


@dataclass(eq=False)
class Frame:
    """A kind of situation: its topic, its roles, the ways of saying it, and what may be said of it.

    Attributes:
        places: where it may happen.
        ways: how it may be done: families of adverbs, or "family:word/word".
        kind_of: the frame of which it is a special way.
        feeling: 1 pleasant, -1 unpleasant.
        opinion: a matter of taste.
        lasting: a state, such as love.
        mutual: its roles may be exchanged.
        plain: without adjectives, because what is being made is not yet old or famous.
    """

    name: str
    topic: str
    roles: dict[str, Role]
    sayings: list[Saying]
    places: Sequence[str] = ()
    ways: Sequence[str] = ()
    tenses: Sequence[str] = ("past", "now", "future")
    scales: Sequence[str] = ("day", "week")
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
        """Whether two participants can change places in a sentence of this frame."""
        return len(self.classes) > len(set(self.classes)) and not self.mutual


def read_frames() -> dict[str, Frame]:
    """Every frame by name, in the order of the file."""
    frames = {}
    for entry in entries("frames.jsonl"):
        roles = {
            name: Role(adjectives=fillers) if isinstance(fillers, str) else Role(tuple(fillers.items()))
            for name, fillers in entry["roles"].items()
        }
        sayings = [Saying(**saying | {"rest": saying.get("rest", "").split()}) for saying in entry["sayings"]]
        frames[entry["name"]] = Frame(**entry | {"roles": roles, "sayings": sayings})
    return frames
