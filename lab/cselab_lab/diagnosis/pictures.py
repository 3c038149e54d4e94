"""The evidence as plotly figures; several signs may share a picture."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .evidence import Evidence

ROWS_DRAWN = 200
CLEAR, GREY = "rgba(0, 0, 0, 0)", "rgba(128, 128, 128, 0.3)"
ON_ANY_PAGE = {
    "template": {
        "layout": {"xaxis": {"gridcolor": GREY, "zeroline": False}, "yaxis": {"gridcolor": GREY, "zeroline": False}}
    },
    "font": {"color": "#808080"},
    "paper_bgcolor": CLEAR,
    "plot_bgcolor": CLEAR,
    "showlegend": False,
}
"""Figures for light and dark pages."""


def _figure(kind: str, x: Any, y: Any, title: str, across: str, up: str, **marks: Any) -> Any:
    import plotly.graph_objects as go

    trace = getattr(go, kind)(x=x, y=y, **marks)
    axes = {"xaxis": {"title": {"text": across}}, "yaxis": {"title": {"text": up}}}
    return go.Figure(trace, {"title": {"text": title}, **axes, **ON_ANY_PAGE})


def _histogram(values: Any, title: str, across: str, up: str) -> Any:
    counts, edges = np.histogram(np.asarray(values, dtype=float), bins=40)
    return _figure("Bar", ((edges[1:] + edges[:-1]) / 2).round(6).tolist(), counts.tolist(), title, across, up)


def cosines(seen: "Evidence") -> Any:
    """Cosines of different texts."""
    from cselab.metrics.degenerate import unit_rows

    unit = unit_rows(seen.vectors[:ROWS_DRAWN]).numpy()
    pairs = (unit @ unit.T)[np.triu_indices(len(unit), 1)]
    return _histogram(pairs, "Cosines of different texts", "cosine", "pairs")


def broken(seen: "Evidence") -> Any:
    """How many vectors have a direction."""
    counts = {reason: len(rows) for reason, rows in seen.broken.items()} | {"sound": len(seen.sound)}
    return _figure("Bar", list(counts), list(counts.values()), "Vectors without a direction", "vector", "texts")


def spectrum_picture(seen: "Evidence") -> Any:
    """How the variance is spread over the directions."""
    from cselab.metrics import spectrum as variances

    eigenvalues = variances(seen.vectors)
    share = (eigenvalues / max(eigenvalues.sum(), 1e-30)).tolist()
    numbers = list(range(1, len(share) + 1))
    figure = _figure("Scatter", numbers, share, "Variance by direction", "direction", "share of the variance")
    return figure.update_yaxes(type="log", exponentformat="power")


def norms(seen: "Evidence") -> Any:
    """The norm of each vector against the length of its text."""
    lengths = seen.tokens(seen.texts_of_vectors)
    norm_of = np.linalg.norm(seen.vectors.astype(np.float64), axis=1).tolist()
    return _figure("Scatter", lengths, norm_of, "Norms by length", "tokens of the text", "norm", mode="markers")


def lengths(seen: "Evidence") -> Any:
    """How long the texts are."""
    return _histogram(seen.tokens(seen.texts), "Lengths of the texts", "tokens", "texts")


def losses(seen: "Evidence") -> Any:
    """The loss of each step."""
    values = seen.losses()
    return _figure("Scatter", list(range(1, len(values) + 1)), values, "The contrastive loss", "step", "loss")


def shares(seen: "Evidence") -> Any:
    """The mean share of each negative in the gradient, hardest first."""
    repulsion = seen.repulsion
    curve = [] if repulsion is None else repulsion.sort(dim=1, descending=True).values.mean(dim=0).tolist()
    title = "Share of the gradient on each negative"
    return _figure("Bar", list(range(1, len(curve) + 1)), curve, title, "negative, the hardest first", "share")


def views(seen: "Evidence") -> Any:
    """The cosine of two views of a sentence."""
    import torch.nn.functional as F

    made = seen.views
    cosines = [] if made is None else F.cosine_similarity(made.anchor, made.positive).tolist()
    return _histogram(cosines, "Two views of a sentence", "cosine of the views", "sentences")


def copies(seen: "Evidence") -> Any:
    """The number of copies of each text in the corpus."""
    times = list(seen.copies.values())
    return _histogram(times, "Copies of each text in the corpus", "times", "different texts")


def leaks(seen: "Evidence") -> Any:
    """How many sentences of each test pair the corpus has."""
    counts = [seen.leaks.count(many) for many in range(3)]
    return _figure("Bar", ["0", "1", "2"], counts, "Test pairs in the corpus", "sentences in the corpus", "pairs")


def overlaps(seen: "Evidence") -> Any:
    """How many words two sentences of the corpus share."""
    shared = seen.overlaps
    return _histogram(
        shared[shared >= 0.3], "Pairs of sentences with shared words", "share of words in common", "pairs"
    )
