"""Replaced words: synonyms, antonyms, or words of a user's table."""

import re
from collections.abc import Mapping, Sequence

import torch

from cselab._util.arguments import Texts, UnitInterval, checked

WORD = re.compile(r"\w+(?:['-]\w+)*")
Place = tuple[int, int]


class Substitution:
    """Replaces some words of a text by entries of a table.

    Phrases of several words are found, too, the longest first. A replacement of a capitalised word is capitalised.
    Words must match the table exactly, without inflection.

    Args:
        table: word or phrase -> its replacements.

    >>> swap = Substitution({"big": ["large"], "dog": ["hound"]})
    >>> swap(["Big dogs and a big dog."], 1.0, torch.Generator())
    ['Large dogs and a large hound.']

    See also: `Substitution.among`, for groups of words of one meaning; `delete_words`.
    """

    @checked
    def __init__(self, table: Mapping[str, Sequence[str]]) -> None:
        self.table = {word.lower(): [other for other in others if other != word] for word, others in table.items()}
        self.table = {word: others for word, others in self.table.items() if others}
        self.longest = max((len(WORD.findall(word)) for word in self.table), default=1)

    @classmethod
    def among(cls, groups: Sequence[Sequence[str]]) -> "Substitution":
        """Each word may be replaced by any word of its group, for example of `World().synonyms().values()`."""
        table: dict[str, list[str]] = {}
        for group in groups:
            for word in group:
                table.setdefault(word, []).extend(other for other in group if other != word)
        return cls({word: list(dict.fromkeys(others)) for word, others in table.items()})

    @checked
    def __call__(self, texts: Texts, share: UnitInterval, generator: torch.Generator) -> list[str]:
        """The texts, each with `share` of its words replaced: at least one, at most those that the table has."""
        return [self.replaced(text, share, generator)[0] for text in texts]

    def replaced(self, text: str, share: UnitInterval, generator: torch.Generator) -> tuple[str, list[Place]]:
        """The changed text, and the start and end of each replacement in the text."""
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
        """The places of the table's words and phrases, from left to right, without overlap."""
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
