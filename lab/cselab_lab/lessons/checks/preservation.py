"""Stages for an exercise that counts the neighbours which a map keeps: my_preservation(vectors, points, k=10)."""

from typing import Any

import numpy as np

from cselab_lab.lessons.exercises import Example


def _by_cosine(rows: Any) -> Any:
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return 1 - unit @ unit.T


def _by_distance(rows: Any) -> Any:
    return np.linalg.norm(rows[:, None] - rows[None], axis=2)


def _wrong(
    full: Any = _by_cosine,
    plane: Any = _by_distance,
    self_too: bool = False,
    farthest: bool = False,
    always: Any = None,
    score: Any = lambda one, other, k, n: len(one & other) / k,
    total: Any = np.mean,
) -> Any:
    """A preservation with one mistake."""

    def of(vectors: Any, points: Any, k: Any = 10) -> Any:
        k, n = always or k, len(vectors)
        found = []
        for far in (full(np.asarray(vectors)), plane(np.asarray(points))):
            far = -far if farthest else far.copy()
            if not self_too:
                np.fill_diagonal(far, np.inf)
            found.append(np.argsort(far, axis=1, kind="stable")[:, :k].tolist())
        return total([score(set(one), set(other), k, n) for one, other in zip(*found, strict=True)])

    return of


MISTAKES = {
    "A row is not its own neighbour: leave it out in both.": _wrong(self_too=True),
    "In full width neighbours are those with the highest cosine; you took the shortest distance.": _wrong(
        full=_by_distance
    ),
    "In the map neighbours are the dots at the shortest distance; you took the cosine.": _wrong(plane=_by_cosine),
    "You took distances in full width and cosines in the map; it is the other way round.": _wrong(
        full=_by_distance, plane=_by_cosine
    ),
    "These are the farthest, not the nearest: argsort sorts from low to high.": _wrong(farthest=True),
    "Is there a 10 in your code where k should be?": _wrong(always=10),
    "Divide by k: a share, not a count.": _wrong(score=lambda one, other, k, n: len(one & other)),
    "Divide by k, not by the number of rows.": _wrong(score=lambda one, other, k, n: len(one & other) / n),
    "Divide by k, not by the number of all that are near in either (that is Jaccard's measure).": _wrong(
        score=lambda one, other, k, n: len(one & other) / len(one | other)
    ),
    "Take the mean over the rows, not the sum.": _wrong(total=sum),
    "This is the share that was lost; what is kept is 1 minus that.": _wrong(
        score=lambda one, other, k, n: 1 - len(one & other) / k
    ),
}


def _circle(degrees: Any, lengths: Any) -> Any:
    angle = np.radians(degrees)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) * np.array(lengths, dtype=float)[:, None]


# Seven rows by their angles and lengths, and their places in a map, for which every mistake gives a number of its own.
SEVEN = _circle([160, 80, 200, 210, 270, 90, 280], [4, 1, 1, 4, 4, 1, 2])
PLACES = np.array([[27, 7], [14, 6], [5, 4], [15, 7], [9, 4], [11, 3], [4, 7]], dtype=float)


def _brute(vectors: Any, points: Any, k: int) -> float:
    """Counted row by row."""
    kept = 0
    for i in range(len(vectors)):
        others = [j for j in range(len(vectors)) if j != i]
        lengths = [float(np.sqrt((row**2).sum())) for row in vectors]
        in_full = sorted(others, key=lambda j: -float(vectors[i] @ vectors[j]) / lengths[j])[:k]
        in_map = sorted(others, key=lambda j: float(((points[i] - points[j]) ** 2).sum()))[:k]
        kept += sum(j in in_map for j in in_full)
    return kept / (k * len(vectors))


_generator = np.random.default_rng(0)
CLOUD = _generator.standard_normal((40, 6)) * _generator.uniform(0.3, 3, (40, 1))
SHADOW = CLOUD[:, :2] + 3
STAGES = [
    Example(
        "of seven rows and their two nearest, 4 of 14 neighbours are kept",
        (SEVEN, PLACES, 2),
        _brute(SEVEN, PLACES, 2),
        MISTAKES,
    ),
    Example("the same rows, three nearest", (SEVEN, PLACES, 3), _brute(SEVEN, PLACES, 3), MISTAKES),
    Example(
        "forty rows in six dimensions, k = 10, agree with a count by hand",
        (CLOUD, SHADOW),
        _brute(CLOUD, SHADOW, 10),
        MISTAKES,
    ),
]
