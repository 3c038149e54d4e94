"""The growth of the papers' effects with the training length and the batch size, which no paper prints.

Recorded under the profile `study`, where a row of the papers' tables is one size of these. A gain is over
SimCSE of the same size, SimCSE's own over the plain encoder.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from .comparison import AT_FOCALS_TEMPERATURE, BARLOW_TWINS, IMSIMCSE, NOISE
from .experiment import Experiment, Row, declare, get_experiment

if TYPE_CHECKING:
    from pandas import DataFrame

    from .report import Results

LENGTHS = (0.3, 1.0, 3.0, 5.0, 10.0)
"""Of the profile's steps: 60, 200, 600, 1,000 and 2,000 under `study`."""

BATCHES = (0.5, 1.0, 2.0, 4.0)
"""Of the profile's batch: 32, 64, 128 and 256 under `study`."""

EFFECTS = (
    Row("SimCSE", "simcse", against="plain"),
    Row("Focal-InfoNCE", "focal"),
    AT_FOCALS_TEMPERATURE,
    Row("ImSimCSE, mixture", "imsimcse"),
    Row("WhitenedCSE, 3 passes", "whitenedcse"),
    *BARLOW_TWINS,
    *NOISE,
)

VARIANTS = tuple(replace(row, published=None) for row in IMSIMCSE[:2])
"""The values of ImSimCSE's text and code, at the profile's own size."""


def whole(factor: float) -> Callable[[float], int]:
    """A multiple of the profile's recipe, as a whole number of at least 1.

    >>> whole(0.3)(200), whole(0.3)(1)
    (60, 1)
    """
    return lambda value: max(1, round(factor * value))


def label(effect: Row, name: str = "steps", factor: float = 1.0) -> str:
    """The name of an effect's row at a size.

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
            *VARIANTS,
            *(replace(effect, against=effect.against or "SimCSE") for effect in EFFECTS),
            *(_at(effect, "steps", factor) for factor in LENGTHS if factor != 1 for effect in EFFECTS),
            *(_at(effect, "batch_size", factor) for factor in BATCHES if factor != 1 for effect in EFFECTS),
        ),
    )
)

PUBLISHED = {
    "Focal-InfoNCE": ("focal-table2", "Focal"),
    "ImSimCSE, mixture": ("imsimcse-table3", "ImSimCSE, paper"),
    "WhitenedCSE, 3 passes": ("whitenedcse-table1", "WhitenedCSE, 3 passes"),
    "Barlow Twins, M = 0": ("imsimcse-table2", "Barlow Twins, M = 0"),
    "Barlow Twins, full rank": ("imsimcse-table2", "Barlow Twins, full rank"),
    "+noise on negatives": ("imsimcse-table1", "+noise on negatives"),
    "+noise on positives": ("imsimcse-table1", "+noise on positives"),
}
"""By effect, the experiment and its row where the paper's gain over SimCSE is printed."""

PAPERS_STEPS = 15_600
"""One epoch of a million sentences in batches of 64."""


def by_size(results: "Results", name: str = "steps") -> "DataFrame":
    """The size of each effect at each size that we ran, one per line, and the papers' effects at their sizes.

    Args:
        results: the results of the experiment `effects-grow`.
        name: "steps" or "batch".

    Returns:
        effect, the size under its name, gain in points of the seven sets' average, gain_low and gain_high (the 95 %
        interval over the seeds; empty for a single one), seeds, whose ("here", "paper", or of a profile whose recipe
        is one epoch and not a number of steps, "one epoch").
    """
    from pandas import DataFrame, notna

    field, factors = {"steps": ("steps", LENGTHS), "batch": ("batch_size", BATCHES)}[name]
    cells, recipe = results.to_frame("Avg.").set_index("row"), results.profile.recipe
    whose = "here" if "steps" in recipe else "one epoch"
    lines = []
    for effect in EFFECTS:
        for factor in factors:
            cell = cells.loc[label(effect, name, factor)]
            if notna(cell.gain):
                size = whole(factor)(recipe.get(field, PAPERS_STEPS))
                seeds = len(
                    results.over(cell.name, results.experiment.against(results.experiment.row(cell.name)).label, "Avg.")
                )
                lines.append(
                    {
                        "effect": effect.label,
                        name: size,
                        **cell[["gain", "gain_low", "gain_high"]],
                        "seeds": seeds,
                        "whose": whose,
                    }
                )
        if name == "steps" and (printed := published_gain(effect.label)) is not None:
            lines.append({"effect": effect.label, name: PAPERS_STEPS, "gain": printed, "whose": "paper"})
    return DataFrame(lines, columns=["effect", name, "gain", "gain_low", "gain_high", "seeds", "whose"])


def published_gain(effect: str) -> float | None:
    """The paper's value of an effect, in points over SimCSE; None if no paper prints it.

    >>> round(published_gain("Focal-InfoNCE"), 2), published_gain("SimCSE")
    (1.65, None)
    """
    if effect not in PUBLISHED:
        return None
    name, label = PUBLISHED[effect]
    experiment = get_experiment(name)
    row = experiment.row(label)
    theirs, base = (
        float(experiment.cell(one, experiment.column("Avg.")).printed) for one in (row, experiment.against(row))
    )
    return theirs - base
