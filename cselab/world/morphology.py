"""English word forms by rule."""

import re

SAID_LIKE_YOU = re.compile(r"uni(?![mn])|us[eu]|eu|one\b|once\b|u\W")
SILENT_OR_SPELLED = re.compile(r"hour|honest|honou|heir|x-")


def indefinite(phrase: str) -> str:
    """a or an, by the sound: `indefinite("hour") == "an hour"`."""
    word = phrase.lower()
    vowel = word[0] in "aeiou" and not SAID_LIKE_YOU.match(word)
    return f"{'an' if vowel or SILENT_OR_SPELLED.match(word) else 'a'} {phrase}"


def sentence_case(text: str, end: str = ".") -> str:
    """First letter upper case, closing mark added."""
    return text[0].upper() + text[1:] + end
