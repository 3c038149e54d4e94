"""Lesson 13: what is said of wrong answers."""

import torch
from cselab_lab.lessons.checks import modern_encoders
from cselab_lab.lessons.exercises import diagnose
from spellings import wrong_answers
from torch.nn.functional import cosine_similarity, normalize


def at(place):
    return lambda layer, mask: layer[torch.arange(len(layer)), place(layer, mask)]


def last(mask):
    return mask.shape[1] - 1 - mask.flip(1).argmax(1)


def cut_then(compare, keep=lambda x, k: x[:, :k]):
    return lambda first, second, k: compare(keep(first, k), keep(second, k))


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
    ],
    "CUT_COSINES": [
        ("Cut first, then scale", lambda a, b, k: (normalize(a)[:, :k] * normalize(b)[:, :k]).sum(1)),
        ("Scale what is left", cut_then(lambda a, b: (a * b).sum(1))),
        ("not the last", cut_then(cosine_similarity, lambda x, k: x[:, x.shape[1] - k :])),
        ("Nothing is cut", lambda a, b, k: cosine_similarity(a, b)),
        ("cuts sentences", cut_then(cosine_similarity, lambda x, k: x[:k])),
        ("first k + 1", cut_then(cosine_similarity, lambda x, k: x[:, : k + 1])),
        ("not each column", cut_then(lambda a, b: (normalize(a, dim=0) * normalize(b, dim=0)).sum(1))),
        ("no table of all pairs", cut_then(lambda a, b: normalize(a) @ normalize(b).T)),
        ("not their mean", cut_then(lambda a, b: (normalize(a) * normalize(b)).mean(1))),
        ("a distance", cut_then(lambda a, b: 1 - cosine_similarity(a, b))),
    ],
}


@wrong_answers(modern_encoders, WRONG)
def test_a_wrong_answer_is_named(exercise, said, answer):
    verdict = diagnose(answer, exercise)
    assert not verdict.solved and said in verdict.lines[-1], verdict
