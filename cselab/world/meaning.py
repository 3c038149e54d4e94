"""The meaning of a sentence, without its wording."""

import hashlib
from dataclasses import dataclass, replace

SPLIT_PERCENTILES = {"train": 80, "dev": 90, "test": 100}  # up to which percentile of the stories


@dataclass(frozen=True)
class Thing:
    """The filler of a role: a noun, an optional quality, and a quantity ("" is one, "some" is more than one).

    A role for an adjective ("the soup was ...") has a quality without a noun.
    """

    noun: str = ""
    quality: str = ""
    quantity: str = ""


@dataclass(frozen=True)
class Meaning:
    """A situation: its frame, the fillers of its roles, when, where, how, and whether it is denied.

    All by name, as in the lexicon and the frames.
    """

    frame: str
    roles: tuple[tuple[str, Thing], ...]
    tense: str = "past"
    time: str = ""
    place: Thing | None = None
    way: str = ""
    negated: bool = False

    def __getitem__(self, role: str) -> Thing:
        return dict(self.roles)[role]

    def filled(self, **roles: Thing) -> "Meaning":
        """The same meaning with different fillers in some roles."""
        return replace(self, roles=tuple((name, roles.get(name, thing)) for name, thing in self.roles))

    @property
    def story(self) -> str:
        """Frame and participants, in no order: independent of details, denial and the order of roles."""
        return "/".join([self.frame, *sorted(thing.noun or thing.quality for _, thing in self.roles)])

    @property
    def split(self) -> str:
        """Its one of `SPLIT_PERCENTILES`, by a hash of the story."""
        percentile = int(hashlib.sha256(self.story.encode()).hexdigest()[:8], 16) % 100
        return next(split for split, bound in SPLIT_PERCENTILES.items() if percentile < bound)


@dataclass(frozen=True)
class Sentence:
    """A text and its meaning."""

    text: str
    meaning: Meaning

    def __str__(self) -> str:
        return self.text


def overlap(pair: tuple[Sentence, Sentence]) -> float:
    """Jaccard similarity of the sets of words."""
    one, two = (set(sentence.text.lower().strip(".?").split()) for sentence in pair)
    return len(one & two) / len(one | two)
