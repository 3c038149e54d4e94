"""How alike two meanings are, on the 0 to 5 scale of the STS tasks, by what they share and not by their words.

    5  the same meaning
    4  one difference of little weight: a time, place, manner or quality; a broader word ("dog", "animal")
    3  one that matters: somebody or something else, another number; or two of little weight
    2  one that turns the statement: it is denied, its opposite is said, the roles are exchanged; three of little
       weight; or the same people and things in another event
    1  the same topic, or the same kind of event with nothing else in common
    0  different topics

Each difference has a cost; within one kind of event the grade is 5 less the costs, but at least 1.
"""

from __future__ import annotations

from itertools import combinations

from cselab.world.frames import Frame
from cselab.world.lexicon import Lexicon
from cselab.world.meaning import Meaning, Thing

LITTLE, MUCH, TURNED = 1, 2, 3


class Rubric:
    """`grade(a, b)` from 0 to 5; `differences(a, b)` are its reasons with their costs."""

    def __init__(self, lexicon: Lexicon, frames: dict[str, Frame]) -> None:
        self.lexicon, self.frames = lexicon, frames

    def grade(self, a: Meaning, b: Meaning) -> int:
        """How alike two meanings are, whatever their words; the order does not matter."""
        first, second = self.frames[a.frame], self.frames[b.frame]
        if self.comparable(first, second):
            return max(1, 5 - sum(cost for _, cost in self.differences(a, b)))
        if first.topic != second.topic:
            return 0
        shared = {thing.noun for _, thing in a.roles} & {thing.noun for _, thing in b.roles}
        return 2 if len(shared) > 1 else 1

    def comparable(self, a: Frame, b: Frame) -> bool:
        """One kind of event, a narrower and a broader kind (frying, cooking), or two opposites."""
        return a.name in (b.name, b.kind_of, b.opposite) or b.name in (a.kind_of, a.opposite)

    def differences(self, a: Meaning, b: Meaning) -> list[tuple[str, int]]:
        """What differs between two comparable meanings, and what it costs."""
        out = []
        opposed = self.frames[a.frame].opposite == b.frame
        if opposed and a.negated != b.negated:
            out.append(("opposite", MUCH))  # "did not pass" is weaker than "failed"
        elif opposed or a.negated != b.negated:
            out.append(("opposite" if opposed else "negation", TURNED))
        elif a.frame != b.frame:
            out.append(("hypernym", LITTLE))
        out += self._participants(a, b)
        details = (a.tense, a.time) != (b.tense, b.time), a.place != b.place, a.way != b.way
        return out + sum(details) * [("detail", LITTLE)]

    def _participants(self, a: Meaning, b: Meaning) -> list[tuple[str, int]]:
        ours, theirs = dict(a.roles), dict(b.roles)
        out, shared = [], sorted(ours.keys() & theirs.keys())
        for x, y in combinations(shared, 2):
            if a.frame == b.frame and (ours[x].noun, ours[y].noun) == (theirs[y].noun, theirs[x].noun):
                theirs = theirs | {x: theirs[y], y: theirs[x]}
                out += [] if self.frames[a.frame].mutual else [("roles", TURNED)]
        return out + [cost for role in shared for cost in self._thing(ours[role], theirs[role])]

    def _thing(self, a: Thing, b: Thing) -> list[tuple[str, int]]:
        out = []
        if a.noun != b.noun:
            one, other = self.lexicon.nouns[a.noun], self.lexicon.nouns[b.noun]
            out.append(("hypernym", LITTLE) if one.is_a(b.noun) or other.is_a(a.noun) else ("other", MUCH))
        if a.quality != b.quality:
            if a.noun:
                out.append(("detail", LITTLE))
            else:
                opposed = self.lexicon.words[a.quality].opposite == b.quality
                out.append(("opposite", TURNED) if opposed else ("other", MUCH))
        if a.quantity != b.quantity:
            first, second = (self.lexicon.words.get(thing.quantity) for thing in (a, b))
            exact = bool(first and second and first.within != b.quantity and second.within != a.quantity)
            out.append(("number", MUCH) if exact else ("detail", LITTLE))
        return out
