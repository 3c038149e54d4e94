"""What a sentence says, apart from how it says it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Thing:
    """What fills a role: a noun of the lexicon, perhaps with a quality, and how many ("" is one, "some" several).

    A role that asks for an adjective ("the soup was ...") is filled by a Thing with a quality and no noun.
    """

    noun: str = ""
    quality: str = ""
    quantity: str = ""


@dataclass(frozen=True)
class Meaning:
    """A situation: its frame, who and what fills the roles, when, where, how, and whether it is denied."""

    frame: str
    roles: tuple[tuple[str, Thing], ...]
    tense: str = "past"
    time: str = ""
    place: Thing | None = None
    way: str = ""
    negated: bool = False

    def __getitem__(self, role: str) -> Thing:
        return dict(self.roles)[role]

    @property
    def story(self) -> str:
        """Frame and participants in no order: what stays when details, polarity or the roles' order change."""
        return "/".join([self.frame, *sorted(thing.noun or thing.quality for _, thing in self.roles)])

    @property
    def split(self) -> str:
        """ "train" (80 %), "dev" (10 %) or "test" (10 %), by a hash of the story: its variants stay together."""
        bucket = hashlib.sha256(self.story.encode()).digest()[0] / 256
        return "train" if bucket < 0.8 else "dev" if bucket < 0.9 else "test"


@dataclass(frozen=True)
class Sentence:
    """A text and what it means."""

    text: str
    meaning: Meaning

    def __str__(self) -> str:
        return self.text
