"""The check of the hard batch: sentences alike in words pass, easy ones and other things are told why not."""

import pytest
from cselab_lab.lessons.checks import hard_batch
from cselab_lab.lessons.exercises import diagnose

NUMBERS = [f"{number} men sing." for number in "Two Three Four Five Six Seven Eight Nine".split()]
ROLES = [
    f"{one} {first} bit {two} {second}."
    for one, two in (("The", "the"), ("The", "a"), ("A", "the"), ("A", "a"))
    for first, second in (("dog", "man"), ("man", "dog"))
]
EASY = [
    "A man plays the guitar.",
    "The woman is asleep.",
    "It rains in the hills.",
    "Parliament rejected the tax.",
    "The dog barks loudly.",
    "Nobody reads the letter.",
    "A cook peels onions.",
    "The train is late.",
]


@pytest.mark.parametrize("batch", [NUMBERS, ROLES, tuple(ROLES)], ids=["numbers", "roles", "a tuple"])
def test_sentences_that_differ_in_a_number_or_in_who_does_it_pass(batch):
    assert diagnose(batch, hard_batch.STAGES).solved


@pytest.mark.parametrize(
    ("batch", "said"),
    [
        (EASY, "8.0 of 8 find themselves. Hint: keep the words"),
        ([*EASY[:6], *ROLES[:2]], "find themselves"),
        (ROLES[:7], "a list of 8 texts"),
        ("eight sentences", "a list of 8 texts"),
        ([1] * 8, "each sentence in quotes"),
        (["It rains."] * 8, "write sentences"),
        (["The dog bit the man."] * 8, "no difference"),
        ([*ROLES[:7], ROLES[0].upper()], "no difference"),
        ([*ROLES[:7], ROLES[0].replace(".", "!")], "no difference"),
        (..., "not solved yet"),
    ],
)
def test_what_does_not_pass_is_told_why(batch, said):
    verdict = diagnose(batch, hard_batch.STAGES)
    assert not verdict.solved and said in verdict.lines[-1]


def test_the_same_batch_gets_the_same_verdict_and_leaves_the_random_numbers_alone():
    import torch

    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    assert hard_batch.found(ROLES) == hard_batch.found(ROLES)
    assert torch.equal(torch.rand(1), expected)
