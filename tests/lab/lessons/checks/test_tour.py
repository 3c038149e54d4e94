"""Lesson 00: what is said of wrong answers."""

import pytest
import torch.nn.functional as F
from cselab_lab.lessons.checks import tour
from cselab_lab.lessons.checks.encoders import cosine
from cselab_lab.lessons.checks.sentences import say_the_same
from cselab_lab.lessons.exercises import diagnose
from right_answers import labels
from spellings import wrong_answers

GIRL = "The girl hugs the boy."
WRONG = {
    "FOOLED": [
        ("in brackets", "The girl hugs the boy. The boy hugs the girl."),
        ("in brackets", (GIRL, "The boy hugs the girl.", "The dog sleeps.")),
        ("in brackets", (0.9, 0.8)),
        ("in brackets", {"first": GIRL, "second": "The boy hugs the girl."}),
        ("in brackets", lambda: (GIRL, "The boy hugs the girl.")),
        ("no word in it", (GIRL, "")),
        ("no word in it", ("...", "...")),
        ("Change what is said", (GIRL, GIRL)),
        ("Change what is said", (GIRL, "the girl hugs the boy !")),
        ("Change what is said", (GIRL, "A girl is hugging a boy.")),
        ("Change what is said", ("A dog barks.", "The dogs barked.")),
        ("'teh' is 'the', misspelt", (GIRL, "Teh girl hugs the boy.")),
        ("'grl' is 'girl', misspelt", (GIRL, "The grl hugs the boy.")),
        ("knows no word of one of them", ("asdf qwer zxcv", "asdf qwer zxcw")),
        ("small words differ", ("It is raining in the city.", "It's raining in the city.")),
        ("small words differ", ("The boy is really tired.", "The boy is very tired.")),
        ("small words differ", ("A dog is in the garden.", "There is a dog in the garden.")),
        ("mean the same", ("He bought a red car.", "He purchased a red car.")),
        ("mean the same", ("The color is gray here.", "The colour is grey here.")),
        ("once with 'to'", ("She gave the boy a book.", "She gave a book to the boy.")),
        ("before and after 'or'", ("Take tea or coffee now.", "Take coffee or tea now.")),
        ("'girl' and 'lass' mean the same", (GIRL, "The lass hugs the boy.")),
        ("'hugs' and 'embraces' mean the same", (GIRL, "The girl embraces the boy.")),
        ("'big' and 'large' mean the same", ("A big dog.", "A large dog.")),
        ("like the passive", (GIRL, "The boy is being hugged by the girl.")),
        ("before and after 'and'", ("The girl and the boy sing.", "The boy and the girl sing.")),
        ("before and after 'and'", ("The dog barks and the cat sleeps.", "The cat sleeps and the dog barks.")),
        (
            "from one end to the other",
            ("In the morning the girl sings a song.", "The girl sings a song in the morning."),
        ),
        ("Change what is said", ("The girl does not sing.", "The girl doesn't sing.")),
        ("Keep most words", ("A cook is peeling an onion.", "Parliament rejected the new tax.")),
        ("Keep most words", tour.COOKS),
    ],
    "INFO_NCE": [
        ("not the sum", lambda c, t=0.05: F.cross_entropy(c / t, labels(c), reduction="sum")),
        (
            "belongs into the sum",
            lambda c, t=0.05: ((c / t).exp().fill_diagonal_(0).sum(1).log() - c.diagonal() / t).mean(),
        ),
        ("do not multiply", lambda c, t=0.05: F.cross_entropy(c * t, labels(c))),
        ("not used", lambda c, t=0.05: F.cross_entropy(c, labels(c))),
        ("0.05 in your code", lambda c, t=0.05: F.cross_entropy(c / 0.05, labels(c))),
        ("along a row", lambda c, t=0.05: F.cross_entropy(c.T / t, labels(c))),
        (
            "both directions",
            lambda c, t=0.05: (F.cross_entropy(c / t, labels(c)) + F.cross_entropy(c.T / t, labels(c))) / 2,
        ),
        ("takes the softmax by itself", lambda c, t=0.05: F.cross_entropy((c / t).softmax(1), labels(c))),
        ("log comes first", lambda c, t=0.05: -(c / t).softmax(1).diagonal().mean().log()),
        ("not column 0", lambda c, t=0.05: F.cross_entropy(c / t, 0 * labels(c))),
        ("sign", lambda c, t=0.05: (c / t).log_softmax(1).diagonal().mean()),
        ("log is missing", lambda c, t=0.05: (c / t).softmax(1).diagonal().mean()),
        ("comes from exp", lambda c, t=0.05: -((c / t).exp().diagonal() / (c / t).exp().sum(1)).log().mean()),
        ("One number is wanted", lambda c, t=0.05: F.cross_entropy(c / t, labels(c), reduction="none")),
    ],
}


def test_a_pair_too_far_apart_is_told_its_cosine_and_the_one_to_beat():
    pair = ("A dog barks.", "The tax rises.")
    said = diagnose(pair, tour.FOOLED).lines[-1]
    assert f"{cosine(pair):.3f}" in said and f"{cosine(tour.COOKS):.3f}" in said


@pytest.mark.parametrize(
    "pair",
    [
        ("The man sings.", "The manager sings."),
        ("The boat is red.", "The boat is new."),
        ("He bought a car.", "He brought a car."),
        ("The cat sleeps.", "The cat does not sleep."),
        ("The dog bit the man.", "The man bit the dog."),
        ("The girl hugs the boy.", "The girl is hugged by the boy."),
        ("Anna and the boy hug the dog.", "Anna and the dog hug the boy."),
        ("Anna met Zyx.", "Anna met Qwv."),
    ],
)
def test_sentences_that_may_say_different_things_are_not_called_the_same(pair):
    assert say_the_same(*pair) == ""


@wrong_answers(tour, WRONG)
def test_a_wrong_answer_is_named(exercise, said, answer):
    verdict = diagnose(answer, exercise)
    assert not verdict.solved and said in verdict.lines[-1], verdict
