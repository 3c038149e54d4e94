"""Changes of events: one meaning becomes a second one that differs in one known way.

Every change gives a new meaning, or None where the meaning has nothing to change.
"""

import itertools
from collections.abc import Callable
from dataclasses import replace
from random import Random

from .composer import Composer
from .frames import Frame
from .meaning import Meaning, Thing

NEEDS: dict[str, Callable[[Frame], bool]] = {  # the frames in which a change is possible, where they are few
    "roles": lambda frame: frame.reversible,
    "opposite": lambda frame: frame.describes or bool(frame.opposite),
}


def same(world: Composer, meaning: Meaning, rng: Random) -> Meaning:
    """The same meaning; only its wording may change."""
    return meaning


def negation(world: Composer, meaning: Meaning, rng: Random) -> Meaning | None:
    """Denied, or no longer denied; not with a manner, number or habit, whose denial is weaker than it seems."""
    counted = any(thing.quantity in world.lexicon.words for _, thing in meaning.roles)
    if meaning.way or counted or meaning.tense == "habit":
        return None
    return replace(meaning, negated=not meaning.negated)


def roles(world: Composer, meaning: Meaning, rng: Random) -> Meaning | None:
    """Two participants change places: "Anna hugs Tom", "Tom hugs Anna"."""
    frame, things = world.frames[meaning.frame], dict(meaning.roles)
    pairs = [
        (x, y)
        for x, y in itertools.combinations(things, 2)
        if world.may_fill(frame.roles[x], things[y]) and world.may_fill(frame.roles[y], things[x])
    ]
    if not pairs or frame.mutual:
        return None
    x, y = rng.choice(pairs)
    return meaning.filled(**{x: things[y], y: things[x]})


def number(world: Composer, meaning: Meaning, rng: Random) -> Meaning | None:
    """A number in the statement is replaced by a different one."""
    counted = [(name, thing) for name, thing in meaning.roles if thing.quantity in world.lexicon.words]
    if not counted:
        return None
    name, thing = rng.choice(counted)
    return meaning.filled(**{name: replace(thing, quantity=world.number(world.lexicon.nouns[thing.noun], rng))})


def hypernym(world: Composer, meaning: Meaning, rng: Random) -> Meaning | None:
    """A broader word for one participant, or a broader event."""
    kind_of = world.frames[meaning.frame].kind_of
    options = [replace(meaning, frame=kind_of)] if kind_of else []
    for name, thing in meaning.roles:
        noun = world.lexicon.nouns[thing.noun].hypernym if thing.noun else None
        if noun and all(noun.name != other.noun for _, other in meaning.roles):
            several = thing.quantity if noun.kind == "count" else ""
            options.append(meaning.filled(**{name: Thing(noun.name, "", several)}))
    return rng.choice(options) if options else None


def opposite(world: Composer, meaning: Meaning, rng: Random) -> Meaning | None:
    """The contrary without a "not": passed and failed, delicious and awful."""
    frame = world.frames[meaning.frame]
    if frame.opposite:
        return world.retell(meaning, world.frames[frame.opposite], rng)
    for name, thing in meaning.roles:
        contrary = "" if thing.noun else world.lexicon.words[thing.quality].opposite
        if contrary:
            return meaning.filled(**{name: Thing(quality=contrary)})
    return None


def less(world: Composer, meaning: Meaning, rng: Random) -> Meaning | None:
    """One detail omitted or less exact."""
    words = world.lexicon.words
    options = [replace(meaning, place=None), replace(meaning, way="")]
    if meaning.time and meaning.tense != "habit":
        options.append(replace(meaning, time=words[meaning.time].within))
    for name, thing in meaning.roles:
        if thing.quantity in words and words[thing.quantity].within:
            options.append(meaning.filled(**{name: replace(thing, quantity=words[thing.quantity].within)}))
    options += [meaning.filled(**{name: replace(thing, quality="")}) for name, thing in meaning.roles if thing.noun]
    return one_of(options, meaning, rng)


def more(world: Composer, meaning: Meaning, rng: Random) -> Meaning | None:
    """One detail added."""
    donor = world.compose(world.frames[meaning.frame], rng)
    options = [] if meaning.place else [replace(meaning, place=donor.place)]
    if donor.tense == meaning.tense and not meaning.time:
        options.append(replace(meaning, time=donor.time))
    if not meaning.way and not meaning.negated:
        options.append(replace(meaning, way=donor.way))
    return one_of(options, meaning, rng)


def moved(world: Composer, meaning: Meaning, rng: Random) -> Meaning | None:
    """The time or the place is replaced by a different one."""
    donor = world.compose(world.frames[meaning.frame], rng)
    options = [replace(meaning, tense=donor.tense, time=donor.time)]
    options += [replace(meaning, place=donor.place)] if meaning.place and donor.place else []
    return one_of(options, meaning, rng)


def detail(world: Composer, meaning: Meaning, rng: Random) -> Meaning | None:
    """One detail left out, added or replaced."""
    return rng.choice((less, more, moved))(world, meaning, rng)


def details(world: Composer, meaning: Meaning, rng: Random) -> Meaning | None:
    """Two details left out, added or replaced."""
    changed = detail(world, meaning, rng)
    return changed and detail(world, changed, rng)


def other(world: Composer, meaning: Meaning, rng: Random) -> Meaning | None:
    """One role is filled by a different person or thing."""
    frame = world.frames[meaning.frame]
    if not meaning.roles:
        return None
    name, thing = rng.choice(world.compose(frame, rng).roles)
    if thing.noun:
        thing = Thing(thing.noun, "", meaning[name].quantity)
        new, old = world.lexicon.nouns[thing.noun], world.lexicon.nouns[meaning[name].noun]
        broader = new.is_a(old.name) or old.is_a(new.name)
        taken = any(thing.noun == another.noun for _, another in meaning.roles)
        if broader or taken or not world.may_fill(frame.roles[name], thing):
            return None
    return meaning.filled(**{name: thing})


def event(world: Composer, meaning: Meaning, rng: Random) -> Meaning:
    """A different event of the topic, neither opposite nor broader, with the same participants if possible."""
    frame = world.frames[meaning.frame]
    near = {frame.name, frame.kind_of, frame.opposite} - {""}
    others = [other for other in world.of_topic[frame.topic] if not near & {other.name, other.kind_of}]
    return world.retell(meaning, rng.choice(others), rng)


def topic(world: Composer, meaning: Meaning, rng: Random) -> Meaning:
    """A different statement about the same topic."""
    return world.compose(rng.choice(world.of_topic[world.frames[meaning.frame].topic]), rng)


def words(world: Composer, meaning: Meaning, rng: Random) -> Meaning:
    """An event of a different topic, with the same participants, time and place if possible."""
    topic = rng.choice([topic for topic in world.of_topic if topic != world.frames[meaning.frame].topic])
    return world.retell(meaning, rng.choice(world.of_topic[topic]), rng)


def none(world: Composer, meaning: Meaning, rng: Random) -> Meaning:
    """A statement drawn from all topics."""
    return world.compose(rng.choice(list(world.frames.values())), rng)


def one_of(options: list[Meaning], meaning: Meaning, rng: Random) -> Meaning | None:
    """A random option that differs from the meaning."""
    options = [option for option in options if option != meaning]
    return rng.choice(options) if options else None
