"""Embeddings of several training steps in one plane, so that movement between steps means something."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from .inputs import unit_rows

PCA, TSNE = PROJECTIONS = "PCA", "t-SNE"
SEED = 0  # of t-SNE: the same vectors give the same map on one machine


@dataclass(frozen=True, eq=False)
class Projection:
    """Points in the plane at each step.

    Attributes:
        points: the projected rows, by step. The step is None for an encoder that was looked at only once.
        explained: of the principal components that are the axes, the share of the variance, 0 to 1; else None.
        method: one of `PROJECTIONS`.
    """

    points: Mapping[int | None, Float[np.ndarray, "n 2"]]
    explained: tuple[float, float] | None
    method: str = PCA

    def at(self, step: int | None) -> int | None:
        """The snapshot shown at a step: the last one taken by then, the first if none was."""
        if step is None or None in self.points:
            return next(iter(self.points))
        taken = [at for at in self.points if at is not None]
        return max((at for at in taken if at <= step), default=min(taken))

    def is_known(self, step: int | None) -> bool:
        """Whether the points of a step are there without computing them now."""
        return not isinstance(self.points, _Lazily) or step in self.points.computed

    @property
    def linear(self) -> bool:
        """Whether the axes are components, so that distances may be compared between steps and encoders."""
        return self.method == PCA


def project(snapshots: Mapping[int | None, Float[np.ndarray, "n d"]], method: str = PCA) -> Projection:
    """A map fitted on the last step and applied to every step.

    Rows are first scaled to length 1, because the scores compare cosines.

    * "PCA": the first two principal components. The mean of the last step is the origin throughout, so an
      encoder whose sentences crowd into a cone shows them crowded, and a step at which the crowd as a whole lay
      elsewhere shows it elsewhere. Signs are fixed: the largest loading of each component is positive.
    * "t-SNE" (van der Maaten & Hinton 2008, scikit-learn): keeps neighbours; it cannot place new rows, so each step
      has its own map, begun from its principal components, made when it is first looked at.

    Distances in a map of t-SNE mean nothing beyond who is near whom.

    Args:
        snapshots: embeddings of the same sentences, by step.
        method: one of `PROJECTIONS`.

    Raises:
        ValueError: an unknown method, a row has no direction (all zeros), the fitted rows are all equal, or too few
            for the method.
    """
    if method not in PROJECTIONS:
        raise ValueError(f"projection is {method!r}; choose one of {', '.join(PROJECTIONS)}.")
    steps = sorted(snapshots, key=lambda step: step or 0)
    directions = {step: unit_rows(snapshots[step]) for step in steps}
    last = steps[-1]
    fitted = directions[last]
    if np.ptp(fitted, axis=0).max() < 1e-9:
        raise ValueError("the embeddings are all the same and have no plane.")
    if method == TSNE:
        own = _Lazily(steps, lambda step: _tsne(directions[step]))
        return Projection(own, None, method)
    pca = _pca(fitted)
    points = {step: pca.transform(directions[step]) for step in steps}
    return Projection(points, tuple(pca.explained_variance_ratio_.tolist()), method)


class _Lazily(Mapping):
    """Points by step, each computed when first asked for."""

    def __init__(self, steps: list[int | None], compute: Callable[[int | None], np.ndarray]) -> None:
        self._steps, self._compute = steps, compute
        self.computed: dict[int | None, np.ndarray] = {}

    def __getitem__(self, step: int | None) -> Float[np.ndarray, "n 2"]:
        if step not in self._steps:
            raise KeyError(step)
        if step not in self.computed:
            self.computed[step] = np.asarray(self._compute(step), dtype=np.float64)
        return self.computed[step]

    def __iter__(self) -> Iterator[int | None]:
        return iter(self._steps)

    def __len__(self) -> int:
        return len(self._steps)


def _pca(rows: Float[np.ndarray, "n d"]) -> Any:
    from sklearn.decomposition import PCA

    # The full decomposition is exact; of many rows its covariance gives the same axes sooner.
    solver = "covariance_eigh" if len(rows) > 4 * rows.shape[1] else "full"
    return PCA(n_components=2, svd_solver=solver).fit(rows)


def _tsne(rows: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n 2"]:
    from sklearn.manifold import TSNE

    start = _pca(rows).transform(rows)
    start = 1e-4 * start / start[:, 0].std()
    return TSNE(perplexity=min(30, (len(rows) - 1) / 3), init=start, random_state=SEED).fit_transform(rows)
