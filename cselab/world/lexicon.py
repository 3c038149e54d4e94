"""The words of the world, read from the files in data/: meanings and forms."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from typing import Any

from cselab.world import morphology

KINDS = {"": "count", "~": "mass", "=": "bare", "+": "pair", "^": "unique", "'": "mine", "(": "class"}
GENDERS = dict.fromkeys(("man", "boy", "kinsman", "groom", "king", "prince", "waiter"), "his")
GENDERS |= dict.fromkeys(("woman", "girl", "kinswoman", "bride", "queen", "princess", "waitress", "actress"), "her")
TITLES = {"woman": "Ms", "man": "Mr"}
# An entry of nouns.txt: mark, words, preposition, adjective families.
ENTRY = re.compile(r"([~=+^'(]?)([^@\[]+?)\)? *(?:@(\w+))? *(?:\[(.*)\])?")
FEELINGS = {"+": 1, "-": -1}


def lines(name: str) -> Iterator[str]:
    """The lines of a data file that are neither blank nor comment."""
    for line in files("cselab.world").joinpath("data", name).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line


def split(text: str, mark: str) -> list[str]:
    """The parts of a text between marks, trimmed, without empty ones."""
    return [part.strip() for part in text.split(mark) if part.strip()]


@dataclass(eq=False)
class Noun:
    """A node of the tree in nouns.txt; `words` are pairs of one and several."""

    name: str
    words: list[tuple[str, str]]
    parent: Noun | None = None
    kind: str = "count"
    families: list[str] = field(default_factory=list)
    on: str = ""
    children: list[Noun] = field(default_factory=list)

    @property
    def said(self) -> bool:
        return self.kind != "class"

    @cached_property
    def ancestors(self) -> list[str]:
        """Its name, then its broader nouns, nearest first."""
        return [self.name, *(self.parent.ancestors if self.parent else [])]

    def is_a(self, name: str) -> bool:
        return name in self.ancestors

    @cached_property
    def hypernym(self) -> Noun | None:
        """The nearest broader noun with a word."""
        return self.parent if not self.parent or self.parent.said else self.parent.hypernym

    @cached_property
    def possessive(self) -> str:
        nobody = "their" if self.is_a("person") else "its"
        return next((GENDERS[name] for name in self.ancestors if name in GENDERS), nobody)


@dataclass(frozen=True)
class Word:
    """An adjective, adverb, time, quantity or opener: words of one meaning, and its relations."""

    name: str
    words: tuple[str, ...]
    family: str
    opposite: str = ""
    feeling: int = 0
    within: str = ""


class Lexicon:
    """All words by name: `nouns`, `words` (the rest; their names are "family.word"), `families` of words."""

    def __init__(self) -> None:
        self.nouns: dict[str, Noun] = {}
        self._read_nouns()
        self._read_names()
        self.words: dict[str, Word] = {}
        for file in ("adjectives", "adverbs", "times", "quantities", "openers"):
            self._read_words(f"{file}.txt")
        self.families: dict[str, list[str]] = {}
        for word in self.words.values():
            self.families.setdefault(word.family, []).append(word.name)
        self.verbs = {base: (past, *rest) for base, past, *rest in map(str.split, lines("verbs.txt"))}

    @property
    def names(self) -> list[Noun]:
        """All named people and things: the parent is the kind, and further words are further names."""
        return [noun for noun in self.nouns.values() if noun.kind == "name"]

    def pick(self, name: str, rng: random.Random) -> Noun:
        """Any noun of a class, a branch at a time, so that small branches show too."""
        noun = self.nouns[name]
        while noun.children and not (noun.said and rng.random() < 0.1):
            noun = rng.choice(noun.children)
        return noun

    def verb(self, base: str) -> tuple[str, ...]:
        """Past, participle and -ing form."""
        if base not in self.verbs:
            self.verbs[base] = (morphology.past(base), morphology.past(base), morphology.progressive(base))
        return self.verbs[base]

    def _add(self, noun: Noun) -> Noun:
        if noun.name in self.nouns:
            raise ValueError(f"two nouns are named {noun.name!r}")
        self.nouns[noun.name] = noun
        if noun.parent:
            noun.parent.children.append(noun)
        return noun

    def _read_nouns(self) -> Any:
        branch: list[tuple[int, Noun]] = []
        for line in lines("nouns.txt"):
            depth = len(line) - len(line.lstrip())
            branch = [(above, noun) for above, noun in branch if above < depth]
            parent = branch[-1][1] if branch else None
            head, _, tail = line.partition(":")
            for entry in split(head, ";"):
                noun = self._noun(entry, parent)
            branch.append((depth, noun))
            for entry in split(tail, ";"):
                self._noun(entry, noun)

    def _noun(self, entry: str, parent: Noun | None) -> Noun:
        matched = ENTRY.fullmatch(entry)
        if matched is None:
            raise ValueError(f"{entry!r} is not an entry of nouns.txt")
        mark, said, on, families = matched.groups()
        words = []
        for word in split(said, ","):
            one, _, several = word.lstrip("".join(KINDS)).partition("/")
            words.append((one, one if mark == "+" else several or morphology.plural(one)))
        families = families.split() if families is not None else parent.families if parent else []
        on = on or (parent.on if parent else "")
        return self._add(Noun(words[0][0], words, parent, KINDS[mark], families, on))

    def _read_names(self) -> Any:
        for line in lines("names.txt"):
            kind, _, tail = line.partition(":")
            for entry in split(tail, ";"):
                names = split(entry, ",")
                if kind in TITLES:
                    first, last = entry.split()
                    names += [first, f"{TITLES[kind]} {last}"]
                parent = self.nouns[kind]
                self._add(Noun(names[0], [(name, name) for name in names], parent, "name", on=parent.on))

    def _read_words(self, file: str) -> Any:
        """ "family: word, synonym | opposite; word < wider word"; "+" and "-" mark pleasant and unpleasant words."""
        for line in lines(file):
            family, _, tail = line.partition(":")
            for scale in split(tail, ";"):
                poles = [pole.partition("<") for pole in scale.split("|")]
                words = [split(said.strip(" +-"), ",") for said, _, _ in poles]
                names = [f"{family}.{synonyms[0]}" for synonyms in words]
                for name, synonyms, (said, _, within) in zip(names, words, poles, strict=True):
                    opposite = next((other for other in names if other != name), "")
                    feeling = FEELINGS.get(said.strip()[0], 0)
                    within = within and f"{family}.{within.strip()}"
                    self.words[name] = Word(name, tuple(synonyms), family, opposite, feeling, within)
