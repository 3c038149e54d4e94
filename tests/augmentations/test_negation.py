import pytest

from cselab.augmentations import negate

PAIRS = [
    ("The train is late.", "The train is not late."),
    ("Some of them can swim and will do so.", "Some of them can not swim and will do so."),
    ("They were seen by a man who is ill.", "They were not seen by a man who is ill."),
    ("She has been ill.", "She has not been ill."),
    ("She had painted it.", "She had not painted it."),
]


@pytest.mark.parametrize(("said", "denied"), PAIRS)
def test_the_first_verb_that_takes_a_not_takes_it_and_gives_it_back(said, denied):
    assert negate(said) == denied
    assert negate(denied) == said


@pytest.mark.parametrize(
    ("said", "denied"),
    [
        ("It isn't cold, is it?", "It is cold, is it?"),
        ("We can't come.", "We can come."),
        ("We won’t come.", "We will come."),
        ("I cannot see.", "I can see."),
        ("He never was and is not here.", "He was and is not here."),
        ("This it is not", "This it is"),
        ("Nothing notable can be knotted.", "Nothing notable can not be knotted."),
    ],
)
def test_of_a_denied_sentence_the_first_denial_goes_and_no_other(said, denied):
    assert negate(said) == denied


@pytest.mark.parametrize(
    ("said", "denied"),
    [
        ("The house has a door.", "The house does not have a door."),
        ("Houses have doors.", "Houses do not have doors."),
        ("It had rained.", "It had not rained."),
        ("They had three dogs.", "They did not have three dogs."),
    ],
)
def test_to_have_something_is_denied_with_do(said, denied):
    assert negate(said) == denied


@pytest.mark.parametrize(
    ("said", "denied"),
    [
        ("The cat sleeps.", "It is not true that the cat sleeps."),
        ("Anna sings.", "It is not true that Anna sings."),
        ("I sing.", "It is not true that I sing."),
        ("Will and May sang in May.", "It is not true that Will and May sang in May."),
    ],
)
def test_without_such_a_verb_the_whole_sentence_is_said_to_be_untrue(said, denied):
    assert negate(said) == denied


def test_a_denial_differs_from_every_sentence_of_the_world():
    from cselab.world import World

    for sentence in World(0).sentences(300, "dev"):
        denied = negate(sentence.text)
        assert denied != sentence.text and "\t" not in denied and denied == denied.strip()
