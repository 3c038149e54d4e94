"""The main comparison: all methods and their variants, with every baseline, also those that no paper prints.

Recorded on `mini` under `study`.
"""

from .experiment import SIMCSE, Experiment, Row, declare, missing_rank
from .verdicts import Above

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
"""The baselines without training."""

STATIC_LAST = Row("plain, mean of static embeddings and last layer", pooling="emb_last_mean")
"""The papers' "first-last average" of 56.70. In `mini`, the static embeddings come from all-MiniLM."""

RANDOM_WEIGHTS = (
    Row("random weights, [CLS]", reference="random weights"),
    Row("random weights, mean of tokens", reference="random weights", pooling="mean"),
)
"""The encoder's shape before any pretraining, drawn with each seed."""

IMSIMCSE = (
    Row("ImSimCSE, paper", "imsimcse", {"variant": "paper"}, published="ImSimCSE-BERT_base"),
    Row("ImSimCSE, released", "imsimcse", {"variant": "released"}, published="ImSimCSE-BERT_base"),
    Row("ImSimCSE, mixture", "imsimcse"),
)
"""The text, the released code, and the text's m with the code's scale of the dimension-wise term."""

WHITENEDCSE = (
    Row("WhitenedCSE, 3 passes", "whitenedcse", published="WhitenedCSE-BERT_base"),
    Row("WhitenedCSE, paper", "whitenedcse", recipe={"representation": "head"}, published="WhitenedCSE-BERT_base"),
    Row("WhitenedCSE, 1 pass, after the head", "whitenedcse", {"variant": "paper", "backbone_passes": 1}),
)
"""The vector before the head, as in the released code; the text, which evaluates the vector after it (as
`variant="paper"`, but the same job as in Table 3); and the text read as one pass, which its own tables rule out."""

AT_FOCALS_TEMPERATURE = Row("SimCSE at Focal's temperature", "simcse", {"temperature": 0.07})
LESS_NOISE = tuple(Row(f"-noise on {on}", "noise", {"on": on, "mean_of": 10}) for on in ("negatives", "positives"))
BARLOW_TWINS = (
    Row("Barlow Twins, M = 0", "barlow_twins"),
    Row("Barlow Twins, full rank", "barlow_twins", {"artificial_rows": missing_rank(1)}),
)
NOISE = tuple(Row(f"+noise on {on}", "noise", {"on": on, "variance": 0.1}) for on in ("negatives", "positives"))
"""The variance counts in the units of the head's tanh."""

METHODS = (
    SIMCSE,
    *WHITENEDCSE,
    Row("WhitenedCSE, released", "whitenedcse", {"variant": "released"}),
    Row("WhitenedCSE, 1 pass", "whitenedcse", {"backbone_passes": 1}),
    *IMSIMCSE,
    Row("Focal-InfoNCE", "focal"),
    Row("SimCSE, mean subtracted", "simcse", posthoc="centred"),
    Row("SimCSE, whitened", "simcse", posthoc="whitening"),
)

HEADLINES = (
    Above("WhitenedCSE (3 passes, as its code) is above SimCSE", "WhitenedCSE, 3 passes"),
    Above("ImSimCSE (paper) is above SimCSE", "ImSimCSE, paper"),
    Above("ImSimCSE (released) is above SimCSE", "ImSimCSE, released"),
    Above("Focal-InfoNCE is above SimCSE", "Focal-InfoNCE"),
)
"""The main claim of each paper. The exact test over seven seeds can reach p = 2 / 128 = 0.016."""

declare(
    Experiment(
        name="main-comparison",
        question="What does each method add to the plain encoder, compared with linear algebra?",
        baseline="plain",
        rows=CONTROLS + RANDOM_WEIGHTS + METHODS,
        claims=(
            Above("SimCSE is above the plain encoder", "SimCSE", "plain"),
            Above("SimCSE is above the plain vectors with their mean subtracted", "SimCSE", "plain, mean subtracted"),
            Above("SimCSE is above the plain vectors whitened", "SimCSE", "plain, whitened"),
            *HEADLINES,
        ),
        headlines=tuple(claim.claim for claim in HEADLINES),
    )
)
