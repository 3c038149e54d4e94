"""Stages for an exercise that spoils the geometry and keeps the score: my_cone(vectors), rows of any length."""

from typing import Any

from cselab_lab.lessons.exercises import Stage

NARROW = -0.1  # the uniformity of a cone that leaves hardly any room


def _cloud() -> Any:
    """Forty rows of unequal lengths about five centres: some near each other, some opposite."""
    import numpy as np

    generator = np.random.default_rng(0)
    centres = generator.standard_normal((5, 16))
    rows = np.repeat(centres, 8, axis=0) + 0.7 * generator.standard_normal((40, 16))
    return rows * generator.uniform(0.2, 3.0, size=(40, 1))


def _made(cone: Any) -> Any:
    import numpy as np

    return np.asarray(cone(_cloud()), dtype=float)


def _cosines(rows: Any) -> Any:
    import numpy as np

    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return (unit @ unit.T)[np.triu_indices(len(rows), 1)]


def _a_row_each(cone: Any) -> bool:
    import numpy as np

    rows = _made(cone)
    return rows.ndim == 2 and len(rows) == 40 and bool(np.isfinite(rows).all() and rows.any(axis=1).all())


def _narrow(cone: Any) -> bool:
    from cselab.metrics import uniformity

    return uniformity(_made(cone)) > NARROW


def _told_apart(cone: Any) -> bool:
    import numpy as np

    return bool(np.ptp(_cosines(_made(cone))) > 1e-7)


def _agreement(cone: Any) -> float:
    from scipy.stats import spearmanr

    return spearmanr(_cosines(_made(cone)), _cosines(_cloud())).statistic


STAGES = [
    Stage(
        "each row gives a row of numbers, not all of them 0",
        _a_row_each,
        "return an array with as many rows as `vectors`, without NaN; it may be wider.",
    ),
    Stage(
        "the uniformity is above -0.1: everything crowds together",
        _narrow,
        "give all rows something large in common. Scaling the rows changes no cosine.",
    ),
    Stage(
        "the cosines still differ",
        _told_apart,
        "what told the rows apart is gone, or drowned in rounding: keep it, and add less.",
    ),
    Stage(
        "the order of the cosines is nearly the old one: Spearman above 0.8",
        lambda cone: _agreement(cone) > 0.8,
        "whatever you add must say nothing about a single row; and long rows must not count for more than short ones.",
    ),
    Stage(
        "the order of the cosines is exactly the old one: Spearman above 0.999",
        lambda cone: _agreement(cone) > 0.999,
        "scale the rows to length 1 first, and add at a right angle to all of them: in a new column.",
    ),
]
