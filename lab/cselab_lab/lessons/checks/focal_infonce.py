"""The exercises of lesson 07: Focal-InfoNCE, its gradient, and constant factors."""

import math
from typing import Any

import numpy as np
import torch
from scipy.optimize import approx_fprime

from cselab_lab.lessons.exercises import Check, Example, Exercise, Solution

from .answers import AS_IT_IS, by_hand, choice_mistakes, right_gradient

# ---- 1: Focal-InfoNCE: my_focal(cosines, temperature=0.07, m=0.3), the mean over the rows -----------------

_focal = Solution("07_focal_infonce", "my_focal")


def _logits(cosines: Any, temperature: Any = 0.07, m: Any = 0.3) -> Any:
    negatives = cosines * (cosines + m)
    return negatives.diagonal_scatter(cosines.diagonal() ** 2) / temperature


def by_factors(cosines: Any, temperature: float, m: float) -> float:
    """The mean of the losses, in double precision."""
    s = np.asarray(cosines)
    return by_hand(s * (s + m * (1 - np.eye(len(s)))) / temperature)


def _example(what: str, table: list[list[float]], *given: float, right: Any = by_factors, **options: Any) -> Example:
    return Example(what, (torch.tensor(table), *given), right(table, *given), **options)


_UNEQUAL = [[0.9, 0.5, 0.2], [0.8, 0.6, 0.9], [0.1, 0.4, 0.7]]
_OPPOSITE = [[0.5, -0.2, 0.4], [-0.1, -0.3, -0.5], [0.2, -0.05, 0.4]]
FOCAL = Exercise(
    Example(
        "positive 0.8, negative 0.5, m 0.3, temperature 1: 0.64 against 0.40, so log(1 + exp(-0.24)) = 0.580",
        (torch.tensor([[0.8, 0.5], [0.5, 0.8]]), 1.0, 0.3),
        math.log1p(math.exp(-0.24)),
    ),
    Example(
        "a negative at 1 - m keeps its logit: positive 1, negative 0.5, m 0.5, temperature 0.25: log(1 + exp(-2))",
        (torch.tensor([[1.0, 0.5], [0.5, 1.0]]), 0.25, 0.5),
        math.log1p(math.exp(-2)),
    ),
    _example("unequal rows at temperature 0.5 and m 0.2, by hand", _UNEQUAL, 0.5, 0.2),
    _example("a positive and negatives below 0, at temperature 0.1 and m 0.3", _OPPOSITE, 0.1, 0.3),
    _example("a temperature of 0.004 does not overflow", _UNEQUAL, 0.004, 0.2, tolerance=1e-2),
    right_gradient(_focal, torch.tensor(_UNEQUAL), 0.5, 0.2, hint=f"The factors change with the cosine. {AS_IT_IS}"),
    solution=_focal,
    mistakes=choice_mistakes(_logits)
    | {
        "m belongs only to the negatives: for a positive it is s * s.": "m * (1 - own) -> m",
        "m is on the wrong side: m belongs to the negatives.": "(1 - own) -> own",
        "This is InfoNCE: no factor multiplies.": "cosines * factors -> cosines",
        "m is missing: the logit of a negative is s * (s + m) / temperature.": "m * (1 - own) -> 0",
        "m is added, not subtracted.": "cosines + m * -> cosines - m *",
        "The factor multiplies the cosine; your logits are only the factor.": "cosines * factors -> factors",
        "A positive has a factor, too: its logit is s * s / temperature.": (
            "cosines * factors -> cosines * (factors * (1 - own) + own)"
        ),
        "A negative has a factor, too: its logit is s * (s + m) / temperature.": (
            "cosines * factors -> cosines * (factors * own + 1 - own)"
        ),
        "Multiply entry by entry: `*`, not the matrix product `@`.": "cosines * factors -> cosines @ factors",
        "The logit of a negative is s * (s + m), not s * s + m.": (
            "cosines * factors -> (cosines * cosines + m * (1 - own))"
        ),
        "The factor multiplies the cosine, and is not squared.": "cosines * factors -> factors * factors",
        "Below 0 the factor and the cosine keep their signs.": (
            "cosines * factors -> cosines * (cosines.abs() + m * (1 - own))",
            "cosines * factors -> cosines * factors.clamp(min=0)",
            "cosines * factors -> cosines * factors.abs()",
            "cosines * factors -> cosines.clamp(min=0) * factors",
        ),
    },
    trained=True,
)

# ---- 2: its gradient: my_focal_gradient(cosines, temperature=0.07, m=0.3), [N, N] -------------------------
# The expected values come from finite differences of the loss, so that they depend on no formula of the gradient:
# neither on ours nor on the paper's, whose Eq. 4 is misprinted.


def differences(cosines: list[list[float]], temperature: float, m: float) -> Any:
    """d l_i / d cos_ij by finite differences of the sum of the losses; each cosine is in one of them."""
    n = len(cosines)
    slopes = approx_fprime(np.ravel(cosines), lambda moved: n * by_factors(moved.reshape(n, n), temperature, m))
    return slopes.reshape(n, n)


_FOUR = [[0.9, 0.5, 0.2, 0.6], [0.8, 0.6, 0.9, -0.1], [0.1, 0.4, 0.7, 0.3], [0.5, 0.2, 0.7, 0.8]]
FOCAL_GRADIENT = Exercise(
    _example("unequal rows at temperature 0.5 and m 0.2, by finite differences", _UNEQUAL, 0.5, 0.2, right=differences),
    _example("four sentences, at temperature 0.1 and m 0.5", _FOUR, 0.1, 0.5, right=differences),
    solution=Solution("07_focal_infonce", "my_focal_gradient"),
    mistakes={
        "That is the paper's Eq. 4, misprinted: s (s + m) has the derivative 2 s + m.": (
            "inner = 2 * cosines + m -> inner = 2 * cosines + 2 * m"
        ),
        "The inner derivative is missing: 2 s + m, or 2 s.": "inner * -> ",
        "The factor s + m changes with s, too: 2 s + m.": "2 * cosines -> cosines",
        "The inner derivative of a negative has m: 2 s + m.": "inner = 2 * cosines + m -> inner = 2 * cosines + 0",
        "The derivative by the logit is missing: softmax, less 1 on the diagonal.": "(shares - own) -> 1",
        "m belongs only to the negatives: on the diagonal 2 s, without m.": (
            "2 * cosines + m * (1 - own) -> 2 * cosines + m"
        ),
        "Divide by the temperature outside the softmax, too (chain rule).": "own) / temperature -> own)",
        "Each row is the gradient of its own loss, not of the mean: do not divide by N.": (
            "own) / temperature -> own) / temperature / len(own)"
        ),
        "The softmax is over the logits of piece 1, s * (s + m) and s * s, not over other numbers.": (
            "(cosines * factors / temperature) -> (cosines / temperature)",
            "(cosines * factors / temperature) -> (cosines * (cosines + m) / temperature)",
        ),
        "Divide each exponential by the sum of its row: softmax.": (
            "(cosines * factors / temperature).softmax(dim=1) -> (cosines * factors / temperature).exp()"
        ),
        "On the diagonal subtract 1: raising the positive's cosine lowers the loss.": "shares - own -> shares",
    },
)

# ---- further: factors that are constants: my_constant_focal(cosines, temperature=0.07, m=0.3) -------------------


_constant_focal = Solution("07_focal_infonce", "my_constant_focal")


def _has_a_gradient(answer: Any) -> bool:
    found = answer(torch.tensor(_UNEQUAL, requires_grad=True), 0.5, 0.2)
    found = found[0] if isinstance(found, list | tuple) else found
    return getattr(found, "requires_grad", False)


CONSTANT = Exercise(
    *FOCAL.examples[:4],
    Check("a gradient goes through the cosines", _has_a_gradient, "Detach only the factors, and use torch."),
    right_gradient(
        _constant_focal,
        torch.tensor(_UNEQUAL),
        0.5,
        0.2,
        known={
            "This is the gradient of Focal-InfoNCE: the factors still change with s. Try factors.detach().": (
                "factors.detach() -> factors"
            )
        },
        hint="The derivative of a negative's logit should be (s + m) / t, a positive's s / t: factors.detach().",
    ),
    solution=_constant_focal,
    mistakes=FOCAL.declared,
)
