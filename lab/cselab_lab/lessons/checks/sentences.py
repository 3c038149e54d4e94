"""Sentences that a student wrote: do two of them have the same meaning, according to word lists?"""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise

BE = set("is are was were be been being".split())
LITTLE = BE | set("a an the some this that these those has have had do does did by of to in on at".split())
LITTLE |= set("there very really quite just so".split())
USUAL = ["big large", "small little", "happy glad", "begin began start", "buy bought purchase", "ill sick"]
USUAL += ["fast quick", "grey gray", "colour color", "centre center", "dr doctor", "cook chef"]
SHORT = {"can't": "can not", "cannot": "can not", "won't": "will not", "n't": " not", "'re": " are", "'m": " am"}
SHORT |= {f"{who}'s": f"{who} is" for who in ("it", "he", "she", "that", "there")} | {"'ve": " have", "'ll": " will"}
FOREIGN = set(
    "der das den dem die ein eine und ist nicht le la les un une des est et el los al y il lo di che "
    "de het een van en och att som det da".split()
)
KNOWN_WORDS = "`mini` cannot read one sentence: write usual English words; half of them must be in its vocabulary."
ALIKE = 0.6  # similarity from which an unknown word counts as a misspelling of a known one
JUDGE = "by word lists: you judge synonyms and phrases that the lists lack"


def words_of(sentence: str) -> list[str]:
    """The words of a sentence, in lower case.

    >>> words_of("I don't: Anna's 3.5 per cent!")
    ['i', 'do', 'not', "anna's", '3', '5', 'per', 'cent']
    """
    text = sentence.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    for short, whole in SHORT.items():
        text = re.sub(rf"{short}\b", whole, text)
    return re.findall(r"\w+(?:'\w+)?", text)


def say_the_same(first: str, second: str) -> str:
    """Why two sentences have the same meaning, as a sentence; empty if their meanings may differ.

    The lists cover capitals, punctuation, small words, endings, misspelt words and the synonyms of the world.

    >>> say_the_same("The girl hugs the boy.", "a girl is hugging the boy")
    'Only capitals, endings, punctuation or small words differ.'
    >>> say_the_same("Teh girl sings.", "The girl sings.")
    "`mini` cannot read 'teh': is it 'the', misspelt?"
    >>> say_the_same("The doctor sings.", "The physician sings.")
    "'doctor' and 'physician' mean the same."
    >>> say_the_same("The girl hugs the boy.", "The boy hugs the girl.")
    ''
    >>> say_the_same("The girl hugs the boy.", "The girl is hugged by the boy.")
    ''
    """
    everything, reasons = (words_of(first), words_of(second)), []
    left, right = everything if len(everything[0]) == len(everything[1]) else map(_weighty, everything)
    if len(left) != len(right):
        return ""
    for a, b in zip(left, right, strict=True):
        if {a, b} <= LITTLE or _base(a) & _base(b):
            continue
        if _are_synonyms(a, b):
            reasons.append(f"{a!r} and {b!r} mean the same.")
        elif misspelt := _misspelt(a, b) or _misspelt(b, a):
            reasons.append(misspelt)
        else:
            return may_mean_the_same(first, second)
    if _is_passive(first) != _is_passive(second):  # agent and patient have changed places
        return ""
    return reasons[0] if reasons else "Only capitals, endings, punctuation or small words differ."


def why_no_sentence(sentence: str) -> str:
    """Why the words are no sentence; empty if no reason is known.

    >>> why_no_sentence("The girl hugs the boy boy.")
    "'boy' stands twice in a row."
    >>> why_no_sentence("Girl the hugs boy the.")
    "No sentence ends with 'the'."
    >>> why_no_sentence("The girl had had a dog.")
    ''
    """
    found = words_of(sentence)
    twice = [a for a, b in pairwise(found) if a == b and a not in ("had", "that")]
    if twice:
        return f"{twice[0]!r} stands twice in a row."
    return f"No sentence ends with {found[-1]!r}." if found and found[-1] in ("a", "an", "the") else ""


def may_mean_the_same(first: str, second: str) -> str:
    """Why two sentences with the same words in a different order may mean the same; empty if no reason is known.

    Known are the passive, an exchange around "and" or "or", and words that moved from the front to the end.

    >>> may_mean_the_same("The girl hugs the boy.", "The boy is hugged by the girl.")
    'These may mean the same: one is like the passive of its pair.'
    >>> may_mean_the_same("The dog and the cat sleep.", "The cat and the dog sleep.")
    "These may mean the same: the words before and after 'and' have changed places."
    >>> may_mean_the_same("On Monday the girl sings.", "The girl sings on Monday.")
    'These may mean the same: words have moved from end to end.'
    >>> may_mean_the_same("The dog bit the man.", "The man bit the dog.")
    ''
    """
    left, right = (_weighty(words_of(text)) for text in (first, second))
    why = ""
    if _is_passive(first) != _is_passive(second):
        turned = not _are_alike(left, right) and all(any(_are_alike([a], [b]) for b in right) for a in left)
        why = "one is like the passive of its pair" if turned and len(left) == len(right) else ""
    elif any(_are_alike(exchanged, right) for exchanged in _exchanged(left)):
        why = f"the words before and after {'and' if 'and' in left else 'or'!r} have changed places"
    elif any(_are_alike(left[k:] + left[:k], right) for k in range(1, len(left))):
        why = "words have moved from end to end"
    return f"These may mean the same: {why}." if why else ""


def _exchanged(tokens: list[str]) -> Iterator[list[str]]:
    """The words, with the part before "and" instead of the part after "and", of any length."""
    for at in (at for at, word in enumerate(tokens) if word in ("and", "or")):
        for start in range(at):
            for end in range(at + 2, len(tokens) + 1):
                yield tokens[:start] + tokens[at + 1 : end] + [tokens[at]] + tokens[start:at] + tokens[end:]


def _is_passive(sentence: str) -> bool:
    tokens = words_of(sentence)
    return "by" in tokens and bool(BE & set(tokens[: tokens.index("by")]))


def _are_alike(left: list[str], right: list[str]) -> bool:
    pairs = zip(left, right, strict=False)
    return len(left) == len(right) and all(_base(a) & _base(b) or _are_synonyms(a, b) for a, b in pairs)


def _weighty(tokens: list[str]) -> list[str]:
    return [word for word in tokens if word not in LITTLE]


def _base(word: str) -> set[str]:
    """The possible base forms of a word: "hug" for "hugging", "carry" for "carries"."""
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
    groups = World(0).synonyms() | {group: group.split() for group in USUAL}
    for name, members in groups.items():
        for word in members:
            names.setdefault(word, set()).add(name)
    return names


def _are_synonyms(left: str, right: str) -> bool:
    first, second = (set().union(*(_groups().get(base, set()) for base in _base(word))) for word in (left, right))
    return bool(first & second)


@cache
def _known() -> set[str]:
    """Every word in the vocabulary of `mini` and in the world."""
    from .encoders import plain

    return {*plain().tokenizer.get_vocab(), *(word for member in _groups() for word in words_of(member))}


def are_known(sentence: str) -> bool:
    """Whether half of its words or more are in the vocabulary of `mini`, and its small words are English.

    >>> are_known("Quokkas devour leaves."), are_known("asdf qwer zxcv"), are_known("Der Mann sieht den Hund.")
    (True, False, False)
    """
    found = words_of(sentence)
    foreign, own = (sum(word in some for word in found) for some in (FOREIGN, LITTLE))
    known = sum(word in LITTLE or (len(word) > 1 and bool(_base(word) & _known())) for word in found)
    return 2 * known >= len(found) and foreign <= max(own, 1)


def _misspelt(unknown: str, word: str) -> str:
    if _base(unknown) & _known() or not _base(word) & _known():
        return ""
    near = sorted(unknown) == sorted(word) or SequenceMatcher(None, unknown, word).ratio() > ALIKE
    return f"`mini` cannot read {unknown!r}: is it {word!r}, misspelt?" if near else ""
