"""Numbers drawn with a seed that have something to say: scores that follow their gold, classes that overlap."""

import numpy as np

from cselab.metrics.linear_probes import Fold


def noisy(n=200, noise=1.0, seed=0, levels=None):
    """Predictions and the gold scores that they follow; with levels, both with ties."""
    generator = np.random.default_rng(seed)
    gold = generator.normal(size=n)
    predicted = gold + noise * generator.normal(size=n)
    if levels:
        gold, predicted = np.round(gold * levels) / levels, np.round(predicted * levels) / levels
    return predicted, gold


def overlapping_classes(n, d, classes, seed=0):
    """Rows of classes that a line cannot part entirely, so that accuracies differ between penalties."""
    random = np.random.default_rng(seed)
    labels = random.integers(classes, size=n)
    centres = random.normal(size=(classes, d))
    return (centres[labels] + 1.5 * random.normal(size=(n, d))).astype(np.float32), labels


def folds_of(n, k, seed=0):
    """Folds of unequal size: the one with number i leaves out i rows more than the first."""
    order = np.random.default_rng(seed).permutation(n)
    parts = np.array_split(order, k)
    return [
        Fold(np.concatenate([parts[j] for j in range(k) if j != i])[i:], parts[i], parts[(i + 1) % k]) for i in range(k)
    ]


def cone(n, d, seed=0):
    """Correlated embeddings of falling variance, far from the origin."""
    rng = np.random.default_rng(seed)
    axes, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return rng.normal(size=(n, d)) * np.geomspace(3, 0.1, d) @ axes.T + 5


def traces(panel, **changes):
    """The traces of all planes of a panel, by their uid."""
    return {trace.uid: trace for plane in panel.planes(**changes) for trace in plane.traces}


def hear(panel, event, *rows):
    """What the page tells a panel of rows of its plot."""
    panel.widget.children[1]._handle_custom_msg({"event": event, "rows": [*rows]}, [])


def controls(panel):
    """The widgets of a panel's controls, by their fields."""
    return dict(zip(panel.controls(), panel.widget.children[0].children, strict=False))
