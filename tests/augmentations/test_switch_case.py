import torch

from cselab.augmentations import switch_case

TEXT = "The cat saw Élan in room 12b, and McKay's 3 dogs."


def test_only_the_case_of_first_letters_changes():
    (switched,) = switch_case([TEXT], 1.0, torch.Generator())
    assert switched == "the Cat Saw élan In Room 12b, And mcKay's 3 Dogs."
    assert switched.lower() == TEXT.lower() and switched != TEXT


def test_that_share_of_the_words_changes():
    words = ["word"] * 2000
    changed = switch_case(words, 0.15, torch.Generator().manual_seed(0)).count("Word")
    assert 220 < changed < 380
    assert switch_case(words, 0.0, torch.Generator()) == words
