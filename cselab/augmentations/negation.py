"""Denials by rule, for corpora without better ones: SNCSE's soft negatives (Wang et al. 2022)."""

import re

from cselab._util.arguments import checked

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
