"""The words of the world, read from the files in data/: what they mean and how they are said."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files

from cselab.world import morphology

KINDS = {"~": "mass", "=": "bare", "+": "pair", "^": "unique", "'": "mine"}
GENDERS = {"man": "his", "boy": "his", "kinsman": "his", "woman": "her", "girl": "her", "kinswoman": "her"}
TITLES = {"woman": "Ms", "man": "Mr"}


def lines(name: str) -> Iterator[str]:
    """The lines of a data file that are neither blank nor comment."""
    for line in files("cselab.world").joinpath("data", name).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line


def split(text: str, mark: str) -> list[str]:
    return [part.strip() for part in text.split(mark) if part.strip()]


@dataclass
class Noun:
    """A thing that can be talked about, a node of the tree in nouns.txt; `words` are (one, several)."""

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

    def ancestors(self) -> Iterator[Noun]:
        """Itself, then what it is a kind of, nearest first."""
        node = self
        while node:
            yield node
            node = node.parent

    @cached_property
    def kinds(self) -> frozenset[str]:
        return frozenset(node.name for node in self.ancestors())

    def is_a(self, name: str) -> bool:
        return name in self.kinds

    def hypernym(self) -> Noun | None:
        """The nearest broader word that can be said."""
        return next((node for node in self.ancestors() if node.said and node is not self), None)

    def below(self) -> Iterator[Noun]:
        """Every noun of this class that can be said."""
        if self.said:
            yield self
        for child in self.children:
            yield from child.below()

    @cached_property
    def possessive(self) -> str:
        if not self.is_a("person"):
            return "its"
        return next((GENDERS[node.name] for node in self.ancestors() if node.name in GENDERS), "their")


@dataclass(frozen=True)
class Word:
    """An adjective, an adverb, a time or a quantity: words of one meaning, and how it stands to others."""

    name: str
    words: tuple[str, ...]
    family: str = ""
    opposite: str = ""
    feeling: int = 0
    within: str = ""


class Lexicon:
    """All words by concept: `nouns`, `qualities`, `ways` (adverbs), `times`, `quantities`, `verbs`."""

    def __init__(self):
        self.nouns: dict[str, Noun] = {}
        self._read_nouns()
        self._read_names()
        self.qualities = self._read_families("adjectives.txt")
        self.ways = self._read_families("adverbs.txt")
        self.times = self._read_times()
        self.quantities = self._read_quantities()
        self.numbers = list(self.quantities)
        self.openers = {
            head: split(tail, ";") for head, _, tail in (s.partition(":") for s in lines("openers.txt"))
        }
        self.families: dict[str, list[str]] = {}
        for word in [*self.qualities.values(), *self.ways.values(), *self.times.values()]:
            self.families.setdefault(word.family, []).append(word.name)
        self.verbs = {base: (past, *rest) for base, past, *rest in map(str.split, lines("verbs.txt"))}

    def pick(self, expression: str, rng: random.Random) -> Noun:
        """Any noun of "class|class": first a class, then a branch at a time, so that small branches show too."""
        node = self.nouns[rng.choice(expression.split("|"))]
        while node.children and not (node.said and rng.random() < 0.25):
            node = rng.choice(node.children)
        return node

    def verb(self, base: str) -> tuple[str, str, str]:
        """Past, participle and -ing form."""
        if base not in self.verbs:
            self.verbs[base] = (morphology.past(base), morphology.past(base), morphology.progressive(base))
        return self.verbs[base]

    def _add_noun(self, text: str, parent: Noun | None, families: list[str], on: str) -> Noun:
        kind = KINDS.get(text[0], "count")
        text = text[1:] if kind != "count" else text
        if text.startswith("("):
            kind, text = "class", text.strip("()")
        words = []
        for word in split(text, ","):
            one, _, several = word.lstrip("".join(KINDS)).partition("/")
            words.append(
                (one, one if word[0] == "+" or kind == "pair" else several or morphology.plural(one))
            )
        if words[0][0] in self.nouns:
            raise ValueError(f"nouns.txt has {words[0][0]!r} twice")
        noun = self.nouns[words[0][0]] = Noun(words[0][0], words, parent, kind, families, on)
        if parent:
            parent.children.append(noun)
        return noun

    def _read_nouns(self):
        above: list[tuple[int, Noun]] = []
        for line in lines("nouns.txt"):
            indent = len(line) - len(line.lstrip())
            above = [(depth, node) for depth, node in above if depth < indent]
            parent = above[-1][1] if above else None
            head, colon, tail = line.strip().partition(":")
            if colon:
                parent = self._noun_entry(head, parent)
                above.append((indent, parent))
            for entry in split(tail if colon else head, ";"):
                node = self._noun_entry(entry, parent)
            if not colon and ";" not in head:
                above.append((indent, node))

    def _noun_entry(self, entry: str, parent: Noun | None) -> Noun:
        entry, bracket, inside = entry.partition("[")
        families = inside.split("]")[0].split() if bracket else parent.families if parent else []
        tail = inside.split("]")[1] if bracket else ""
        text, _, on = (entry + tail).replace(" @", "@").partition("@")
        word_on, _, synonyms = on.partition(",")
        if synonyms:
            text = f"{text},{synonyms}"
        return self._add_noun(
            text.strip(), parent, families, word_on.strip() or (parent.on if parent else "")
        )

    def _read_names(self):
        for line in lines("names.txt"):
            head, _, tail = line.partition(":")
            parent = self.nouns[head]
            for entry in split(tail, ";"):
                names = split(entry, ",")
                if head in TITLES:
                    first, last = names[0].split()
                    names += [first, f"{TITLES[head]} {last}"]
                words = [(name, name) for name in names]
                self.nouns[names[0]] = Noun(names[0], words, parent, "name", [], parent.on)
                parent.children.append(self.nouns[names[0]])

    def _read_families(self, file: str) -> dict[str, Word]:
        table = {}
        for line in lines(file):
            family, _, tail = line.partition(":")
            for scale in split(tail, ";"):
                poles = [split(pole, ",") for pole in split(scale, "|")]
                names = [f"{family}.{pole[0].lstrip('+-')}" for pole in poles]
                for i, pole in enumerate(poles):
                    feeling = {"+": 1, "-": -1}.get(pole[0][0], 0)
                    words = (pole[0].lstrip("+-"), *pole[1:])
                    table[names[i]] = Word(
                        names[i], words, family, names[1 - i] if len(poles) == 2 else "", feeling
                    )
        return table

    def _read_times(self) -> dict[str, Word]:
        table = {}
        for line in lines("times.txt"):
            family, _, tail = line.partition(":")
            for entry in split(tail, ";"):
                said, _, within = entry.partition("<")
                words = tuple(split(said, ","))
                within = f"{family}.{within.strip()}" if within else ""
                table[f"{family}.{words[0]}"] = Word(f"{family}.{words[0]}", words, family, within=within)
        return table

    def _read_quantities(self) -> dict[str, Word]:
        table = {}
        for line in lines("quantities.txt"):
            said, _, within = line.partition("<")
            words = tuple(split(said, ","))
            table[words[0]] = Word(words[0], words, within=within.strip())
        return table
