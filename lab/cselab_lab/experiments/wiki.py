"""The papers' methods on sentences of Wikipedia, each in two poolings, beside every baseline without training.

Recorded under the profile `wiki`. [CLS] trains with the head, as in the papers; the mean of the static embeddings and
the last layer trains without one, as in the released code of SimCSE for a mean.
"""

from dataclasses import replace

from .comparison import AT_FOCALS_TEMPERATURE, BARLOW_TWINS, IMSIMCSE, NOISE
from .experiment import Experiment, Row, declare
from .verdicts import Above

MEAN = ", static and last layer"
"""The ending of the label of a row whose pooling is the mean of the static embeddings and the last layer."""

HEADLINE_ROWS = (
    Row("SimCSE", "simcse", against="plain"),
    Row("Focal-InfoNCE", "focal"),
    Row("WhitenedCSE, 3 passes", "whitenedcse"),
    *IMSIMCSE[:2],
)
ROWS = (
    AT_FOCALS_TEMPERATURE,
    Row("only dimension-wise", "dimension_wise", {"dimension_temperature": 0.05}),
    *BARLOW_TWINS,
)

UNTRAINED = (
    Row("plain"),
    Row("plain, mean subtracted", posthoc="centred"),
    Row("plain, first component removed", posthoc="without 1"),
    Row("plain, whitened", posthoc="whitening"),
    Row("plain, flow", posthoc="flow"),
    Row("random weights", reference="random weights"),
)


def _compared(row: Row) -> Row:
    return replace(row, against=row.against or ("plain" if row.method is None else "SimCSE"))


def _in_the_mean(row: Row) -> Row:
    """The row with the other pooling; a trained one without the head."""
    parameters = row.parameters if row.method is None else {**row.parameters, "head": "none"}
    against = row.against and row.against + MEAN
    return replace(row, label=row.label + MEAN, pooling="emb_last_mean", against=against, parameters=parameters)


def _claims(pooling: str) -> tuple[list[Above], list[Above]]:
    """The claims of the four headlines in a pooling, and the rest."""

    def above(words: str, higher: str, lower: str) -> Above:
        return Above(words + (pooling and " in the mean"), higher + pooling, lower + pooling)

    headlines = [above(f"{row.label} is above SimCSE", row.label, "SimCSE") for row in HEADLINE_ROWS[1:]]
    rest = [
        above("SimCSE is above the plain vectors", "SimCSE", "plain"),
        above("SimCSE is above the plain vectors whitened", "SimCSE", "plain, whitened"),
        above("Focal-InfoNCE is above SimCSE at its temperature", "Focal-InfoNCE", ROWS[0].label),
        above("only the dimension-wise term is above SimCSE", ROWS[1].label, "SimCSE"),
        above("Barlow Twins at the rank of the batch costs points", "SimCSE", ROWS[2].label),
        above("Barlow Twins gains from full rank", ROWS[3].label, ROWS[2].label),
    ]
    if not pooling:
        rest += [
            Above(f"noise on the {on} costs points", "SimCSE", f"+noise on {on}") for on in ("negatives", "positives")
        ]
    return headlines, rest


CLAIMS = [_claims(""), _claims(MEAN)]
ALONE = (
    Row("random vectors", reference="random"),
    Row("word overlap", reference="word overlap"),
    Row("word vectors alone", reference="static"),
    Row("plain, mean of the last layer", pooling="mean"),
    Row("plain, first and last layer", pooling="layer1_last_mean"),
    Row("random weights, mean of the last layer", reference="random weights", pooling="mean"),
)
"""Baselines that belong to neither pooling."""

IN_BOTH = tuple(map(_compared, (*UNTRAINED, *HEADLINE_ROWS, *ROWS)))

declare(
    Experiment(
        name="wiki",
        question="What do the papers' methods add on sentences of Wikipedia, in two poolings?",
        baseline="SimCSE",
        rows=(
            *ALONE,
            *IN_BOTH,
            *map(_compared, NOISE),  # which counts in the units of the head's tanh
            *map(_in_the_mean, IN_BOTH),
        ),
        claims=tuple(claim for part in CLAIMS for claims in part for claim in claims),
        headlines=tuple(claim.claim for headlines, _ in CLAIMS for claim in headlines),
    )
)
