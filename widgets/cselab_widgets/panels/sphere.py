"""Points on a circle or a sphere, and the force that a loss puts on each; it computes in the page."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cselab.metrics import alignment, effective_rank, uniformity

from ..kit.inputs import unit_rows, vectors
from ..kit.page_panel import COMPUTING, PagePanel

if TYPE_CHECKING:
    import pandas

HERE = Path(__file__).parent
SPHERE_LOSSES = (
    "InfoNCE",
    "Focal-InfoNCE",
    "off-dropout",
    "dimension-wise",
    "Barlow Twins",
    "whitening",
    "multi-positive",
)

Points = Sequence[Sequence[float]]


@dataclass(frozen=True)
class SphereState:
    """Where the points lie, and which loss pushes them.

    Attributes:
        anchors, positives: a row a sentence, of length 1, in two or three dimensions.
        negatives: further negatives, of all anchors.
        loss: of `SPHERE_LOSSES`.
        temperature: divides the cosines.
        noise: standard deviation of each coordinate's noise, which models dropout.
        seed: of the noise.
    """

    anchors: Points
    positives: Points
    negatives: Points = field(default=())
    loss: str = "InfoNCE"
    temperature: float = 0.2
    noise: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.loss not in SPHERE_LOSSES:
            raise ValueError(f"loss is {self.loss!r}; expected one of {', '.join(map(repr, SPHERE_LOSSES))}.")
        if not 0 < self.temperature < np.inf:
            raise ValueError(f"temperature is {self.temperature}; expected a positive value.")
        if not 0 <= self.noise < np.inf:
            raise ValueError(f"noise is {self.noise}; expected 0 or more.")
        kinds = {name: getattr(self, name) for name in ("anchors", "positives", "negatives")}
        for name, rows in kinds.items():
            object.__setattr__(self, name, _on_sphere(rows, name) if len(rows) else [])
        if len(self.anchors) < 2 or len(self.anchors) != len(self.positives):
            raise ValueError(
                f"anchors has {len(self.anchors)} rows and positives {len(self.positives)}; give one of each for every "
                "sentence, and at least two."
            )
        if len({len(row) for rows in kinds.values() for row in rows}) > 1 or len(self.anchors[0]) > 3:
            raise ValueError("anchors, positives and negatives must all have two dimensions, or all three.")


def _on_sphere(given: Any, name: str) -> list[list[float]]:
    return unit_rows(vectors(np.asarray(given, dtype=np.float64), name), name).tolist()


def summary(state: SphereState) -> str:
    """How the points lie."""
    anchors, positives = np.array(state.anchors), np.array(state.positives)
    surface = "circle" if anchors.shape[1] == 2 else "sphere"
    more = f", {len(state.negatives)} further negatives" if state.negatives else ""
    rank = effective_rank(anchors) if np.ptp(anchors, axis=0).any() else 0.0
    return (
        f"{len(anchors)} sentences on a {surface}{more}; {state.loss}, temperature {state.temperature:g}, "
        f"noise {state.noise:g}: alignment {alignment(anchors, positives):.3f}, "
        f"uniformity {uniformity(anchors):.3f}, effective rank {rank:.2f}"
    )


class Sphere(PagePanel):
    """Points that a hand drags, an arrow on each for the force of a loss, and "let go".

    Try: a narrow cone under InfoNCE at temperature 1 and at 0.05; the same under whitening; Barlow Twins with
    two groups; a further negative near an anchor.

    The force is the negative gradient along the sphere. "let go" runs gradient descent until it rests. A hand drags
    points, or walks to one by Tab and moves it by the arrow keys. All of it is computed in the page, by plain
    JavaScript that is tested against `cselab.losses`.

    Args:
        sentences: how many, where no points are given.
        dimensions: 2 for a circle, 3 for a sphere.
        anchors, positives, negatives: your own points, `[n, 2]` or `[n, 3]`; their lengths do not count.
        loss, temperature, noise: see `SphereState`. Focal-InfoNCE has m = 0.3, off-dropout m = 0.9, Barlow Twins weighs
            both terms alike, whitening is ZCA of all coordinates.
        seed: of the points and of the noise.
        key: see `Panel`.

    Raises:
        ValueError: an unknown loss, a number out of range, points of different numbers or widths.

    See also: `LossLab`, for the cosines of a real batch; `cselab.losses`.

    >>> Sphere(anchors=[[1, 0], [0, 1]], positives=[[1, 0], [0, 1]])
    2 sentences on a circle; InfoNCE, temperature 0.2, noise 0: alignment 0.000, uniformity -4.000, effective rank 1.00
    """

    modules = (*COMPUTING, HERE / "sphere_points.js", HERE / "sphere.js")
    mount = "mountSphere"
    state_class = SphereState
    alt_text = staticmethod(summary)

    def __init__(
        self,
        sentences: int = 6,
        dimensions: int = 2,
        *,
        anchors: Any = None,
        positives: Any = None,
        negatives: Any = (),
        loss: str = "InfoNCE",
        temperature: float = 0.2,
        noise: float = 0.0,
        seed: int = 0,
        key: str | None = None,
    ) -> None:
        if dimensions not in (2, 3):
            raise ValueError(f"dimensions is {dimensions}; expected 2 (circle) or 3 (sphere).")
        draw = np.random.default_rng(seed)
        if anchors is None:
            anchors = _on_sphere(draw.normal(size=(sentences, dimensions)), "anchors")
        if positives is None:
            positives = np.asarray(anchors) + draw.normal(scale=0.3, size=np.shape(anchors))
        super().__init__(SphereState(anchors, positives, negatives, loss, temperature, noise, seed), key)

    def vectors(self) -> dict[str, np.ndarray]:
        """The points by kind, as they lie now: `[n, 2]` or `[n, 3]`, of length 1."""
        return {name: np.array(getattr(self.state, name)) for name in ("anchors", "positives", "negatives")}

    def to_frame(self) -> "pandas.DataFrame":
        """One row per point: its kind, its sentence, its coordinates."""
        import pandas as pd

        rows = [
            {"kind": name[:-1], "number": number, **dict(zip("xyz", point, strict=False))}
            for name, points in self.vectors().items()
            for number, point in enumerate(points)
        ]
        return pd.DataFrame(rows)
