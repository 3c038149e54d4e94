import pytest

from cselab.augmentations import negate

SAID = {
    "and gives it back": """
        The train is late. -> The train is not late.
        Some of them can swim and will do so. -> Some of them can not swim and will do so.
        They were seen by a man who is ill. -> They were not seen by a man who is ill.
        She has been ill. -> She has not been ill.
        She had painted it. -> She had not painted it.""",
    "the first denial goes and no other": """
        It isn't cold, is it? -> It is cold, is it?
        We can't come. -> We can come.
        We won’t come. -> We will come.
        I cannot see. -> I can see.
        He never was and is not here. -> He was and is not here.
        This it is not -> This it is
        Nothing notable can be knotted. -> Nothing notable can not be knotted.""",
    "to have something is denied with do": """
        The house has a door. -> The house does not have a door.
        Houses have doors. -> Houses do not have doors.
        It had rained. -> It had not rained.
        They had three dogs. -> They did not have three dogs.""",
    "without such a verb the sentence is untrue": """
        The cat sleeps. -> It is not true that the cat sleeps.
        Anna sings. -> It is not true that Anna sings.
        I sing. -> It is not true that I sing.
        Will and May sang in May. -> It is not true that Will and May sang in May.""",
}


@pytest.mark.parametrize("case", SAID)
def test_negate_denies_what_is_said(case):
    for line in SAID[case].strip().splitlines():
        said, denied = line.strip().split(" -> ")
        assert negate(said) == denied
        assert case != "and gives it back" or negate(denied) == said


def test_a_denial_differs_from_every_sentence_of_the_world():
    from cselab.world import World

    for sentence in World(0).sentences(300, "dev"):
        denied = negate(sentence.text)
        assert denied != sentence.text and "\t" not in denied and denied == denied.strip()
