"""How low a loss between dimensions can go when few rows make the correlation matrix (ImSimCSE, section 4.2)."""

from math import exp, log1p

from cselab._util.arguments import AtLeastTwo, PositiveFloat, PositiveInt, UnitInterval, checked


@checked
def barlow_twins_floor(dimensions: PositiveInt, rank: PositiveInt, weight: UnitInterval) -> float:
    """The lowest Barlow Twins loss of any matrix of this rank, in the units of `cselab.losses.barlow_twins`.

        min over C with rank C <= r of  sum_c (1 - C_cc)^2 + w sum_{c != d} C_cd^2
            = D k / (1 + k),    k = w (D - r) / r

    N rows and M artificial ones make a matrix of rank N + M at most (N + M - 1 when centred), so with N = 64,
    D = 768 and w = 0.012 the loss stays above 89.6: the bottleneck. From rank D on it can be 0.

    Because |tr C| <= sqrt(r) |C|_F, a mean t of the diagonal costs at least D [(1 - t)^2 + k t^2], which is least
    at t = 1 / (1 + k); a tight frame of D unit vectors in r dimensions, scaled by t, attains it. A correlation matrix
    only comes close: the frame itself, at t = 1, costs D k.

    Args:
        dimensions: D, 1 or more.
        rank: r, 1 or more.
        weight: lambda_BT of the entries off the diagonal, between 0 and 1.

    Raises:
        ValueError: a number out of its range.

    See also: `dimension_contrastive_floor`, which does not depend on the rank.

    >>> round(barlow_twins_floor(768, 64, 0.012), 1), barlow_twins_floor(768, 768, 0.012)
    (89.6, 0.0)
    """
    bottleneck = weight * max(dimensions - rank, 0) / rank
    return dimensions * bottleneck / (1 + bottleneck)


@checked
def dimension_contrastive_floor(dimensions: AtLeastTwo, temperature: PositiveFloat) -> float:
    """A value below which `cselab.losses.dimension_contrastive` (released scale) cannot go at any rank.

        log(1 + (D - 1) exp(-D / ((D - 1) t)))

    By convexity all differences C_cd - C_cc are best equal, and their mean is at least -D / (D - 1): a simplex.
    With too few rows, nearly orthogonal directions are nearly as good, because each dimension only needs to be more
    similar to itself than to the rest.

    Raises:
        ValueError: fewer than two dimensions, or a temperature that is not positive.

    >>> round(dimension_contrastive_floor(768, 5.0), 3)
    6.444
    """
    others = dimensions - 1
    return log1p(others * exp(-dimensions / (others * temperature)))
