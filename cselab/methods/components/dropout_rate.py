"""Another rate of dropout for a while."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def dropout_rate(module: nn.Module, rate: float) -> Iterator[None]:
    """All dropout of the module, that of attention too, at `rate` inside, and as it was afterwards.

    >>> layer = nn.Dropout(0.1)
    >>> with dropout_rate(layer, 0.3):
    ...     layer.p
    0.3
    >>> layer.p
    0.1
    """
    found = [part for part in module.modules() if isinstance(part, nn.Dropout)]
    rates = [part.p for part in found]
    try:
        for part in found:
            part.p = rate
        yield
    finally:
        for part, before in zip(found, rates, strict=True):
            part.p = before
