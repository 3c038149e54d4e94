"""The survey: tables 8 (similarity), 9 (transfer), 10 (clustering), figure 3; each system trained where it can be.

Before them, one search for the learning rate of each system, of the same size for all.
"""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING

from cselab_lab.experiments.claims import Above
from cselab_lab.experiments.experiment import (
    GUIDED,
    TRANSFER,
    UNGUIDED,
    Column,
    Experiment,
    Row,
    declare,
    times,
    world_alone,
)

if TYPE_CHECKING:
    from cselab_lab.experiments.reading import Results


WITHOUT_TRAINING = (
    Row("static vectors", reference="static", published="GloVe embeddings (avg.)"),
    Row("plain, [CLS]", pooling="cls", published="BERT_base ([CLS])"),
    Row("plain, first-last average", pooling="emb_last_mean", published="BERT_base (first-last-avg.)"),
    Row("plain, mean of tokens", pooling="mean", published="BERT_base (avg.)"),
)
WITHOUT_VECTORS = Row("EASE, random entity vectors", "ease", {"vectors": None})
"""As UNGUIDED a system without a part of it, for what the part brings; the paper has no number of it."""

TRAINED = (
    Row("SR-BERT", "sr_bert", published="SR-BERT"),
    Row("BT-BERT", "bt_bert", published="BT-BERT"),
    Row("TSFC-BERT", "consert", published="TSFC-BERT"),
    Row("SimCSE", "simcse", published="SimCSE"),
    Row("ESimCSE-SimCLR", "esimcse", {"variant": "simclr"}, published="ESimCSE-SimCLR"),  # without its queue
    Row("DCPCSE", "dcpcse", published="DCPCSE", rate=1000.0),  # it trains a prefix and no weight
    Row("PT-BERT", "pt_bert", published="PT-BERT"),
    Row("PromptBERT", "promptbert", published="PromptBERT"),
    Row("AdCSE", "adcse", published="AdCSE"),
    Row("MixCSE", "mixcse", published="MixCSE"),
    Row("DCLR", "dclr", GUIDED, published="DCLR"),
    UNGUIDED,
    Row("DiffCSE", "diffcse", published="DiffCSE"),
    Row("SNCSE-Dropout", "sncse_dropout", published="SNCSE-Dropout"),
    Row("EASE", "ease", published="EASE"),
    WITHOUT_VECTORS,
    Row("MCSE, scenes for pictures", "mcse", published="MCSE"),
)
"""The survey's systems, by the methods that stand for them."""

SYSTEMS = tuple(row.published for row in TRAINED if row.published)
IN_TWO = (Row("SNCSE", "sncse", published="SNCSE"), Row("MixCSE-DiffCSE", "mixcse_diffcse", published="MixCSE-DiffCSE"))
SAME_CORPUS = Row("SimCSE, world alone", "simcse", corpus=world_alone)
"""The control of the systems whose rows hold more than a sentence: such rows come from the world alone."""

ALL = (
    *WITHOUT_TRAINING,
    Row("flow", pooling="emb_last_mean", posthoc="flow", published="BERT-flow"),
    Row("whitening", pooling="emb_last_mean", posthoc="whitening", published="BERT-whitening"),
    *TRAINED,
    *IN_TWO,
    SAME_CORPUS,
)
SEARCHED = (*TRAINED, *IN_TWO)

RATES = {"rate / 3": 1 / 3, "the recipe's rate": 1.0, "rate x 3": 3.0}
"""What the search tries, of the rate that the profile has for all, times that of the row."""

declare(
    Experiment(
        name="survey-rates",
        question="Which learning rate does each of the survey's systems want? (dev pairs alone)",
        columns=(Column("dev"),),
        baseline="SimCSE, the recipe's rate",
        rows=tuple(
            Row(f"{row.label}, {words}", row.method, row.parameters,
                recipe={} if factor == 1 else {"lr": times(factor)},
                rate=row.rate, against=f"{row.label}, the recipe's rate")
            for row in SEARCHED
            for words, factor in RATES.items()
        ),
    )
)  # fmt: skip

WORTH = 0.8
"""Points by which another rate must be better: the standard deviation of SimCSE over five seeds on those dev pairs."""


def rates_found(search: Results) -> dict[str, float]:
    """How many times the recipe's rate each system gets, by the results of `survey-rates`.

    The best of the three on the dev pairs; without an entry the recipe's own, where no other is better by `WORTH`.
    """
    measure = search.measure(Column("dev"))
    rates: dict[str, float] = {}
    for row in SEARCHED:
        tried = {factor: search.values(f"{row.label}, {words}", measure) for words, factor in RATES.items()}
        points = {factor: mean(values.values()) for factor, values in tried.items() if values}
        best = max(points, key=lambda factor: points[factor], default=1.0)
        if points and points[best] > points.get(1.0, 0.0) + WORTH:
            rates[row.label] = best
    return rates


FOUND: dict[str, dict[str, float]] = {"classroom": {"TSFC-BERT": 3.0, "DCPCSE": 1 / 3}}
"""By profile, what `rates_found` says of the recorded search; the survey's tables train with it."""

TOGETHER = ("transfer", "clustering")
"""Measured at once: one training of a system then serves tables 9 and 10."""

declare(
    Experiment(
        name="survey-table8",
        question="Which of the survey's systems is best on sentence similarity?",
        baseline="SimCSE",
        rates=FOUND,
        rows=ALL,
        claims=(
            Above("SimCSE is above the plain [CLS]", "SimCSE", "plain, [CLS]"),
            Above("MixCSE is above SimCSE", "MixCSE", "SimCSE"),
            Above("DCLR is above SimCSE", "DCLR", "SimCSE"),
            Above("DCLR, without its guide, is above SimCSE", UNGUIDED.label, "SimCSE"),
            Above("synonyms as positives cost points", "SimCSE", "SR-BERT"),
            Above("back-translations as positives cost points", "SimCSE", "BT-BERT"),
            Above("SimCSE is above BT-BERT on the same corpus", SAME_CORPUS.label, "BT-BERT"),
        ),
    )
)

declare(
    Experiment(
        name="survey-table9",
        question="Which of the survey's systems is best where a classifier is trained on the vectors?",
        columns=(Column("Avg. of 5", over=TRANSFER[:5]), *(Column(name, name) for name in TRANSFER)),
        suites=TOGETHER,
        baseline="SimCSE",
        rates=FOUND,
        rows=(*WITHOUT_TRAINING, *TRAINED, SAME_CORPUS),
        claims=(
            Above("SimCSE is above the plain [CLS]", "SimCSE", "plain, [CLS]"),
            Above("the plain mean of tokens is above SimCSE", "plain, mean of tokens", "SimCSE"),
        ),
    )
)

declare(
    Experiment(
        name="survey-table10",
        question="Which of the survey's systems is best for clustering short texts?",
        columns=(
            Column("Avg. of 4", over=("AgNews", "SearchSnippets", "StackOverflow", "GoogleNews")),
            *(
                Column(name, name)
                for name in ("AgNews", "SearchSnippets", "StackOverflow", "Biomedical", "Tweet", "GoogleNews")
            ),
        ),
        suites=TOGETHER,
        baseline="SimCSE",
        rates=FOUND,
        rows=(*WITHOUT_TRAINING, *TRAINED, SAME_CORPUS),
        claims=(
            Above("SimCSE is above the plain [CLS]", "SimCSE", "plain, [CLS]"),
            Above("SimCSE is above static vectors", "SimCSE", "static vectors"),
            *(
                Above(f"{name} is above SimCSE", name, "SimCSE")
                for name in ("TSFC-BERT", "ESimCSE-SimCLR", "MixCSE", "EASE", WITHOUT_VECTORS.label)
            ),
        ),
    )
)

declare(
    Experiment(
        name="survey-figure3",
        question="Where does each system lie between alignment and uniformity, and does that tell its score?",
        columns=(Column("uniformity"), Column("alignment"), Column("Avg.")),
        baseline="SimCSE",
        rates=FOUND,
        rows=ALL,
        claims=(
            Above("contrast spreads the sentences", "plain, [CLS]", "SimCSE"),
            Above("whitening spreads them further", "SimCSE", "whitening"),
            Above("PromptBERT spreads them less than SimCSE", "PromptBERT", "SimCSE"),
            Above("DiffCSE spreads them less than SimCSE", "DiffCSE", "SimCSE"),
        ),
    )
)
