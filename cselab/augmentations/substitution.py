"""Words replaced by others: synonyms, antonyms, or what a user's table says."""

import re
from collections.abc import Mapping, Sequence

import torch

WORD = re.compile(r"\w+(?:['-]\w+)*")
Place = tuple[int, int]


class Substitution:
    """Replaces some words of a text by what a table has for them.

    Phrases of several words are found, too, the longest first. A replacement of a capitalised word is capitalised.
    Words are matched as they stand in the table, without inflection.

    Args:
        table: word or phrase -> what may take its place.

    >>> swap = Substitution({"big": ["large"], "dog": ["hound"]})
    >>> swap(["Big dogs and a big dog."], 1.0, torch.Generator())
    ['Large dogs and a large hound.']

    See also: `Substitution.among`, for groups of words of one meaning; `delete_words`.
    """

    def __init__(self, table: Mapping[str, Sequence[str]]) -> None:
        self.table = {word.lower(): [other for other in others if other != word] for word, others in table.items()}
        self.table = {word: others for word, others in self.table.items() if others}
        self.longest = max((len(WORD.findall(word)) for word in self.table), default=1)

    @classmethod
    def among(cls, groups: Sequence[Sequence[str]]) -> "Substitution":
        """Each word may be replaced by any other of its group: what `World().synonyms().values()` gives."""
        table: dict[str, list[str]] = {}
        for group in groups:
            for word in group:
                table.setdefault(word, []).extend(other for other in group if other != word)
        return cls({word: list(dict.fromkeys(others)) for word, others in table.items()})

    def __call__(self, texts: Sequence[str], share: float, generator: torch.Generator) -> list[str]:
        """The texts, each with `share` of its words replaced: at least one, at most those that the table has."""
        return [self.replaced(text, share, generator)[0] for text in texts]

    def replaced(self, text: str, share: float, generator: torch.Generator) -> tuple[str, list[Place]]:
        """The changed text, and from where to where in it the replacements stand."""
        words = [match.span() for match in WORD.finditer(text)]
        known = self._known(text, words)
        count = min(len(known), max(1, round(share * len(words))))
        chosen = sorted(torch.randperm(len(known), generator=generator)[:count].tolist())
        out, end, places = "", 0, []
        for begin, stop in (known[index] for index in chosen):
            others = self.table[text[begin:stop].lower()]
            other = others[int(torch.randint(len(others), (), generator=generator))]
            other = other[0].upper() + other[1:] if text[begin].isupper() else other
            out += text[end:begin] + other
            places.append((len(out) - len(other), len(out)))
            end = stop
        return out + text[end:], places

    def _known(self, text: str, words: Sequence[Place]) -> list[Place]:
        """Where the words and phrases of the table stand, from left to right, without overlap."""
        places, index = [], 0
        while index < len(words):
            for length in range(min(self.longest, len(words) - index), 0, -1):
                place = words[index][0], words[index + length - 1][1]
                if text[slice(*place)].lower() in self.table:
                    places.append(place)
                    index += length - 1
                    break
            index += 1
        return places
