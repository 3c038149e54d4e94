"""Changes of the words of a text.

Words of a table (synonyms, antonyms), switch-case (CARDS, Wang et al. 2022), words and spans deleted or moved (CLEAR,
Wu et al. 2020), and denials by rule, for corpora without better ones (SNCSE's soft negatives, Wang et al. 2022).
"""

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


LETTERS = re.compile(r"(?<![\w'])[^\W\d_][\w']*")


@checked
def switch_case(texts: Texts, share: UnitInterval, generator: torch.Generator) -> list[str]:
    """The texts with the case of the first letter of some words switched.

    For a model with case the word is often divided otherwise afterwards: the survey's Table 3 shows substitution,
    division, fusion and regrouping of sub-words. A model without case sees no change.

    Args:
        texts: sentences.
        share: the probability for each word; 0.05 to 0.15 in CARDS.
        generator: draws the random numbers, on the CPU.

    >>> switch_case(["Rain fell on Paris."], 1.0, torch.Generator())
    ['rain Fell On paris.']
    """

    def switch(word: re.Match) -> str:
        drawn = torch.rand((), generator=generator) < share
        return word[0][0].swapcase() + word[0][1:] if drawn else word[0]

    return [LETTERS.sub(switch, text) for text in texts]


@checked
def delete_words(texts: Texts, share: UnitInterval, generator: torch.Generator) -> list[str]:
    """The texts without `share` of their words, chosen one by one; one word is always left.

    >>> delete_words(["a b c d"], 0.5, torch.Generator().manual_seed(0))
    ['c d']
    """
    return [_without(text, share, generator, together=False) for text in texts]


@checked
def delete_span(texts: Texts, share: UnitInterval, generator: torch.Generator) -> list[str]:
    """The texts without `share` of their words, which are consecutive; one word always remains.

    >>> delete_span(["a b c d"], 0.5, torch.Generator().manual_seed(0))
    ['a b']
    """
    return [_without(text, share, generator, together=True) for text in texts]


@checked
def reorder_spans(texts: Texts, share: UnitInterval, generator: torch.Generator) -> list[str]:
    """The texts with two spans exchanged, each a `share` of the words; `share` is at most 0.5.

    >>> reorder_spans(["a b c d e"], 0.2, torch.Generator().manual_seed(0))
    ['e b c d a']
    """
    out = []
    for text in texts:
        words = text.split()
        length = min(max(1, round(share * len(words))), len(words) // 2)
        free = len(words) - 2 * length
        one, two = sorted(torch.randint(free + 1, (2,), generator=generator).tolist())
        two += length
        out.append(
            " ".join(
                words[:one] + words[two : two + length] + words[one + length : two] + words[one : one + length]
                + words[two + length :]
            )
        )  # fmt: skip
    return out


def _without(text: str, share: UnitInterval, generator: torch.Generator, together: bool) -> str:
    words = text.split()
    count = min(max(1, round(share * len(words))), len(words) - 1)
    if together:
        start = int(torch.randint(len(words) - count + 1, (), generator=generator))
        gone = set(range(start, start + count))
    else:
        gone = set(torch.randperm(len(words), generator=generator)[:count].tolist())
    return " ".join(word for place, word in enumerate(words) if place not in gone)


BESIDE_NOT = set("am is are was were can could will would shall should may might must".split())
WITHOUT_DO = {"has": "does not have", "have": "do not have", "had": "did not have"}
OPENINGS = set("a an and but he her his i in it its my on our she that the their there these they this we you".split())
UNTRUE = "It is not true that"
NOT = re.compile(r"\b(?:not|never)\b *|\b(?:ca|wo|sha)n['’]t\b|\bcannot\b|(?<=\w)n['’]t\b")
FULL = {"ca": "can", "wo": "will", "sh": "shall"}


@checked
def negate(text: str) -> str:
    """The sentence with an inserted "not", or without its first negation.

    * the first "not", "never", "cannot" or "n't" is removed, if any;
    * else "not" follows the first of "is", "was", "can", "will" and their kind, or "has" before a participle;
    * a main verb "has", "have" or "had" becomes "does not have" and so on;
    * else "It is not true that" precedes the sentence.

    The authors' rules are these with a parser, which finds other verbs ("walks", "does not walk") and inserts a bare
    "Not" if none is found. Rules see words, not clauses: "the man who was ill left" becomes "the man who was not ill
    left". The world's own denials are true ones.

    >>> negate("The train is late."), negate("It wasn't cold."), negate("Birds sing.")
    ('The train is not late.', 'It was cold.', 'It is not true that Birds sing.')

    See also: `cselab data negate`, which writes rows of sentence and negation; `cselab.world.World.rows`.
    """
    if NOT.search(text):
        return NOT.sub(lambda match: FULL.get(match[0][:2], ""), text, count=1).strip()
    words = text.split(" ")
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else ""
        if word in BESIDE_NOT or (word in WITHOUT_DO and re.search(r"^been\b|(?:ed|en|wn)\b", following)):
            return " ".join([*words[: place + 1], "not", *words[place + 1 :]])
        if word in WITHOUT_DO:
            return " ".join([*words[:place], WITHOUT_DO[word], *words[place + 1 :]])
    first, rest = (words[0].lower() if words[0].lower() in OPENINGS else words[0]), words[1:]
    return " ".join([UNTRUE, "I" if words[0] == "I" else first, *rest])
