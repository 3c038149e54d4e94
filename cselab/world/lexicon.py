"""The words of the world, read from the files in data/ with one entry per line: meanings, forms and relations."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from random import Random
from typing import Any


@cache
def entries(name: str) -> Sequence[Any]:
    """The entries of a file in data/, in their order; all callers share them."""
    lines = files("cselab.world").joinpath("data", name).read_text(encoding="utf-8").splitlines()
    return [*map(json.loads, lines)]


@dataclass(eq=False)
class Noun:
    """A node of the tree of nouns; a child stands under what it is a kind of.

    Attributes:
        words: its synonyms, the own name first, each as a pair of one and several.
        kind: "count"; "mass" (bread); "bare", never with an article (chess); "pair", plural only (scissors);
            "unique", always with "the" (the moon); "mine", said with "my" (uncle); "name"; "class", which is never
            said.
        families: the families of adjectives that suit it.
        on: the preposition of a place, "in" if empty.
        possessive: "his", "her", "their" or "its".
    """

    words: list[tuple[str, str]]
    parent: "Noun | None" = None
    kind: str = "count"
    families: list[str] = field(default_factory=list)
    on: str = ""
    possessive: str = "its"
    children: "list[Noun]" = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.words[0][0]

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
    def hypernym(self) -> "Noun | None":
        """The nearest broader noun with a word."""
        return self.parent if not self.parent or self.parent.said else self.parent.hypernym


@dataclass(frozen=True)
class Word:
    """An adjective, adverb, time, quantity or opener: words of one meaning, and its relations.

    `feeling` is 1 for a pleasant word, -1 for an unpleasant one; a time lies `within` a longer one.
    """

    name: str
    words: list[str]
    family: str
    opposite: str = ""
    feeling: int = 0
    within: str = ""


class Lexicon:
    """All words by name: `nouns`, `words` (the rest; their names are "family.word"), `families` of words, `verbs`.

    A verb has its forms: third person, past, participle, -ing.
    """

    def __init__(self) -> None:
        self.nouns: dict[str, Noun] = {}
        for entry in entries("nouns.jsonl"):
            parent = self.nouns.get(entry.get("parent"))
            if parent:  # from which it inherits unset fields
                inherited = {"families": parent.families, "on": parent.on, "possessive": parent.possessive}
                entry = inherited | entry | {"parent": parent}
            noun = Noun(**entry)
            self.nouns[noun.name] = noun
            if parent:
                parent.children.append(noun)
        self.words = {entry["name"]: Word(**entry) for entry in entries("words.jsonl")}
        self.families: dict[str, list[str]] = {}
        for word in self.words.values():
            self.families.setdefault(word.family, []).append(word.name)
        self.verbs = {base: forms for base, *forms in entries("verbs.jsonl")}

    @property
    def names(self) -> list[Noun]:
        """All named people and things: the parent is the kind, and further words are further names."""
        return [noun for noun in self.nouns.values() if noun.kind == "name"]

    def pick(self, name: str, rng: Random) -> Noun:
        """Any noun of a class, a branch at a time, so that small branches show too."""
        noun = self.nouns[name]
        while noun.children and not (noun.said and rng.random() < 0.1):
            noun = rng.choice(noun.children)
        return noun
