"""Stages for an exercise that finds two sentences about which a map of principal components lies: their row numbers."""

from functools import cache
from typing import Any, NamedTuple

from cselab_lab.lessons.checks.plain import plain
from cselab_lab.lessons.exercises import Stage

TOPICS = ("cooking", "sport", "music", "travel", "school", "health", "work", "home")
BESIDE = 5  # nearest dots in the map


class Cloud(NamedTuple):
    """Sentences of eight topics, their vectors by `mini`, their places in the map of two principal components."""

    sentences: list[str]
    topics: list[str]
    vectors: Any
    points: Any


@cache
def cloud() -> Cloud:
    """The sentences of the exercise; the same every time, whatever the profile."""
    import numpy as np
    from sklearn.decomposition import PCA

    from cselab.world import World

    sentences, topics = eight_topics(World(0))
    vectors = plain().encode(sentences)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return Cloud(sentences, topics, vectors, PCA(2, svd_solver="full").fit_transform(unit))


def eight_topics(world: Any) -> tuple[list[str], list[str]]:
    """Test sentences of a world on eight topics, 24 of each, and the topic of each."""
    labelled = world.clustering(504, split="test")
    found = [(text, labelled.classes[label]) for text, label in zip(labelled.sentences, labelled.labels, strict=True)]
    kept = [(text, topic) for text, topic in found if topic in TOPICS]
    return [text for text, _ in kept], [topic for _, topic in kept]


def cosines(vectors: Any) -> Any:
    """The cosine of every two rows; -inf of a row with itself."""
    import numpy as np

    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    found = unit @ unit.T
    np.fill_diagonal(found, -np.inf)
    return found


def distances(points: Any) -> Any:
    """The distance of every two dots; inf of a dot from itself."""
    import numpy as np

    found = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(found, np.inf)
    return found


def _two_rows(pair: Any) -> bool:
    one, other = pair
    return all(type(row) is int and 0 <= row < len(cloud().sentences) for row in pair) and one != other


def _beside(pair: Any) -> bool:
    far = distances(cloud().points)
    one, other = pair
    return all((far[a] < far[a, b]).sum() < BESIDE for a, b in ((one, other), (other, one)))


def _strangers(pair: Any) -> bool:
    near = cosines(cloud().vectors)
    one, other = pair
    half = (len(near) - 1) / 2
    return all((near[a] > near[a, b]).sum() >= half for a, b in ((one, other), (other, one)))


STAGES = [
    Stage(
        "they are two different row numbers",
        _two_rows,
        "write a pair of whole numbers from 0 to 191, such as (3, 17); hover texts have none, `panel.selection` has.",
    ),
    Stage(
        "in the map they are neighbours: each among the other's five nearest dots",
        _beside,
        "lasso a few dots that touch, or sort `liars.distances(cloud.points)`.",
    ),
    Stage(
        "in full width they are strangers: at least half of all sentences are nearer, for both",
        _strangers,
        "the map tells the truth about these two. Look at `liars.cosines(cloud.vectors)`, and try other neighbours.",
    ),
]
