"""Lesson 13: what is said of wrong answers."""

import torch
from cselab_lab.lessons.checks import modern_encoders
from cselab_lab.lessons.exercises import diagnose
from spellings import wrong_answers


def at(place):
    return lambda layer, mask: layer[torch.arange(len(layer)), place(layer, mask)]


def last(mask):
    return mask.shape[1] - 1 - mask.flip(1).argmax(1)


WRONG = {
    "LAST_TOKEN": [
        ("last column is padding", lambda layer, mask: layer[:, -1]),
        ("only where padding stands on the right", at(lambda layer, mask: mask.sum(1) - 1)),
        ("One place too far", at(lambda layer, mask: (last(mask) + 1) % 4)),
        ("One place too early", at(lambda layer, mask: last(mask) - 1)),
        ("first real token", at(lambda layer, mask: mask.argmax(1))),
        ("first column", lambda layer, mask: layer[:, 0]),
        ("a place of padding", at(lambda layer, mask: ((1 - mask) * torch.arange(4)).argmax(1))),
        ("mean of the real tokens", lambda layer, mask: [x[m > 0].mean(0) for x, m in zip(layer, mask, strict=True)]),
        ("all that of the first row", lambda layer, mask: layer[:, last(mask)[0]]),
        ("The shape should be (2, 2)", lambda layer, mask: layer[0]),
    ]
}


@wrong_answers(modern_encoders, WRONG)
def test_a_wrong_answer_is_named(exercise, said, answer):
    verdict = diagnose(answer, exercise)
    assert not verdict.solved and said in verdict.lines[-1], verdict
