"""The papers' effects, each with its baseline: many runs of `mini`, for lessons and panels without training.

Recorded under `study`: `read_results("effects")`; `cselab experiment show effects` prints them.

See also: `cselab_lab.experiments.comparison`, whose controls these are; the papers' own tables.
"""

from .comparison import BARLOW_TWINS, CONTROLS, HEADLINES, IMSIMCSE, LESS_NOISE, NOISE, WHITENEDCSE
from .experiment import SIMCSE, Column, Experiment, Row, declare, missing_rank
from .verdicts import Above

SCORES = ("Avg.", "World-STS", "Classroom-STS")
"""The columns of each claim; "Avg." is the mean of the seven STS sets, as in the papers."""

ROWS = (
    SIMCSE,
    *WHITENEDCSE,
    *IMSIMCSE,
    NOISE[0],
    BARLOW_TWINS[0],
    Row("Barlow Twins, M = full", "barlow_twins", {"artificial_rows": missing_rank(1)}),
    NOISE[1],
    Row("Focal-InfoNCE", "focal"),
    Row("WhitenedCSE, 1 pass", "whitenedcse", {"backbone_passes": 1}),
    Row("SimCSE, 3 dropout views", "simcse", {"num_views": 3}),
    Row("WhitenedCSE, groups not shuffled", "whitenedcse", {"kind": "group"}),
    Row("WhitenedCSE, released", "whitenedcse", {"variant": "released"}),
    Row("WhitenedCSE, 2 views", "whitenedcse", {"num_views": 2}),
    Row("ImSimCSE, only off-dropout", "imsimcse", {"weight": 0.0}),
    Row("ImSimCSE, only dimension-wise", "imsimcse", {"off_dropout": False}),
    Row("Barlow Twins, M = half", "barlow_twins", {"artificial_rows": missing_rank(1 / 2)}),
    *LESS_NOISE,
)
CLAIMS = (
    Above("SimCSE is above plain", "SimCSE", "plain"),
    Above("SimCSE is above plain with its mean subtracted", "SimCSE", "plain, mean subtracted"),
    Above("SimCSE is above plain whitened", "SimCSE", "plain, whitened"),
    HEADLINES[0],
    Above("shuffling the groups gains points", "WhitenedCSE, 3 passes", "WhitenedCSE, groups not shuffled"),
    Above("three views are above two", "WhitenedCSE, 3 passes", "WhitenedCSE, 2 views"),
    Above("whitening adds to three dropout views", "WhitenedCSE, 3 passes", "SimCSE, 3 dropout views"),
    Above("a third dropout view gains points", "SimCSE, 3 dropout views"),
    *HEADLINES[1:3],
    Above("off-dropout by itself is above SimCSE", "ImSimCSE, only off-dropout"),
    Above("the dimension-wise term by itself is above SimCSE", "ImSimCSE, only dimension-wise"),
    HEADLINES[3],
    Above("noise on the negatives costs points", "SimCSE", "+noise on negatives"),
    Above("noise on the positives costs points", "SimCSE", "+noise on positives"),
    Above("less noise on the negatives gains points", "-noise on negatives"),
    Above("less noise on the positives costs points", "SimCSE", "-noise on positives"),
    Above("Barlow Twins at the rank of the batch costs points", "SimCSE", "Barlow Twins, M = 0"),
    Above("Barlow Twins gains from full rank", "Barlow Twins, M = full", "Barlow Twins, M = 0"),
    Above("Barlow Twins gains from half of it", "Barlow Twins, M = half", "Barlow Twins, M = 0"),
)

declare(
    Experiment(
        name="effects",
        question="Which of the papers' effects show on one small encoder, under one recipe?",
        columns=tuple(Column(name) for name in (*SCORES, "effective_rank")),
        baseline="SimCSE",
        rows=tuple(row for row in CONTROLS if row.label not in ("static vectors", "plain, flow")) + ROWS,
        claims=CLAIMS,
    )
)
