"""English word forms by rule; verbs.txt holds the verbs that break the rules."""

import re

VOWELS = "aeiou"
SAID_LIKE_YOU = re.compile(r"uni(?![mn])|us[eu]|eu|one\b|once\b|u\W")
SILENT_OR_SPELLED = re.compile(r"hour|honest|honou|heir|x-")


def plural(noun: str) -> str:
    """The regular plural: `plural("box") == "boxes"`."""
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in VOWELS:
        return noun[:-1] + "ies"
    return noun + "s"


def third_person(verb: str) -> str:
    """he/she/it: `third_person("carry") == "carries"`."""
    special = {"be": "is", "have": "has", "do": "does", "go": "goes"}
    return special.get(verb) or plural(verb)


def doubles(verb: str) -> bool:
    """Does a short verb double its last consonant, as in stop, stopped?"""
    vowels = [letter in VOWELS for letter in verb]
    return len(verb) > 2 and sum(vowels) == 1 and vowels[-2] and not vowels[-1] and verb[-1] not in "wxy"


def past(verb: str) -> str:
    """The regular past and participle: `past("try") == "tried"`."""
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in VOWELS:
        return verb[:-1] + "ied"
    return verb + (verb[-1] if doubles(verb) else "") + "ed"


def progressive(verb: str) -> str:
    """The -ing form: `progressive("write") == "writing"`."""
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return verb[:-1] + "ing"
    return verb + (verb[-1] if doubles(verb) else "") + "ing"


def indefinite(phrase: str) -> str:
    """a or an, by the sound: `indefinite("hour") == "an hour"`."""
    word = phrase.lower()
    vowel = word[0] in VOWELS and not SAID_LIKE_YOU.match(word)
    return f"{'an' if vowel or SILENT_OR_SPELLED.match(word) else 'a'} {phrase}"


def sentence_case(text: str, end: str = ".") -> str:
    """First letter upper case, closing mark added."""
    return text[0].upper() + text[1:] + end
