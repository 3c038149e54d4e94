"""The check of kept neighbours: right answers pass however they are written, wrong ones get the right diagnosis."""

import numpy as np
import pytest
from cselab_lab.lessons.checks import preservation
from cselab_lab.lessons.exercises import diagnose
from sklearn.neighbors import NearestNeighbors


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def cosines(rows):
    return unit(rows) @ unit(rows).T


def distances(rows):
    return np.linalg.norm(rows[:, None] - rows[None], axis=2)


def nearest(far, k):
    return np.argsort(far + np.diag(np.full(len(far), np.inf)), axis=1)[:, :k]


def hits(one, other):
    return np.array([len(set(a) & set(b)) for a, b in zip(one.tolist(), other.tolist(), strict=True)])


def with_loops(vectors, points, k=10):
    kept = 0
    for i in range(len(vectors)):
        others = [j for j in range(len(vectors)) if j != i]
        full = sorted(others, key=lambda j: -cosines(vectors)[i, j])[:k]
        flat = sorted(others, key=lambda j: distances(points)[i, j])[:k]
        kept += len(set(full) & set(flat))
    return kept / k / len(vectors)


def with_scikit_learn(vectors, points, k=10):
    full, flat = (
        NearestNeighbors(n_neighbors=k, metric=metric).fit(rows).kneighbors(return_distance=False)
        for rows, metric in ((vectors, "cosine"), (points, "euclidean"))
    )
    return hits(full, flat).mean() / k


RIGHT = {
    "argsort": lambda v, p, k=10: hits(nearest(-cosines(v), k), nearest(distances(p), k)).mean() / k,
    "distances of unit vectors": lambda v, p, k=10: (
        hits(nearest(distances(unit(v)), k), nearest(distances(p), k)).mean() / k
    ),
    "loops": with_loops,
    "scikit-learn": with_scikit_learn,
}


def own(far, k):
    return np.argsort(far, axis=1)[:, :k]


def prints(v, p, k=10):
    print(with_loops(v, p, k))


WRONG = [
    ("not its own neighbour", lambda v, p, k=10: hits(own(-cosines(v), k), own(distances(p), k)).mean() / k),
    ("In full width", lambda v, p, k=10: hits(nearest(distances(v), k), nearest(distances(p), k)).mean() / k),
    ("In the map", lambda v, p, k=10: hits(nearest(-cosines(v), k), nearest(-cosines(p), k)).mean() / k),
    ("other way round", lambda v, p, k=10: hits(nearest(distances(v), k), nearest(-cosines(p), k)).mean() / k),
    ("farthest", lambda v, p, k=10: hits(nearest(cosines(v), k), nearest(-distances(p), k)).mean() / k),
    ("where k should be", lambda v, p, k=10: hits(nearest(-cosines(v), 10), nearest(distances(p), 10)).mean() / 10),
    ("not a count", lambda v, p, k=10: hits(nearest(-cosines(v), k), nearest(distances(p), k)).mean()),
    ("number of rows", lambda v, p, k=10: hits(nearest(-cosines(v), k), nearest(distances(p), k)).mean() / len(v)),
    (
        "Jaccard",
        lambda v, p, k=10: np.mean(
            [h / (2 * k - h) for h in hits(nearest(-cosines(v), k), nearest(distances(p), k)).tolist()]
        ),
    ),
    ("not the sum", lambda v, p, k=10: hits(nearest(-cosines(v), k), nearest(distances(p), k)).sum() / k),
    ("1 minus that", lambda v, p, k=10: 1 - hits(nearest(-cosines(v), k), nearest(distances(p), k)).mean() / k),
    ("`return` missing", prints),
    ("One number is wanted", lambda v, p, k=10: hits(nearest(-cosines(v), k), nearest(distances(p), k)) / k),
    ("Try it: ", lambda v, p, k=10: 0.9),
    ("raised IndexError", lambda v, p, k=10: v[99]),
]


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_is_solved(answer):
    assert diagnose(answer, preservation.STAGES).solved


@pytest.mark.parametrize(("diagnosis", "answer"), WRONG, ids=[d for d, _ in WRONG])
def test_a_wrong_answer_is_named(diagnosis, answer):
    verdict = diagnose(answer, preservation.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]
