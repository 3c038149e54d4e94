"""Stages for an exercise that finds settings of t-SNE which show islands where there is only noise: a dictionary."""

from functools import cache
from typing import Any

from cselab_lab.lessons.exercises import Stage

ALLOWED = ("perplexity", "early_exaggeration", "learning_rate", "max_iter", "init")
ROWS, WIDTH = 150, 64
REASONABLE = 0.5  # of a silhouette: "a reasonable structure has been found" (Kaufman and Rousseeuw 1990, Table 4)


@cache
def silhouette(**settings: Any) -> float:
    """The best silhouette of 20 to 40 clusters of k-means in a t-SNE map of pure noise."""
    import numpy as np
    from sklearn.cluster import KMeans
    from sklearn.manifold import TSNE
    from sklearn.metrics import silhouette_score

    noise = np.random.default_rng(0).standard_normal((ROWS, WIDTH))
    points = TSNE(random_state=0, **settings).fit_transform(noise)
    groups = (KMeans(k, n_init=3, random_state=0).fit_predict(points) for k in (20, 30, 40))
    return max(float(silhouette_score(points, group)) for group in groups)


STAGES = [
    Stage(
        "the settings are a dictionary",
        lambda settings: isinstance(settings, dict) and bool(settings),
        "write it as dict(perplexity=30), then look for a better number.",
    ),
    Stage(
        f"they are settings that shape the map: {', '.join(ALLOWED)}",
        lambda settings: set(settings) <= set(ALLOWED),
        "leave the others as they are; the noise, the seed and the two dimensions are fixed.",
    ),
    Stage(
        f"scikit-learn can draw a map of {ROWS} rows with them",
        lambda settings: silhouette(**settings) is not None,
        f"the perplexity must lie above 0 and below the number of rows, {ROWS}; max_iter must be 250 or more.",
    ),
    Stage(
        "the map shows islands: a silhouette above 0.5",
        lambda settings: silhouette(**settings) > REASONABLE,
        "t-SNE tries to give each row about `perplexity` neighbours. How many may an island hold to stand alone?",
    ),
]
