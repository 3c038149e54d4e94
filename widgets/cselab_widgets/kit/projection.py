"""Embeddings of several training steps in one plane, so that movement between steps means something."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

PCA, REST, UMAP, TSNE = "PCA", "PCA without component 1", "UMAP", "t-SNE"
PROJECTIONS = (PCA, REST, UMAP, TSNE)
SEED = 0  # of UMAP and t-SNE: the same vectors give the same map on one machine


@dataclass(frozen=True, eq=False)
class Projection:
    """Points in the plane at each step.

    Attributes:
        points: the projected rows, by step. The step is None for an encoder that was looked at only once.
        fitted_on: the step whose vectors the map was fitted on; None if there is one step, or if each has its own map.
        explained: of the principal components that are the axes, the share of that step's variance, 0 to 1; else None.
        method: one of `PROJECTIONS`.
    """

    points: Mapping[int | None, Float[np.ndarray, "n 2"]]
    fitted_on: int | None
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
        return self.method in (PCA, REST)


def project(
    snapshots: Mapping[int | None, Float[np.ndarray, "n d"]], fit_on: int | str = "last", method: str = PCA
) -> Projection:
    """A map fitted on one step and applied to every step.

    Rows are first scaled to length 1, because the scores compare cosines.

    * "PCA": the first two principal components. The mean of the fitted step is the origin throughout, so an
      encoder whose sentences crowd into a cone shows them crowded, and a step at which the crowd as a whole lay
      elsewhere shows it elsewhere. Signs are fixed: the largest loading of each component is positive.
    * "PCA without component 1": the second and the third.
    * "UMAP" (McInnes et al. 2018, umap-learn): keeps neighbours; further steps are placed into the fitted map.
    * "t-SNE" (van der Maaten & Hinton 2008, scikit-learn): keeps neighbours; it cannot place new rows, so each step
      has its own map, begun from its principal components, made when it is first looked at.

    Distances in the last two mean nothing beyond who is near whom.

    Args:
        snapshots: embeddings of the same sentences, by step.
        fit_on: the step to fit: "first", "last" or its number.
        method: one of `PROJECTIONS`.

    Raises:
        ValueError: `fit_on` is not a step, an unknown method, a row has no direction (all zeros), the fitted rows are
            all equal, or too few for the method.
        ImportError: UMAP was asked for and is not installed.
    """
    if method not in PROJECTIONS:
        raise ValueError(f"projection is {method!r}; choose one of {', '.join(PROJECTIONS)}.")
    steps = sorted(snapshots, key=lambda step: step or 0)
    fitted_on = steps[0] if fit_on == "first" else steps[-1] if fit_on == "last" else fit_on
    if isinstance(fitted_on, str) or fitted_on not in snapshots:
        raise ValueError(
            f"fit_on is {fit_on!r}; expected 'first', 'last' or one of the steps {', '.join(map(str, steps))}."
        )
    directions = {step: unit_rows(snapshots[step]) for step in steps}
    fitted = directions[fitted_on]
    if np.ptp(fitted, axis=0).max() < 1e-9:
        raise ValueError("the embeddings are all the same and have no plane. Fit on a different step.")
    if method == TSNE:
        own = _Lazily(steps, lambda step: _tsne(directions[step]))
        return Projection(own, None, None, method)
    if method == UMAP:
        mapper = _umap(fitted)
        placed = _Lazily(
            steps, lambda step: mapper.embedding_ if step == fitted_on else mapper.transform(directions[step])
        )
        return Projection(placed, fitted_on, None, method)
    dropped = 1 if method == REST else 0
    pca = _pca(fitted, 2 + dropped)
    return Projection(
        points={step: pca.transform(directions[step])[:, dropped:] for step in steps},
        fitted_on=fitted_on,
        explained=tuple(pca.explained_variance_ratio_[dropped:].tolist()),
        method=method,
    )


def unit_rows(rows: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
    """Rows scaled to length 1.

    Raises:
        ValueError: a row of zeros, which has no direction.
    """
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not lengths.all():
        raise ValueError(f"row {int(np.argmin(lengths))} is all zeros and has no direction.")
    return rows / lengths


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


def _pca(rows: Float[np.ndarray, "n d"], components: int) -> Any:
    from sklearn.decomposition import PCA

    if min(rows.shape) < components:
        raise ValueError(
            f"{len(rows)} rows of width {rows.shape[1]} have no component {components}; choose a different projection."
        )
    # The full decomposition is exact; of many rows its covariance gives the same axes sooner.
    solver = "covariance_eigh" if len(rows) > 4 * rows.shape[1] else "full"
    return PCA(n_components=components, svd_solver=solver).fit(rows)


def _tsne(rows: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n 2"]:
    from sklearn.manifold import TSNE

    start = _pca(rows, 2).transform(rows)
    start = 1e-4 * start / start[:, 0].std()
    return TSNE(perplexity=min(30, (len(rows) - 1) / 3), init=start, random_state=SEED).fit_transform(rows)


def _umap(rows: Float[np.ndarray, "n d"]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImportWarning)  # of TensorFlow, which is not needed
        try:
            from umap import UMAP
        except ImportError:
            raise ImportError(
                "UMAP needs umap-learn: pip install umap-learn (it brings numba, together about 210 MB)."
            ) from None
        except RuntimeError as error:  # numba found no folder for its cache
            raise ImportError(
                "UMAP needs a cache: set NUMBA_CACHE_DIR to a folder that you can write, and restart."
            ) from error
    if len(rows) < 5:
        raise ValueError(f"UMAP needs at least 5 rows, got {len(rows)}; choose a different projection.")
    mapper = UMAP(n_neighbors=min(15, len(rows) - 1), random_state=SEED, n_jobs=1, init="pca")
    return mapper.fit(rows.astype(np.float32))
