"""The similarity of two meanings on the 0 to 5 scale of the STS tasks, by their content and not by their words.

    5  the same meaning
    4  one difference of little weight: a time, place, manner or quality; a broader word ("dog", "animal")
    3  one that matters: somebody or something else, another number; or two of little weight
    2  one that turns the statement: it is denied, its opposite is said, the roles are exchanged; three of little
       weight; or the same people and things in another event
    1  the same topic, or the same kind of event with nothing else in common
    0  different topics

Each difference has a cost; within one kind of event the grade is 5 less the costs, but at least 1.
"""

from dataclasses import dataclass
from itertools import combinations

from .frames import Frame
from .lexicon import Lexicon
from .meaning import Meaning, Thing

LITTLE, MUCH, TURNED = 1, 2, 3


@dataclass
class Rubric:
    """`grade(a, b)` from 0 to 5."""

    lexicon: Lexicon
    frames: dict[str, Frame]

    def grade(self, a: Meaning, b: Meaning) -> int:
        """The similarity of two meanings, independent of their words and their order."""
        first, second = self.frames[a.frame], self.frames[b.frame]
        if self.comparable(first, second):
            return max(1, 5 - self.cost(a, b))
        if first.topic != second.topic:
            return 0
        shared = {thing.noun for _, thing in a.roles} & {thing.noun for _, thing in b.roles}
        return 2 if len(shared) > 1 else 1

    def comparable(self, a: Frame, b: Frame) -> bool:
        """One kind of event, a narrower and a broader kind (frying, cooking), or two opposites."""
        return a.name in (b.name, b.kind_of, b.opposite) or b.name in (a.kind_of, a.opposite)

    def cost(self, a: Meaning, b: Meaning) -> int:
        """The cost of the differences between two comparable meanings."""
        opposed, denied = self.frames[a.frame].opposite == b.frame, a.negated != b.negated
        if opposed and denied:
            event = MUCH  # "did not pass" is weaker than "failed"
        elif opposed or denied:
            event = TURNED
        else:
            event = LITTLE * (a.frame != b.frame)  # one is broader
        details = (a.tense, a.time) != (b.tense, b.time), a.place != b.place, a.way != b.way
        return event + self._participants(a, b) + LITTLE * sum(details)

    def _participants(self, a: Meaning, b: Meaning) -> int:
        ours, theirs = dict(a.roles), dict(b.roles)
        cost, shared = 0, sorted(ours.keys() & theirs.keys())
        for x, y in combinations(shared, 2):
            if a.frame == b.frame and (ours[x].noun, ours[y].noun) == (theirs[y].noun, theirs[x].noun):
                theirs = theirs | {x: theirs[y], y: theirs[x]}
                cost += 0 if self.frames[a.frame].mutual else TURNED
        return cost + sum(self._thing(ours[role], theirs[role]) for role in shared)

    def _thing(self, a: Thing, b: Thing) -> int:
        cost = 0
        if a.noun != b.noun:
            broader = self.lexicon.nouns[a.noun].is_a(b.noun) or self.lexicon.nouns[b.noun].is_a(a.noun)
            cost += LITTLE if broader else MUCH
        if a.quality != b.quality:
            opposed = not a.noun and self.lexicon.words[a.quality].opposite == b.quality
            cost += LITTLE if a.noun else TURNED if opposed else MUCH
        if a.quantity != b.quantity:
            first, second = (self.lexicon.words.get(thing.quantity) for thing in (a, b))
            exact = first and second and first.within != b.quantity and second.within != a.quantity
            cost += MUCH if exact else LITTLE
        return cost
