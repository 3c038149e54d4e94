"""Lesson 09: what is said of wrong answers."""

import numpy as np
from cselab_lab.lessons.checks import embedding_maps
from cselab_lab.lessons.exercises import diagnose
from right_answers import alike, apart, hits, near
from spellings import wrong_answers


def kept(v, p, k, full=lambda v: -alike(v), plane=apart, order=near):
    return hits(order(full(v), k), order(plane(p), k))


def with_itself(far, k):
    return np.argsort(far, axis=1)[:, :k]


WRONG = {
    "PRESERVATION": [
        ("not its own neighbour", lambda v, p, k=10: kept(v, p, k, order=with_itself).mean() / k),
        ("In full width", lambda v, p, k=10: kept(v, p, k, full=apart).mean() / k),
        ("In the map", lambda v, p, k=10: kept(v, p, k, plane=lambda p: -alike(p)).mean() / k),
        ("other way round", lambda v, p, k=10: kept(v, p, k, full=apart, plane=lambda p: -alike(p)).mean() / k),
        ("farthest", lambda v, p, k=10: kept(v, p, k, full=alike, plane=lambda p: -apart(p)).mean() / k),
        ("where k should be", lambda v, p, k=10: kept(v, p, 10).mean() / 10),
        ("not a count", lambda v, p, k=10: kept(v, p, k).mean()),
        ("by the number of rows", lambda v, p, k=10: kept(v, p, k).mean() / len(v)),
        ("Jaccard", lambda v, p, k=10: np.mean([h / (2 * k - h) for h in kept(v, p, k).tolist()])),
        ("not the sum", lambda v, p, k=10: kept(v, p, k).sum() / k),
        ("1 minus", lambda v, p, k=10: 1 - kept(v, p, k).mean() / k),
        ("One number is wanted", lambda v, p, k=10: kept(v, p, k) / k),
        ("raised IndexError", lambda v, p, k=10: v[99]),
    ],
    "ISLANDS_IN_NOISE": [
        ("write it as dict", 3),
        ("write it as dict", [("perplexity", 3)]),
        ("write it as dict", "perplexity=3"),
        ("write it as dict", {}),
        ("write it as dict", np.zeros((150, 2))),
        ("leave the others", dict(perplexity=3, random_state=7)),
        ("leave the others", dict(Perplexity=3)),
        ("leave the others", dict(n_components=1)),
        ("below the number of rows, 150", dict(perplexity=150)),
        ("must lie above 0", dict(perplexity=0)),
        ("250 or more", dict(perplexity=3, max_iter=10)),
        ("How many may an island hold", dict(perplexity=30)),
        ("How many may an island hold", dict(perplexity=15)),
    ],
}


@wrong_answers(embedding_maps, WRONG)
def test_a_wrong_answer_is_named(exercise, said, answer):
    verdict = diagnose(answer, exercise)
    assert not verdict.solved and said in verdict.lines[-1], verdict
