"""A transform by its name."""

import numpy as np
from jaxtyping import Float

from cselab._util.arguments import check_arguments

from .components import ComponentsRemoved
from .flow import BertFlow
from .whitening import BertWhitening

Transform = ComponentsRemoved | BertWhitening | BertFlow

NAMES = ("centred", "without K", "whitening", "flow")
"""The names for `fit`; K is a number."""


def fit(name: str, vectors: Float[np.ndarray, "n d"]) -> Transform:
    """The transform with this name, fitted on these vectors: `fit("whitening", train).transform(test)`.

    Args:
        name: one of `NAMES`: "centred"; "without K", K the number of components; "whitening", of all directions in
            which the vectors vary (a layer norm leaves one out, n vectors have at most n - 1); "flow", with the
            defaults of `BertFlow`.
        vectors: one row per sentence.

    Raises:
        ValueError: an unknown name; fewer than two vectors, or too few for the flow.

    >>> x = np.random.default_rng(0).normal(size=(50, 4)) + 3
    >>> fit("centred", x).transform(x).mean().round(9) + 0.0
    np.float64(0.0)
    """
    check_arguments(fit, {"name": name})
    kind, _, number = name.partition(" ")
    if name == "centred":
        return ComponentsRemoved(0).fit(vectors)
    if kind == "without" and number.isdecimal():
        return ComponentsRemoved(int(number)).fit(vectors)
    if name == "whitening":
        return BertWhitening().fit(vectors)
    if name == "flow":
        return BertFlow().fit(vectors)
    raise ValueError(f"unknown transform {name!r}; choose one of {', '.join(NAMES)}, with a number for K")
