"""Lesson 12: what is said of wrong answers."""

import numpy as np
import torch
from cselab_lab.lessons.checks import your_own_method
from cselab_lab.lessons.exercises import diagnose
from right_answers import log_weights, own
from spellings import wrong_answers

from cselab import SentenceEncoder
from cselab.evaluators import RandomEncoder

PLAIN = SentenceEncoder.from_pretrained("mini", pooling="cls")


class CentredOnWhatItSees:
    def encode(self, sentences, **options):
        vectors = PLAIN.encode(sentences)
        return vectors - vectors.mean(axis=0)


def naive(c, beta):
    e = (beta * c.detach()).exp().masked_fill(own(c), 0.0)
    return (e / e.sum(1, keepdim=True) * (len(c) - 1)).masked_fill(own(c), 1.0).log()


def over_everything(c, beta):
    e = (beta * c.detach()).double().exp()
    return (e / e[~own(c)].mean()).log().masked_fill(own(c), 0.0)


def with_gradient(c, beta):
    shares = (beta * c).masked_fill(own(c), -torch.inf).log_softmax(1) + np.log(len(c) - 1)
    return shares.masked_fill(own(c), 0.0)


WRONG = {
    "LOG_WEIGHTS": [
        ("logarithm is missing", lambda c, beta: log_weights(c, beta).exp()),
        ("leave the diagonal out", lambda c, beta: log_weights(c, beta, others=False, n=len(c))),
        ("not N.", lambda c, beta: log_weights(c, beta, n=len(c))),
        ("not by the sum", lambda c, beta: log_weights(c, beta, n=1)),
        ("dim=1", lambda c, beta: log_weights(c, beta, dim=0)),
        ("keeps the weight 1", lambda c, beta: log_weights(c, beta, keep=None)),
        ("is 0, not 1", lambda c, beta: log_weights(c, beta, keep=1.0)),
        ("grows with the cosine", lambda c, beta: log_weights(c, beta, sign=-1)),
        ("beta is not used", lambda c, beta: log_weights(c, 1.0)),
        ("Divide by the mean over the row", lambda c, beta: (beta * c.detach()).masked_fill(own(c), 0.0)),
        ("not over the whole batch", over_everything),
        ("comes from exp", naive),
        (".detach()", with_gradient),
        ("expected is an array of shape (4, 4)", lambda c, beta: log_weights(c, beta).mean()),
    ],
    "BEAT_CONTROL": [
        ("not there yet", PLAIN),
        ("not there yet", RandomEncoder()),
        ("fit on training sentences", CentredOnWhatItSees()),
        (".encode(list)", 57.2),
        (".encode(list)", "mini"),
        (".encode(list)", lambda sentences: np.zeros((len(sentences), 3))),
    ],
}


@wrong_answers(your_own_method, WRONG)
def test_a_wrong_answer_is_named(exercise, said, answer):
    verdict = diagnose(answer, exercise)
    assert not verdict.solved and said in verdict.lines[-1], verdict
