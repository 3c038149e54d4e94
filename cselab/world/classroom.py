"""Classroom STS: natural English sentence pairs written for this project and graded by the STS guideline.

The world's pairs come from a grammar; these were written and graded by hand, one at a time, as a check that
the world is not the only yardstick. The guideline of the SemEval STS tasks:

    5  the same meaning
    4  the same but for unimportant details
    3  roughly the same, but important information differs or is missing
    2  not the same, but some details are shared
    1  not the same, but on the same topic
    0  on different topics

A half grade lies between two of these. Each pair names in one word the reason for its grade; a test compares every
grade with the grades that the reason allows:

    same        the same content words, built differently: passive, fronting, buy and sell
    paraphrase  the same meaning in other words
    idiom       the same meaning, on one side as a figure of speech
    detail      one side says more: in passing (4) or something that matters (3)
    hypernym    one side is more general: close by (4) or vague (3)
    number      quantities differ: hardly (4) or clearly (3)
    time        times differ: hardly (4) or clearly (3)
    place       places differ: one is more exact (4) or it is elsewhere (3)
    who         the same deed by someone else
    certainty   a fact on one side; a plan, chance, claim, condition, duty or question on the other
    role        who does it and whom it is done to, or what is compared with what, change places
    negation    one side denies the other
    opposite    one side says the contrary without a negation: rise and fall
    event       something else happens to the same people or things, or in the same setting
    object      the same deed, done to or with something else
    topic       only the topic is shared
    sense       only a word is shared, in another sense
    none        nothing is shared

Some 130 of the 483 pairs are traps on purpose: the same words in different roles, a negation, a changed number, a
shared word in a second sense, an idiom, or one meaning with hardly a shared word. A score depends on the share of
traps: compare encoders on these pairs with each other, not with scores on different sets.
"""

from pathlib import Path
from typing import NamedTuple

from cselab._util.arguments import check_choice
from cselab.data import Pairs
from cselab.data.files import read_fields

PAIRS_FILE = Path(__file__).with_name("classroom.tsv")
PAIRS_OF_SPLIT = {"dev": 161, "test": 322}


class ClassroomPair(NamedTuple):
    """A row of the file: a graded pair, the reason for its grade, and its everyday topic.

    If the sentences share no topic, `topic` is that of the first.
    """

    split: str
    score: float
    reason: str
    topic: str
    sentence1: str
    sentence2: str


def classroom_sts(split: str = "test") -> Pairs:
    """The classroom's pairs of one split, graded 0 to 5, with the reason for each grade as its subset.

    Args:
        split: "test" (322 pairs), or "dev" (161), for choosing between settings. The splits have the same mix of
            grades and reasons, and share no sentence.

    Raises:
        ValueError: an unknown split.

    See also: `classroom_pairs` for the rows with their topics; the world's own pairs for any number of them.

    >>> pairs = classroom_sts("dev")
    >>> len(pairs), min(pairs.scores), max(pairs.scores)
    (161, 0.0, 5.0)
    """
    check_choice("split", split, PAIRS_OF_SPLIT)
    rows = [row for row in classroom_pairs() if row.split == split]
    return Pairs(
        [row.sentence1 for row in rows],
        [row.sentence2 for row in rows],
        [row.score for row in rows],
        name="Classroom STS",
        split=split,
        subsets=[row.reason for row in rows],
    )


def classroom_pairs() -> list[ClassroomPair]:
    """Every row of the file, in its order."""
    rows = read_fields(PAIRS_FILE, header="split")
    return [ClassroomPair(split, float(score), *others) for _, (split, score, *others) in rows]
