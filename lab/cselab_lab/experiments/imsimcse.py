"""ImSimCSE, also SimCSE++ (Xu et al. 2023): its tables 1 to 5, and figure 1."""

from dataclasses import replace

from .comparison import BARLOW_TWINS, HEADLINES, IMSIMCSE, STATIC_LAST
from .experiment import DEV, SIMCSE, Column, Experiment, Row, declare, missing_rank
from .verdicts import Above, Trend
from .whitenedcse import BEFORE_SIMCSE, CONSERT_LARGE, LARGE, SIMCSE_BASE

declare(
    Experiment(
        name="imsimcse-table1",
        question="Does dropout noise hurt in the negatives, and does it help in the positives?",
        baseline="SimCSE",
        terms="+noise adds Gaussian noise of variance 0.1 to the vectors; \u2212noise averages 10 dropout passes.",
        rows=(
            Row("SimCSE", "simcse", published="SimCSE"),
            Row("+noise on positives", "noise", {"on": "positives", "variance": 0.1}, published="Pos. +Noise"),
            Row("-noise on positives", "noise", {"on": "positives", "mean_of": 10}, published="Pos. -Noise"),
            Row("+noise on negatives", "noise", {"on": "negatives", "variance": 0.1}, published="Neg. +Noise"),
            Row("-noise on negatives", "noise", {"on": "negatives", "mean_of": 10}, published="Neg. -Noise"),
        ),
        claims=(
            Above("noise on the negatives costs points", "SimCSE", "+noise on negatives"),
            Above("less noise in the negatives gains points", "-noise on negatives"),
            Above("noise on the positives costs points", "SimCSE", "+noise on positives"),
            Above("less noise in the positives costs points", "SimCSE", "-noise on positives"),
        ),
    )
)


BARLOW = (BARLOW_TWINS[0].label, "M = 1/7 of the way", "M = 3/7 of the way", BARLOW_TWINS[1].label)

declare(
    Experiment(
        name="imsimcse-table2",
        question="Is the batch a rank bottleneck for Barlow Twins, and do artificial rows lift it?",
        baseline="SimCSE",
        rows=(
            SIMCSE_BASE,
            replace(BARLOW_TWINS[0], published="+BarlowTwins (D =768)"),
            Row(BARLOW[1], "barlow_twins", {"artificial_rows": missing_rank(100 / 704)},
                published="+100 artificial z"),
            Row(BARLOW[2], "barlow_twins", {"artificial_rows": missing_rank(300 / 704)},
                published="+300 artificial z"),
            replace(BARLOW_TWINS[1], published="+704 artificial z"),
        ),
        claims=(
            Above("at the rank of the batch it costs points", "SimCSE", BARLOW[0]),
            Trend("the more rows, the better", BARLOW),
            Above("at full rank it is above M = 0", BARLOW[3], BARLOW[0]),
        ),
    )
)  # fmt: skip

PARTS = (
    SIMCSE_BASE,
    Row("only off-dropout", "imsimcse", {"weight": 0.0}, published="+Off-Info"),
    Row("only dimension-wise", "imsimcse", {"off_dropout": False}, published="+DCL"),
    *IMSIMCSE,
)

declare(
    Experiment(
        name="imsimcse-table3",
        question="What do off-dropout negatives and the dimension-wise term bring, separately and together?",
        baseline="SimCSE",
        rows=(
            replace(BEFORE_SIMCSE[0], published="GloVe(avg.)"),
            *BEFORE_SIMCSE[1:],
            *PARTS,
            CONSERT_LARGE,
            LARGE[0],
            Row("ImSimCSE, large", "imsimcse", encoder="large", published="ImSimCSE-BERT_large",
                recipe={"lr": 8e-6}, against="SimCSE, large"),
            Row("plain SBERT", encoder="sbert", pooling="mean", published="SBERT_base"),
            Row("SimCSE on SBERT", "simcse", encoder="sbert", published="SimCSE-SBERT_base", against="plain SBERT"),
            Row("ImSimCSE on SBERT", "imsimcse", encoder="sbert", published="ImSimCSE-SBERT_base",
                against="SimCSE on SBERT"),
            Row("plain SBERT, large", encoder="sbert-large", pooling="mean", published="SBERT_large"),
            Row("SimCSE on SBERT, large", "simcse", encoder="sbert-large", published="SimCSE-SBERT_large",
                against="plain SBERT, large"),
            Row("ImSimCSE on SBERT, large", "imsimcse", encoder="sbert-large", published="ImSimCSE-SBERT_large",
                recipe={"lr": 8e-6}, against="SimCSE on SBERT, large"),
            Row("SCD", "scd", published="SCD-BERT_base"),
        ),
        claims=(
            *HEADLINES[1:3],
            Above("off-dropout by itself helps", "only off-dropout"),
            Above("the dimension-wise term by itself helps", "only dimension-wise"),
            Above("both parts are above only off-dropout", "ImSimCSE, mixture", "only off-dropout"),
        ),
    )
)  # fmt: skip

PLAIN = "BERT_base (first-last avg.)"

declare(
    Experiment(
        name="imsimcse-table4",
        question="Is the dimension-wise term more than a whitening of the vectors afterwards?",
        baseline=STATIC_LAST.label,
        rows=(
            replace(STATIC_LAST, published=PLAIN),
            Row("the same, mean subtracted", pooling="emb_last_mean", posthoc="centred"),
            Row("the same, whitened", pooling="emb_last_mean", posthoc="whitening",
                published=f"{PLAIN} +whitening(wiki)"),
            Row("the same, flow", pooling="emb_last_mean", posthoc="flow", published=f"{PLAIN} +flow (NLI)"),
            Row("only the dimension-wise term", "dimension_wise", {"dimension_temperature": 0.05},
                pooling="emb_last_mean", published=f"{PLAIN} +DCL(wiki, τ_DCL =0.05)"),
            Row("whitened, NLI", pooling="emb_last_mean", posthoc="whitening", corpus="nli",
                published=f"{PLAIN} +whitening(NLI)"),
            Row("only the dimension-wise term, NLI", "dimension_wise", {"dimension_temperature": 0.05}, corpus="nli",
                pooling="emb_last_mean", published=f"{PLAIN} +DCL(NLI, τ_DCL =0.05)"),
            SIMCSE_BASE,
            Row("SimCSE, mean subtracted", "simcse", posthoc="centred"),
            Row("SimCSE, whitened", "simcse", posthoc="whitening", published="SimCSE-BERT_base +whitening"),
            Row("SimCSE, flow", "simcse", posthoc="flow", published="SimCSE-BERT_base +flow"),
            *(replace(row, published=None) for row in IMSIMCSE),
            Row("DiffCSE", "diffcse", published="DiffCSE (reproduced)"),
            Row("DiffCSE + ImSimCSE", "imsimcse_diffcse", published="DiffCSE (reproduced) +ImSimCSE",
                against="DiffCSE"),
        ),
        claims=(
            Above("whitening helps the plain encoder", "the same, whitened", STATIC_LAST.label),
            Above("whitening takes from SimCSE", "SimCSE", "SimCSE, whitened"),
            Above("contrast is above whitening", "SimCSE", "the same, whitened"),
            Above("the dimension-wise term is above whitening", "only the dimension-wise term", "the same, whitened"),
        ),
    )
)  # fmt: skip


def _varied(words: str, name: str, published: str | None, values: tuple[str, ...], **more: str) -> tuple[Row, ...]:
    """A row for each value of a hyper-parameter."""
    return tuple(
        Row(words.format(value), "imsimcse", {name: float(value), **more}, published=published and (published, value))
        for value in values
    )


M = ("0.5", "0.8", "0.9", "1", "1.1", "1.2")
WEIGHTS = ("0.02", "0.05", "0.1", "0.2", "0.5", "1")
TEMPERATURES = ("1", "2", "5", "10", "20", "50")

declare(
    Experiment(
        name="imsimcse-table5",
        question="How much do m, the weight and the temperature of the dimension-wise term matter?",
        columns=(Column(DEV),),
        suites=(DEV,),
        baseline="SimCSE",
        rows=(
            SIMCSE,
            *_varied("m = {}", "m", "m", M),
            *_varied("m = {} on the positive", "m", None, M, m_on="positive"),  # text and code differ in its meaning
            *_varied("weight = {}", "weight", "lambda", WEIGHTS),
            *_varied("temperature = {}", "dimension_temperature", "tau_DCL", TEMPERATURES),
        ),
        claims=(
            Above("a weight of 1 is too much", "weight = 0.2", "weight = 1"),
            Above("m = 0.5 on the positive costs far more than on the negatives", "m = 0.5", "m = 0.5 on the positive"),
            Above("a temperature of 50 is too high", "temperature = 5", "temperature = 50"),
        ),
    )
)

declare(
    Experiment(
        name="imsimcse-figure1",
        question="Where do the parts of ImSimCSE lie between alignment and uniformity?",
        columns=(Column("alignment"), Column("uniformity")),
        baseline="SimCSE",
        rows=PARTS,
        claims=(Above("off-dropout lowers the alignment", "SimCSE", "only off-dropout"),),
    )
)
