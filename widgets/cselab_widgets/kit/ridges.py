"""Cosines of many pairs, a ridge for each grade or kind: the whole distribution, not one number."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape
from math import floor

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from .planes import rounded
from .theme import INK, PALETTE

FINE = 101  # points of a density
TALL = 0.82  # of the room between two ridges
STRIP = 0.09  # below its ridge, where the pairs themselves lie


@dataclass(frozen=True, eq=False)
class Bands:
    """Rows of ridges, the lowest first: a name and the pairs in it.

    Attributes:
        title: the name of the bands, such as "grade".
        names: of each band.
        rows: the pairs of each band, by number.
        kinds: the two commonest kinds of the pairs of each band; empty where kinds are unknown.
    """

    title: str
    names: tuple[str, ...]
    rows: tuple[np.ndarray, ...]
    kinds: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.names)


def by_grade(grades: Sequence[float], kinds: Sequence[str] = ()) -> Bands:
    """A band for each grade, or, with more than seven grades, for each whole grade and the fractions above it.

    `kinds`: of each pair.

    >>> by_grade([0.0, 5.0, 5.0]).names
    ('0', '5')
    >>> by_grade([0.1, 0.2, 1.5, 2.5, 3.1, 3.2, 4.2, 4.9, 5.0]).names
    ('0 to 1', '1 to 2', '2 to 3', '3 to 4', '4 to 5')
    """
    of_each = np.asarray(grades, dtype=float)
    distinct = np.unique(of_each)
    if len(distinct) <= 7:
        return _bands(tuple(f"{grade:g}" for grade in distinct), of_each, distinct, kinds)
    top = max(floor(distinct[-1]) - (distinct[-1] == floor(distinct[-1])), floor(distinct[0]))
    whole = np.minimum(np.floor(of_each).astype(int), int(top))
    kept = np.unique(whole)
    return _bands(tuple(f"{low} to {low + 1}" for low in kept), whole, kept, kinds)


def _bands(names: tuple[str, ...], of_each: np.ndarray, levels: np.ndarray, kinds: Sequence[str]) -> Bands:
    rows = tuple(np.flatnonzero(of_each == level) for level in levels)
    common = [Counter(kinds[row] for row in band.tolist()).most_common(2) for band in rows if kinds]
    return Bands("grade", names, rows, tuple(", ".join(kind for kind, _ in most) for most in common))


def bandwidth(values: Float[np.ndarray, " n"]) -> float:
    """The width of a normal curve about each value, as Silverman (1986, 3.31) advises; no finer than the picture."""
    low, high = np.percentile(values, [25, 75])
    spread = min(values.std(), (high - low) / 1.34) or values.std()
    return max(0.9 * spread * len(values) ** -0.2, 0.004)


def density(values: Float[np.ndarray, " n"], grid: Float[np.ndarray, " g"]) -> Float[np.ndarray, " g"]:
    """A smooth histogram of cosines. No cosine exceeds 1, so the part beyond 1 is folded back."""
    width = bandwidth(values)
    away = (grid[:, None] - np.append(values, 2 - values)) / width
    return np.exp(-0.5 * away**2).sum(axis=1) / (len(values) * width * np.sqrt(2 * np.pi))


def _ends(values: Float[np.ndarray, " n"]) -> tuple[float, float]:
    """Where the smooth histogram of cosines ends."""
    beyond = 3 * bandwidth(values)
    return float(values.min() - beyond), float(min(values.max() + beyond, 1.0))


def row_cosines(one: Float[np.ndarray, "n d"], two: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
    """The cosine of each row of `one` with the row of `two` beside it; 0 for a row of zeros."""
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
    return (one * two).sum(axis=1) / np.maximum(lengths, np.finfo(np.float32).tiny)


def beaten(cosines: Float[np.ndarray, " n"], bands: Bands, at: int) -> list[int]:
    """The higher bands whose cosines lie below those of this one (Mann and Whitney's test, one-sided, p < 0.05)."""
    from scipy.stats import mannwhitneyu

    own = cosines[bands.rows[at]]
    higher = range(at + 1, len(bands))
    return [up for up in higher if mannwhitneyu(own, cosines[bands.rows[up]], alternative="greater").pvalue < 0.05]


def misplaced(cosines: Float[np.ndarray, " n"], bands: Bands) -> tuple[int, list[int]]:
    """The band that lies above most of the higher ones, and these; none where the order is right."""
    return max(((at, beaten(cosines, bands, at)) for at in range(len(bands))), key=lambda one: len(one[1]))


def order_of(cosines: Float[np.ndarray, " n"], bands: Bands) -> str:
    """The misplaced band in words."""
    at, over = misplaced(cosines, bands)
    if not over:
        rising = (np.diff([np.median(cosines[rows]) for rows in bands.rows]) >= 0).all()
        ordered = f"the higher the {bands.title}, the higher the cosine"
        return ordered if rising else f"no {bands.title} lies clearly above a higher one"
    kinds = f" ({bands.kinds[at]})" if bands.kinds else ""
    names = " and ".join(", ".join(bands.names[up] for up in over).rsplit(", ", 1))
    than = f"{bands.title}{'s' * (len(over) > 1)} {names}"
    return f"{bands.title} {bands.names[at]}{kinds} has higher cosines than {than}"


def ridges(
    cosines: Float[np.ndarray, " n"],
    bands: Bands,
    uid: str,
    hover: Sequence[str] | None = None,
    color: str = PALETTE[0],
    dark: Collection[int] = (),
) -> list[go.Scatter]:
    """A trace a band, its density as a filled curve; one for the pairs, each below its band; and the medians, joined.

    Args:
        uid: begins the traces' `uid`.
        hover: a text for each pair; without it the pairs are not drawn.
        dark: bands that are darker than the others.
    """
    traces, medians = [], [float(np.median(cosines[rows])) for rows in bands.rows]
    for level, (name, rows) in enumerate(zip(bands.names, bands.rows, strict=True)):
        low, high = _ends(cosines[rows])
        grid = np.linspace(low, high, FINE)
        height = density(cosines[rows], grid)
        curve = level + TALL * height / height.max()  # each as tall as the others
        traces.append(
            go.Scatter(
                x=np.append(grid, [high, low]).round(3).astype(np.float32),  # finer than a pixel
                y=np.append(curve, [level, level]).round(3).astype(np.float32),
                uid=f"{uid}: {name}",
                mode="lines",
                fill="toself",
                fillcolor=color if level in dark else None,
                line={"color": color, "width": 1.5},
                hoveron="fills",
                hoverinfo="text",
                text=f"{escape(bands.title)} {escape(name)}: {len(rows)} pairs, median cosine {medians[level]:.3f}",
            )
        )
    if hover is not None:
        traces.append(_pairs(cosines, bands, uid, hover, color))
    path = go.Scatter(
        x=rounded(medians),
        y=[*range(len(medians))],
        uid=f"{uid}: medians",
        mode="lines+markers",
        line={"color": INK, "width": 2},
        marker={"size": 9, "color": INK},
        hovertemplate="median %{x:.2f}<extra></extra>",
    )
    return [*traces, path]


def _pairs(cosines: Float[np.ndarray, " n"], bands: Bands, uid: str, hover: Sequence[str], color: str) -> go.Scatter:
    """All pairs as one trace in their own order, so that a page moves its dots if the bands change."""
    places = np.empty(len(cosines), np.float32)
    for level, rows in enumerate(bands.rows):
        shift = STRIP * (0.5 + 0.5 * ((np.arange(len(rows)) * 0.618) % 1))  # a little apart, the same each time
        places[rows] = (level - shift).round(3)
    return go.Scatter(
        x=cosines.round(4).astype(np.float32),
        y=places,
        uid=f"{uid}: pairs",
        mode="markers",
        marker={"color": color, "size": 3, "opacity": 0.7},
        customdata=np.array([*enumerate(hover)], dtype=object),
        hovertemplate="%{customdata[1]}<extra></extra>",
    )


def ridge_axes(bands: Bands, limits: tuple[float, float]) -> tuple[dict, dict]:
    """The axes for `ridges`; the name of the bands appears only where the names leave room."""
    across = {"title": {"text": "cosine"}, "range": list(limits), "zeroline": False}
    ends = f"{bands.title} ({bands.names[0]}: unrelated, {bands.names[-1]}: same meaning)"
    up = {
        "range": [-0.25, len(bands) - 0.05],
        "tickvals": list(range(len(bands))),
        "ticktext": list(bands.names),
        "title": {"text": ends if len(max(bands.names, key=len)) < 8 else ""},
        "automargin": True,
        "showline": False,
        "ticks": "",
    }
    return across, up


def cosine_limits(bands: Bands, *cosines: np.ndarray, also: Sequence[float] = ()) -> tuple[float, float]:
    """An axis that holds the ridges of all the cosines, and further ones."""
    low, high = zip(*(_ends(each[rows]) for each in cosines for rows in bands.rows), strict=True)
    return round(min(*low, *also) - 0.02, 3), round(max(*high, *also) + 0.02, 3)
