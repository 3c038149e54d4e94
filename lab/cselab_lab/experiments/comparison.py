"""The main comparison: all methods and their variants, beside every control that no paper prints.

Recorded on `mini` under `study`.
"""

from cselab_lab.experiments.plan import Above, Experiment, Row, declare

CONTROLS = (
    Row("random vectors", reference="random"),
    Row("word overlap", reference="word overlap"),
    Row("static vectors", reference="static"),
    Row("plain"),
    Row("plain, mean subtracted", posthoc="centred"),
    Row("plain, first component removed", posthoc="without 1"),
    *(Row(f"plain, first {k} components removed", posthoc=f"without {k}") for k in (2, 4, 8)),
    Row("plain, whitened", posthoc="whitening"),
    Row("plain, flow", posthoc="flow"),
)
"""No training at all: what a gain is to be seen beside."""

METHODS = (
    Row("SimCSE", "simcse"),
    Row("WhitenedCSE", "whitenedcse"),
    Row("WhitenedCSE, as printed", "whitenedcse", {"variant": "paper"}),
    Row("WhitenedCSE, as released", "whitenedcse", {"variant": "released"}),
    Row("WhitenedCSE, one backbone pass", "whitenedcse", {"backbone_passes": 1}),
    Row("ImSimCSE", "imsimcse"),
    Row("ImSimCSE, as printed", "imsimcse", {"variant": "paper"}),
    Row("ImSimCSE, as released", "imsimcse", {"variant": "released"}),
    Row("Focal-InfoNCE", "focal"),
    Row("SimCSE, mean subtracted", "simcse", posthoc="centred"),
    Row("SimCSE, whitened", "simcse", posthoc="whitening"),
)

HEADLINES = ("WhitenedCSE is above SimCSE", "ImSimCSE is above SimCSE", "Focal-InfoNCE is above SimCSE")
"""What the three papers are about, each of its own method. Seven seeds have 128 changes of sign: the exact test can
then give 2 / 128 = 0.016, three times which is below 0.05, so that each of the three can be decided beside the others.
"""

declare(
    Experiment(
        name="main-comparison",
        question="What does each method add to the plain encoder, beside what linear algebra alone adds?",
        baseline="plain",
        rows=CONTROLS + METHODS,
        claims=(
            Above("SimCSE is above the plain encoder", "SimCSE", "plain"),
            Above("SimCSE is above the plain vectors with their mean subtracted", "SimCSE", "plain, mean subtracted"),
            Above("SimCSE is above the plain vectors whitened", "SimCSE", "plain, whitened"),
            Above("WhitenedCSE is above SimCSE", "WhitenedCSE", "SimCSE"),
            Above("ImSimCSE is above SimCSE", "ImSimCSE", "SimCSE"),
            Above("Focal-InfoNCE is above SimCSE", "Focal-InfoNCE", "SimCSE"),
        ),
        headlines=HEADLINES,
    )
)
