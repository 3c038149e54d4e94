"""Embeddings of several training steps in one plane, so that movement between steps means something."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True, eq=False)
class Projection:
    """Points in the plane at each step.

    Attributes:
        points: the projected rows, by step. The step is None for an encoder that was looked at only once.
        fitted_on: the step whose principal components are the axes.
        explained: the share of that step's variance along each axis, 0 to 1.
    """

    points: Mapping[int | None, Float[np.ndarray, "n 2"]]
    fitted_on: int | None
    explained: tuple[float, float]

    def at(self, step: int | None) -> int | None:
        """The snapshot shown at a step: the last one taken by then, the first if none was."""
        if step is None or None in self.points:
            return next(iter(self.points))
        return max((taken for taken in self.points if taken <= step), default=min(self.points))


def project(
    snapshots: Mapping[int | None, Float[np.ndarray, "n d"]], fit_on: int | str = "last"
) -> Projection:
    """The first two principal components of one step, applied to every step.

    Rows are first scaled to length 1, because the cosine is what the scores compare; the mean of the fitted
    step is the origin throughout. So an encoder whose sentences crowd into a cone shows them crowded, and a
    step at which the crowd as a whole lay elsewhere shows it elsewhere. Signs are fixed: the largest loading
    of each component is positive.

    Args:
        snapshots: embeddings of the same sentences, by step.
        fit_on: the step to fit: "first", "last" or its number.

    Raises:
        ValueError: `fit_on` is not a step, a row has no direction (all zeros), or the fitted rows are all equal.
    """
    from sklearn.decomposition import PCA

    steps = sorted(snapshots, key=lambda step: step or 0)
    named = {"first": steps[0], "last": steps[-1]}
    fitted_on = named.get(fit_on, fit_on)
    if fitted_on not in snapshots:
        raise ValueError(
            f"fit_on is {fit_on!r}; it must be 'first', 'last' or one of the steps {', '.join(map(str, steps))}."
        )
    directions = {step: _directions(snapshots[step]) for step in steps}
    if np.ptp(directions[fitted_on], axis=0).max() < 1e-9:
        raise ValueError(
            "the embeddings are all the same; there is no plane to see them in. Fit on another step."
        )
    pca = PCA(n_components=2, svd_solver="full").fit(directions[fitted_on])
    return Projection(
        points={step: pca.transform(directions[step]) for step in steps},
        fitted_on=fitted_on,
        explained=tuple(pca.explained_variance_ratio_.tolist()),
    )


def _directions(rows: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not lengths.all():
        raise ValueError(f"row {int(np.argmin(lengths))} is all zeros; it has no direction.")
    return rows / lengths
