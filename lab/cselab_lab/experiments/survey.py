"""The survey: tables 8 (similarity), 9 (transfer), 10 (clustering), figure 3; each system trained where it can be."""

from dataclasses import replace
from typing import Any

from .comparison import STATIC_LAST
from .experiment import GUIDED, SIMCSE, TRANSFER, UNGUIDED, Column, Experiment, Row, declare
from .registered import registered
from .verdicts import Above

WITHOUT_TRAINING = (
    Row("static vectors", reference="static", published="GloVe embeddings (avg.)"),
    Row("plain, [CLS]", pooling="cls", published="BERT_base ([CLS])"),
    replace(STATIC_LAST, published="BERT_base (first-last-avg.)"),
    Row("plain, mean of tokens", pooling="mean", published="BERT_base (avg.)"),
)
WITHOUT_VECTORS = Row("EASE, random entity vectors", "ease", {"vectors": None})
"""As UNGUIDED, a system without one part, to measure the part's effect; the paper has no number for it."""


def _system(label: str, method: str, *parameters: Any, **more: Any) -> Row:
    """A row that has the name of the survey's."""
    return replace(Row(label, method, *parameters, **more), published=label)


TRAINED = (
    _system("SR-BERT", "sr_bert"),
    _system("BT-BERT", "bt_bert"),
    _system("TSFC-BERT", "consert"),
    _system("SimCSE", "simcse"),
    _system("ESimCSE-SimCLR", "esimcse", {"variant": "simclr"}),  # without its queue
    _system("DCPCSE", "dcpcse", rate=1000.0),  # trains a prefix but no weights
    _system("PT-BERT", "pt_bert"),
    _system("PromptBERT", "promptbert"),
    _system("AdCSE", "adcse"),
    _system("MixCSE", "mixcse"),
    _system("DCLR", "dclr", GUIDED),
    UNGUIDED,
    _system("DiffCSE", "diffcse"),
    _system("SNCSE-Dropout", "sncse_dropout"),
    _system("EASE", "ease"),
    WITHOUT_VECTORS,
    Row("MCSE, scenes for pictures", "mcse", published="MCSE"),
)
"""The survey's systems, by our methods."""

IN_TWO = (_system("SNCSE", "sncse"), _system("MixCSE-DiffCSE", "mixcse_diffcse"))
ALL = (
    *WITHOUT_TRAINING,
    Row("flow", pooling="emb_last_mean", posthoc="flow", published="BERT-flow"),
    Row("whitening", pooling="emb_last_mean", posthoc="whitening", published="BERT-whitening"),
    *TRAINED,
    *IN_TWO,
)
MEASURED = WITHOUT_TRAINING + TRAINED
TOGETHER = ("transfer", "clustering")
"""At once: one training of a system then serves tables 9 and 10."""

ABOVE_CLS = Above("SimCSE is above the plain [CLS]", "SimCSE", "plain, [CLS]")

declare(
    Experiment(
        name="survey-table8",
        question="Which of the survey's systems is best on sentence similarity?",
        baseline="SimCSE",
        rows=ALL,
        claims=(
            ABOVE_CLS,
            Above("MixCSE is above SimCSE", "MixCSE"),
            Above("DCLR is above SimCSE", "DCLR"),
            Above("DCLR, without its guide, is above SimCSE", UNGUIDED.label),
            Above("synonyms as positives cost points", "SimCSE", "SR-BERT"),
            Above("back-translations as positives cost points", "SimCSE", "BT-BERT"),
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
        rows=MEASURED,
        claims=(ABOVE_CLS, Above("the plain mean of tokens is above SimCSE", "plain, mean of tokens")),
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
        rows=MEASURED,
        claims=(
            ABOVE_CLS,
            Above("SimCSE is above static vectors", "SimCSE", "static vectors"),
            *(
                Above(f"{name} is above SimCSE", name)
                for name in ("TSFC-BERT", "ESimCSE-SimCLR", "MixCSE", "EASE", WITHOUT_VECTORS.label)
            ),
        ),
    )
)

declare(
    Experiment(
        name="survey-figure3",
        question="Where does each system lie between alignment and uniformity, and does the place predict its score?",
        columns=(Column("uniformity"), Column("alignment"), Column("Avg.")),
        baseline="SimCSE",
        rows=ALL,
        claims=(
            Above("contrast spreads the sentences", "plain, [CLS]", "SimCSE"),
            Above("whitening spreads them further", "SimCSE", "whitening"),
            Above("PromptBERT spreads them less than SimCSE", "PromptBERT"),
            Above("DiffCSE spreads them less than SimCSE", "DiffCSE"),
        ),
    )
)

EVERY = tuple(name for name, facts in registered()["methods"].items() if not facts["needs_capitals"])
"""Every registered method but those that need a cased encoder: no bundled encoder is cased."""

OTHERWISE = {
    "ct": Row("ct", "ct", pooling="mean"),
    "dcpcse": Row("dcpcse", "dcpcse", rate=1000.0),
    "dimension_wise": Row("dimension_wise", "dimension_wise", {"dimension_temperature": 0.05}, pooling="emb_last_mean"),
    "disco": Row("disco", "disco", {"teacher": SIMCSE}),
    "is_bert": Row("is_bert", "is_bert", pooling="mean"),
    "noise": Row("noise", "noise", {"on": "negatives", "variance": 0.1}),
}
"""Methods that need different settings from the defaults: their rows are those of the papers' tables."""

ON_CLS = (
    Row("ct, [CLS]", "ct"),
    Row("dimension_wise, [CLS]", "dimension_wise", {"dimension_temperature": 0.05}),
    Row("is_bert, [CLS]", "is_bert"),
)
"""The methods of `OTHERWISE` whose papers pool differently, with the pooling of all remaining rows."""

declare(
    Experiment(
        name="every-method",
        question="What does each registered method score with one corpus and length, pooled as in its paper?",
        baseline="simcse",
        shows=("pooling", "head", "lr"),
        rows=(*(OTHERWISE.get(name) or Row(name, name) for name in EVERY), *ON_CLS),
    )
)
