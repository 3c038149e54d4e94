"""Sentences that a student wrote: do two of them say the same, as far as a word list can tell?"""

import re
from difflib import SequenceMatcher
from functools import cache

LITTLE = set(
    "a an the some this that these those is are was were be been has have had do does did by of to in on at".split()
)
USUAL = ("big large", "small little", "happy glad", "begin start", "buy purchase", "ill sick", "fast quick")
ALIKE = 0.6  # an unknown word that shares so much with another is that word, misspelt
JUDGE = "whether they mean different things is for you to judge: few synonyms are known here"


def words(sentence: str) -> list[str]:
    """The words of a sentence, in small letters.

    >>> words("I don't: Anna's 3.5 per cent!")
    ['i', 'do', 'not', "anna's", '3', '5', 'per', 'cent']
    """
    said = sentence.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    for short, whole in (("can't", "can not"), ("cannot", "can not"), ("won't", "will not"), ("n't", " not")):
        said = said.replace(short, whole)
    return re.findall(r"\w+(?:'\w+)?", said)


def say_the_same(first: str, second: str) -> str:
    """Why two sentences say the same, in a sentence; empty where they may say different things.

    Known are capitals, punctuation, articles, auxiliaries, endings, misspelt words and the synonyms of the world.

    >>> say_the_same("The girl hugs the boy.", "a girl is hugging the boy")
    'Only capitals, articles, endings or punctuation differ.'
    >>> say_the_same("Teh girl sings.", "The girl sings.")
    "'teh' is 'the', misspelt."
    >>> say_the_same("The doctor sings.", "The physician sings.")
    "'doctor' and 'physician' mean the same."
    >>> say_the_same("The girl hugs the boy.", "The boy hugs the girl.")
    ''
    """
    everything, reasons = (words(first), words(second)), []
    one, other = everything if len(everything[0]) == len(everything[1]) else map(_weighty, everything)
    if len(one) != len(other):
        return ""
    for a, b in zip(one, other, strict=True):
        if {a, b} <= LITTLE or _base(a) & _base(b):
            continue
        if _synonyms(a) & _synonyms(b):
            reasons.append(f"{a!r} and {b!r} mean the same.")
        elif misspelt := _misspelt(a, b) or _misspelt(b, a):
            reasons.append(misspelt)
        else:
            return ""
    return reasons[0] if reasons else "Only capitals, articles, endings or punctuation differ."


def _weighty(said: list[str]) -> list[str]:
    return [word for word in said if word not in LITTLE]


def _base(word: str) -> set[str]:
    """What a word may be a form of: of "hugging" "hug", of "carries" "carry"."""
    forms = {word}
    for ending in ("ing", "ed", "es", "s", "d", "'s"):
        if word.endswith(ending) and len(stem := word.removesuffix(ending)) > 2:
            forms |= {stem, stem + "e"} if ending == "ing" else {stem}
            forms |= {stem[:-1]} if stem[-1] == stem[-2] else set()
            forms |= {stem[:-1] + "y"} if stem.endswith("i") else set()
    return forms


@cache
def _groups() -> dict[str, set[str]]:
    """The words of the world that have synonyms, each with the names of its groups."""
    from cselab.world import World

    names: dict[str, set[str]] = {}
    groups = World(0).synonyms() | {said: said.split() for said in USUAL}
    for name, group in groups.items():
        for word in group:
            names.setdefault(word, set()).add(name)
    return names


def _synonyms(word: str) -> set[str]:
    return set().union(*(_groups().get(base, set()) for base in _base(word)))


@cache
def _known() -> set[str]:
    """Every word in the vocabulary of `mini` and in the world."""
    from cselab_lab.lessons.checks.encoders import plain

    return {*plain().tokenizer.get_vocab(), *(word for said in _groups() for word in words(said))}


def _misspelt(unknown: str, word: str) -> str:
    if _base(unknown) & _known() or not _base(word) & _known():
        return ""
    near = sorted(unknown) == sorted(word) or SequenceMatcher(None, unknown, word).ratio() > ALIKE
    return f"{unknown!r} is {word!r}, misspelt." if near else ""
