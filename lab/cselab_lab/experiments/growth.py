"""How the papers' effects grow with the length of training and the size of a batch: no paper prints it.

Recorded under the profile `study`, where a row of the papers' tables is one size of these; `results/effects-grow.md`
is the page. A gain is over SimCSE of the same size, SimCSE's own over the plain encoder.
"""

from collections.abc import Callable
from dataclasses import replace

from cselab_lab.experiments.experiment import Experiment, Row, declare, missing_rank

LENGTHS = (0.3, 1.0, 3.0, 5.0, 10.0)
"""Of the profile's steps: 60, 200, 600, 1,000 and 2,000 under `study`."""

BATCHES = (0.5, 1.0, 2.0, 4.0)
"""Of the profile's batch: 32, 64, 128 and 256 under `study`."""

EFFECTS = (
    Row("SimCSE", "simcse", against="plain"),
    Row("Focal-InfoNCE", "focal"),
    Row("SimCSE at Focal's temperature", "simcse", {"temperature": 0.07}),
    Row("ImSimCSE", "imsimcse"),
    Row("WhitenedCSE", "whitenedcse"),
    Row("Barlow Twins, M = 0", "barlow_twins"),
    Row("Barlow Twins, full rank", "barlow_twins", {"artificial_rows": missing_rank(1)}),
    Row("+noise on negatives", "noise", {"on": "negatives", "variance": 0.1}),
    Row("+noise on positives", "noise", {"on": "positives", "variance": 0.1}),
)


def whole(factor: float) -> Callable[[float], int]:
    """So many times what the profile's recipe says, as a whole number of at least 1.

    >>> whole(0.3)(200), whole(0.3)(1)
    (60, 1)
    """
    return lambda value: max(1, round(factor * value))


def label(effect: Row, name: str = "steps", factor: float = 1.0) -> str:
    """What a row of an effect is called at a size.

    >>> label(EFFECTS[1]), label(EFFECTS[1], "steps", 3.0)
    ('Focal-InfoNCE', 'Focal-InfoNCE, steps x 3')
    """
    return effect.label if factor == 1 else f"{effect.label}, {name} x {factor:g}"


def _at(effect: Row, field: str, factor: float) -> Row:
    name = field.removesuffix("_size")
    against = effect.against or label(EFFECTS[0], name, factor)
    return replace(effect, label=label(effect, name, factor), recipe={field: whole(factor)}, against=against)


declare(
    Experiment(
        name="effects-grow",
        question="How do the papers' effects grow with the steps of training and the sentences of a batch?",
        baseline="SimCSE",
        rows=(
            Row("plain, whitened", posthoc="whitening", against="plain"),
            *(replace(effect, against=effect.against or "SimCSE") for effect in EFFECTS),
            *(_at(effect, "steps", factor) for factor in LENGTHS if factor != 1 for effect in EFFECTS),
            *(_at(effect, "batch_size", factor) for factor in BATCHES if factor != 1 for effect in EFFECTS),
        ),
    )
)
