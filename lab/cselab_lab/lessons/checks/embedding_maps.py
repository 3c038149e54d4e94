"""The exercises of lesson 09: neighbours that a map keeps, clusters in noise."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from cselab_lab.lessons.exercises import Check, Example, Exercise, Solution

# ---- 1: the neighbours that a map keeps: my_preservation(vectors, points, k=10) ---------------------------

# Seven rows by angle and length, and their places in a map, chosen so that every mistake gives a different number.
_ANGLES = np.radians([160, 80, 200, 210, 270, 90, 280])
_SEVEN = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=1) * np.array([[4.0, 1, 1, 4, 4, 1, 2]]).T
_PLACES = np.array([[27.0, 7], [14, 6], [5, 4], [15, 7], [9, 4], [11, 3], [4, 7]])
_draw = np.random.default_rng(0)
_CLOUD = _draw.standard_normal((40, 6)) * _draw.uniform(0.3, 3, (40, 1))
_SHADOW = _CLOUD[:, :2] + 3


PRESERVATION = Exercise(
    Example("of seven rows and their two nearest, 4 of 14 neighbours are kept", (_SEVEN, _PLACES, 2), 4 / 14),
    Example("the same rows, five nearest, some at a cosine below 0: 29 of 35", (_SEVEN, _PLACES, 5), 29 / 35),
    Example("forty rows in six dimensions, k = 10: 167 of 400", (_CLOUD, _SHADOW, 10), 167 / 400),
    solution=Solution("09_embedding_maps", "my_preservation"),
    mistakes={
        "A row is not its own neighbour: leave the row out in each space.": (
            "fill_diagonal(near, -np -> isinf(-np; fill_diagonal(far, np -> isinf(np",
            "fill_diagonal(near, -np -> isinf(-np",
            "fill_diagonal(far, np -> isinf(np",
            "near, -np.inf -> near, 0; far, np.inf -> far, 0",
        ),
        "Scale the rows to length 1: the cosine counts.": "unit @ unit.T -> vectors @ vectors.T",
        "Do not subtract the mean.": "unit = vectors -> vectors = vectors - vectors.mean(axis=0)\n    unit = vectors",
        "Sort each row, along axis 1, not each column.": "near, axis=1 -> near, axis=0; far, axis=1 -> far, axis=0",
        "argsort gives neighbours; argsort of argsort gives ranks.": "axis=1)[:, :k] -> axis=1).argsort(axis=1)[:, :k]",
        "A common neighbour counts at any place.": "return np -> return np.mean(full == flat)\n    return np",
        "In full width, neighbours are the rows with the highest cosine; you used distances.": (
            "unit @ unit.T -> -np.linalg.norm(vectors[:, None] - vectors[None], axis=2)"
        ),
        "In the map the distance counts; you used the cosine.": (
            "np.linalg.norm(points[:, None] - points[None], axis=2) -> "
            "-(points @ points.T) / np.linalg.norm(points, axis=1) / np.linalg.norm(points, axis=1)[:, None]"
        ),
        "These are the farthest, not the nearest: argsort sorts from low to high.": (
            "argsort(-near -> argsort(near; argsort(far -> argsort(-far; "
            "near, -np.inf -> near, np.inf; far, np.inf -> far, -np.inf",
            "argsort(-near -> argsort(near; near, -np.inf -> near, np.inf",
        ),
        "Divide by k: a share, not a count.": ") / k -> )",
        "Divide by k, not by the size of the union (Jaccard).": ") / k -> ) / len(set(one) | set(other))",
    },
)

# ---- 2: settings of t-SNE that show clusters where there is only noise: a dictionary -----------------------

ALLOWED = ("perplexity", "early_exaggeration", "learning_rate", "max_iter", "init")
ROWS, WIDTH = 150, 8
REASONABLE = 0.5  # of a silhouette: "a reasonable structure has been found" (Kaufman and Rousseeuw 1990, Table 4)


@cache
def silhouette(**settings: Any) -> float:
    """The best silhouette of 20 to 40 clusters of k-means in a t-SNE map of pure noise."""
    from sklearn.cluster import KMeans
    from sklearn.manifold import TSNE
    from sklearn.metrics import silhouette_score

    noise = np.random.default_rng(0).standard_normal((ROWS, WIDTH))
    points = TSNE(random_state=0, **settings).fit_transform(noise)
    groups = (KMeans(k, n_init=3, random_state=0).fit_predict(points) for k in (20, 30, 40))
    return max(float(silhouette_score(points, group)) for group in groups)


ISLANDS_IN_NOISE = Exercise(
    Check(
        "the settings are a dictionary",
        lambda settings: isinstance(settings, Mapping),
        "write it as dict(perplexity=30), then look for a better number.",
    ),
    Check(
        f"they are settings that shape the map: {', '.join(ALLOWED)}",
        lambda settings: set(settings) <= set(ALLOWED),
        "leave the rest unchanged; the noise, the seed and the two axes are fixed.",
    ),
    Check(f"scikit-learn can draw a map of {ROWS} rows with them", lambda settings: silhouette(**settings) is not None),
    Check(
        "the map shows clusters: a silhouette above 0.5",
        lambda settings: "" if (found := silhouette(**settings)) > REASONABLE else f"Yours is {found:.2f}.",
        "t-SNE tries to give each row about `perplexity` neighbours. How many neighbours has a dot in a small cluster?",
    ),
    piece="my_settings",
)


TOPICS = ("cooking", "sport", "music", "travel", "school", "health", "work", "home")


def eight_topics(world: Any) -> tuple[list[str], list[str]]:
    """Test sentences of a world on eight topics, 24 of each, and the topic of each."""
    labelled = world.clustering(504, split="test")
    every = [(text, labelled.classes[label]) for text, label in zip(labelled.sentences, labelled.labels, strict=True)]
    kept = [(text, topic) for text, topic in every if topic in TOPICS]
    return [text for text, _ in kept], [topic for _, topic in kept]
