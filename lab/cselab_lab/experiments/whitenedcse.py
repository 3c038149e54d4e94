"""WhitenedCSE (Zhuo et al. 2023): its tables 1 to 6, and the content of its figures 1 and 3."""

from dataclasses import replace

from .comparison import HEADLINES, STATIC_LAST, WHITENEDCSE
from .experiment import AVERAGE, GUIDED, SIMCSE, TRANSFER, UNGUIDED, Column, Experiment, Row, channels_a_group, declare
from .verdicts import Above, Equivalent, Order, Trend

LARGE = (
    Row("SimCSE, large", "simcse", encoder="large", published="SimCSE-BERT_large"),
    Row("WhitenedCSE, large", "whitenedcse", encoder="large", published="WhitenedCSE-BERT_large",
        against="SimCSE, large"),
)  # fmt: skip
CONSERT_LARGE = Row("ConSERT, large", "consert", {"variant": "paper"}, encoder="large", published="ConSERT_large",
                    pooling="last2_mean", against="SimCSE, large")  # fmt: skip
ARCCSE_LARGE = Row("ArcCSE, large", "arccse", encoder="large", published="ArcCSE-BERT_large", against="SimCSE, large")
GUIDE_LARGE = {"guide": LARGE[0]}

UNTRAINED = (
    replace(STATIC_LAST, published="BERT_base (first-last avg.)"),
    Row("flow", pooling="emb_last_mean", posthoc="flow", published="BERT_base-flow"),
    Row("BERT-whitening", pooling="emb_last_mean", posthoc="whitening", published="BERT_base-whitening"),
)
IS_BERT = Row("IS-BERT, evaluated without its CNN", "is_bert", published="IS-BERT_base", pooling="mean",
              against="plain, mean of tokens")  # fmt: skip
BEFORE_SIMCSE = (
    Row("static vectors", reference="static", published="GloVe embeddings (avg.)"),
    *UNTRAINED,
    Row("plain, mean of tokens", pooling="mean"),
    Row("plain, mean of the last two layers", pooling="last2_mean"),
    IS_BERT,
    Row("CT", "ct", published="CT-BERT_base", pooling="mean", against="plain, mean of tokens"),
    Row("ConSERT", "consert", {"variant": "paper"}, published="ConSERT_base", pooling="last2_mean",
        against="plain, mean of the last two layers"),
)  # fmt: skip
ROBERTA = (
    Row("plain, RoBERTa", encoder="roberta", pooling="emb_last_mean", published="RoBERTa_base (first-last avg.)"),
    Row("whitening, RoBERTa", encoder="roberta", pooling="emb_last_mean", posthoc="whitening",
        published="RoBERTa_base-whitening"),
    Row("DeCLUTR, RoBERTa", "declutr", encoder="roberta", pooling="mean", published="DeCLUTR-RoBERTa_base"),
)  # fmt: skip
"""Systems that are also in the remaining papers' tables."""

SIMCSE_BASE = Row("SimCSE", "simcse", published="SimCSE-BERT_base")

declare(
    Experiment(
        name="whitenedcse-table1",
        question="Does shuffled group whitening beat SimCSE on sentence similarity?",
        baseline="SimCSE",
        rows=(
            *BEFORE_SIMCSE,
            SIMCSE_BASE,
            Row("DCLR", "dclr", GUIDED, published="DCLR-BERT_base"),
            UNGUIDED,
            Row("ArcCSE", "arccse", published="ArcCSE-BERT_base"),
            *WHITENEDCSE,
            *LARGE,
            CONSERT_LARGE,
            Row("DCLR, large", "dclr", GUIDE_LARGE, encoder="large", published="DCLR-BERT_large",
                against="SimCSE, large"),
            ARCCSE_LARGE,
            *ROBERTA,
            Row("SimCSE, RoBERTa", "simcse", encoder="roberta", published="SimCSE-RoBERTa_base"),
            Row("DCLR, RoBERTa", "dclr", {"guide": Row("SimCSE, RoBERTa", "simcse", encoder="roberta")},
                encoder="roberta", published="DCLR-RoBERTa_base", against="SimCSE, RoBERTa"),
            Row("WhitenedCSE, RoBERTa", "whitenedcse", {"num_groups": channels_a_group(3)}, encoder="roberta",
                published="WhitenedCSE-RoBERTa_base", against="SimCSE, RoBERTa"),
        ),
        claims=HEADLINES[:1],
    )
)  # fmt: skip

declare(
    Experiment(
        name="whitenedcse-table2",
        question="Does shuffled group whitening help where a classifier is trained on the vectors?",
        columns=tuple(Column(name, name) for name in TRANSFER),
        suites=("transfer",),
        baseline="SimCSE",
        rows=(
            Row("plain, mean of tokens", pooling="mean", published="Avg. BERT embeddings"),
            Row("plain, [CLS]", pooling="cls", published="BERT-[CLS]embedding"),
            IS_BERT,
            Row("MoCoSE", "mocose", published="MoCoSE-BERT_base"),
            Row("ArcCSE", "arccse", published="ArcCSE-BERT_base"),
            SIMCSE_BASE,
            *WHITENEDCSE,
            *LARGE,
            Row("static vectors", reference="static", published="GloVe (avg.)"),
            Row("MoCoSE, large", "mocose", encoder="large", published="MoCoSE-BERT_large", against="SimCSE, large"),
            ARCCSE_LARGE,
        ),
        claims=HEADLINES[:1],
    )
)

declare(
    Experiment(
        name="whitenedcse-table3",
        question="Which whitening helps: all channels at once, groups, or shuffled groups?",
        columns=AVERAGE,
        baseline="no whitening",
        rows=(
            Row("no whitening", "simcse", published="None (unsup. SimCSE)"),
            Row("PCA", "whitenedcse", {"kind": "pca", "running": True}, published="PCA-whitening"),
            Row("ZCA", "whitenedcse", {"kind": "zca", "running": True}, published="ZCA-whitening"),
            Row("groups", "whitenedcse", {"kind": "group"}, published="Group-whitening"),
            Row("shuffled groups", "whitenedcse", published="Shuffled-Group-whitening"),
            Row("shuffled groups, one pass", "whitenedcse", {"backbone_passes": 1}),
            Row("shuffled groups, vector after the head", "whitenedcse", recipe={"representation": "head"}),
        ),
        claims=(
            Above("shuffled groups are above no whitening", "shuffled groups", "no whitening"),
            Above("the shuffle adds to the groups", "shuffled groups", "groups"),
            Above("whitening all channels at once (ZCA) costs", "no whitening", "ZCA"),
            Order("PCA < ZCA < none < groups < shuffled", ("PCA", "ZCA", "no whitening", "groups", "shuffled groups")),
        ),
    )
)

CHANNELS = (24, 16, 12, 8, 6, 4, 3, 2)
"""In a group, for the paper's k = 768 / channels: 32, 48, 64, 96, 128, 192, 256, 384."""


def _groups(shuffled: bool) -> tuple[Row, ...]:
    kind, words, published = ("shuffled", "shuffled", "shuffled") if shuffled else ("group", "fixed", "w/o shuffled")
    return tuple(
        Row(f"{words}, {channels} channels a group", "whitenedcse",
            {"kind": kind, "num_groups": channels_a_group(channels)}, published=(published, f"k={768 // channels}"))
        for channels in CHANNELS
    )  # fmt: skip


declare(
    Experiment(
        name="whitenedcse-table4",
        question="How many groups, and does the shuffle help for every number of them?",
        columns=AVERAGE,
        baseline="SimCSE",
        rows=(SIMCSE, *_groups(shuffled=True), *_groups(shuffled=False)),
        claims=(
            *(
                Above(f"the shuffle adds, {few}", f"shuffled, {few}", f"fixed, {few}")
                for few in (f"{channels} channels a group" for channels in (2, 8, 16))
            ),
            Trend(
                "smaller groups are better",
                tuple(f"shuffled, {channels} channels a group" for channels in (16, 8, 4, 2)),
            ),
        ),
    )
)

declare(
    Experiment(
        name="whitenedcse-table5",
        question="How many views of a sentence are best?",
        columns=AVERAGE,
        baseline="2 views",
        rows=tuple(
            Row(f"{views} views", "whitenedcse", {"num_views": views},
                published=("WhitenedCSE-BERT_base", f"positives={views}"))
            for views in (2, 3, 4, 5)
        ) + tuple(
            Row(f"{views} views, one pass", "whitenedcse", {"num_views": views, "backbone_passes": 1})
            for views in (2, 3, 4, 5)
        ),
        claims=(
            Above("a third view helps", "3 views", "2 views"),
            Trend("more views are better", ("2 views", "3 views", "4 views", "5 views")),
        ),
    )
)  # fmt: skip

declare(
    Experiment(
        name="whitenedcse-table6",
        question="Is it the whitening or the extra positives?",
        columns=AVERAGE,
        baseline="SimCSE",
        rows=(
            Row("SimCSE", "simcse", published="SimCSE-BERT-base"),
            Row("only whitening", "whitenedcse", {"num_views": 2}, published="+ Shuffled Group Whitening"),
            Row("3 dropout views", "simcse", {"num_views": 3}, published="+ Multiple Positives(k=3)"),
            Row("4 dropout views", "simcse", {"num_views": 4}, published="+ Multiple Positives(k=4)"),
            Row("both", "whitenedcse", published="WhitenedCSE-BERT_base"),
        ),
        claims=(
            Above("whitening by itself helps", "only whitening"),
            Equivalent("a third dropout view by itself hardly helps", "3 dropout views"),
            Above("the third view helps after whitening", "both", "only whitening"),
        ),
    )
)

declare(
    Experiment(
        name="whitenedcse-figure1",
        question="Does whitening spread sentences out beyond what contrast does, and views of a sentence?",
        columns=(Column("uniformity"), Column("mean_cosine"), Column("effective_rank"), Column("diversity")),
        baseline="plain",
        rows=(SIMCSE, *WHITENEDCSE),
        claims=(
            Above("contrast lowers the uniformity", "plain", "SimCSE"),
            Above("whitening lowers it further", "SimCSE", "WhitenedCSE, 3 passes"),
        ),
    )
)

declare(
    Experiment(
        name="whitenedcse-figure3",
        question="How do alignment and uniformity move over the steps? (the curves are in the results)",
        columns=(Column("uniformity"), Column("alignment")),
        baseline="SimCSE",
        rows=(SIMCSE, *WHITENEDCSE),
        claims=(
            Above("WhitenedCSE ends with the lower uniformity", "SimCSE", "WhitenedCSE, 3 passes"),
            Above("WhitenedCSE ends with the lower alignment", "SimCSE", "WhitenedCSE, 3 passes", on="alignment"),
        ),
    )
)
