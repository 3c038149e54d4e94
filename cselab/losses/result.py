"""The result of a loss function: named terms, and their sum."""

from collections.abc import Mapping
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Loss:
    """A sum of named scalar terms, which supports addition and scaling.

    The total is always the sum of the terms: scaling a loss scales its terms, and adding two losses joins
    their terms and adds up those of the same name. The built-in `sum` works on a list of losses.

    Args:
        terms: name -> scalar tensor; at least one.

    Raises:
        ValueError: no term, or a term that is not a scalar.

    Example:
        >>> import torch
        >>> a = Loss({"near": torch.tensor(2.0)})
        >>> b = Loss({"near": torch.tensor(1.0), "spread": torch.tensor(4.0)})
        >>> (a + 0.5 * b).floats()
        {'near': 2.5, 'spread': 2.0}
        >>> (a + 0.5 * b).total
        tensor(4.5000)
    """

    terms: Mapping[str, Float[Tensor, "*shape"]]

    def __post_init__(self) -> None:
        if not self.terms:
            raise ValueError("a Loss needs at least one term: Loss({'info_nce': tensor})")
        for name, term in self.terms.items():
            if term.ndim != 0:
                raise ValueError(
                    f"the term {name!r} has shape {list(term.shape)}; expected a scalar: use a mean or sum"
                )

    @property
    def total(self) -> Float[Tensor, ""]:
        """The objective: the sum of the terms, with their gradients."""
        first, *others = self.terms.values()
        return sum(others, first)

    def floats(self) -> dict[str, float]:
        """The terms as Python numbers, for a history or a progress bar."""
        return {name: term.item() for name, term in self.terms.items()}

    def __add__(self, other: "Loss") -> "Loss":
        if not isinstance(other, Loss):
            return NotImplemented
        joined = dict(self.terms)
        for name, term in other.terms.items():
            joined[name] = joined[name] + term if name in joined else term
        return Loss(joined)

    def __radd__(self, other: int) -> "Loss":
        return self if isinstance(other, int) and other == 0 else NotImplemented  # sum() starts at 0

    def __mul__(self, factor: int | float | Float[Tensor, ""]) -> "Loss":
        if isinstance(factor, Loss):
            return NotImplemented
        return Loss({name: factor * term for name, term in self.terms.items()})

    __rmul__ = __mul__
