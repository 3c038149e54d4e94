"""Focal-InfoNCE (Hou and Li 2023): its tables 2 to 5."""

from .comparison import AT_FOCALS_TEMPERATURE
from .experiment import GUIDED, UNGUIDED, Column, Experiment, Row, declare
from .verdicts import Above, Trend
from .whitenedcse import BEFORE_SIMCSE, ROBERTA, UNTRAINED

ENCODERS = {"BERT_base": "base", "BERT_large": "large", "RoBERTa_base": "roberta", "RoBERTa_large": "roberta-large"}


def _named(label: str, encoder: str) -> str:
    return label if encoder == "base" else f"{label}, {encoder}"


declare(
    Experiment(
        name="focal-table2",
        question="Does weighting hard negatives up help, on every set and every encoder?",
        baseline="SimCSE",
        rows=(
            BEFORE_SIMCSE[0],
            *UNTRAINED,
            *ROBERTA,
            AT_FOCALS_TEMPERATURE,
            *(Row(_named("SimCSE", encoder), "simcse", encoder=encoder, published=f"SimCSE-{name}")
              for name, encoder in ENCODERS.items()),
            *(Row(_named("Focal", encoder), "focal", encoder=encoder, published=f"SimCSE-{name} + Focal-InfoNCE",
                  against=_named("SimCSE", encoder))
              for name, encoder in ENCODERS.items()),
        ),
        claims=(
            Above("Focal is above SimCSE", "Focal"),
            Above("it is not the temperature", "Focal", "SimCSE at Focal's temperature"),
        ),
    )
)  # fmt: skip

declare(
    Experiment(
        name="focal-table3",
        question="Does Focal-InfoNCE improve alignment and uniformity?",
        columns=(Column("STS-B", "Spearman x100 STS-B"), Column("alignment", "alignment"),
                 Column("uniformity", "uniformity")),
        baseline="SimCSE",
        rows=(
            Row("SimCSE", "simcse", published="SimCSE"),
            Row("Focal", "focal", published="SimCSE + Focal-InfoNCE"),
            Row("DiffCSE", "diffcse", published="DiffCSE"),
            Row("DiffCSE + Focal", "focal_diffcse", published="DiffCSE + Focal-InfoNCE", against="DiffCSE"),
            Row("DCLR", "dclr", GUIDED, published="DCLR"),
            Row("DCLR + Focal", "focal_dclr", GUIDED, published="DCLR + Focal-InfoNCE", against="DCLR"),
            UNGUIDED,
            Row("DCLR + Focal, without a guide", "focal_dclr", against=UNGUIDED.label),
        ),
        claims=(
            Above("Focal is above SimCSE", "Focal"),
            Above("Focal lowers the alignment", "SimCSE", "Focal", on="alignment"),
            # the table prints the higher one, and the text the lower
            Above("Focal has the higher uniformity", "Focal", "SimCSE", on="uniformity"),
        ),
    )
)  # fmt: skip

TEMPERATURES = ("0.03", "0.05", "0.07", "0.1")

declare(
    Experiment(
        name="focal-table4",
        question="Which temperature?",
        columns=(Column("STS-B"),),
        baseline="temperature 0.05",
        rows=tuple(
            Row(_named(f"temperature {tau}", encoder), "focal", {"temperature": float(tau)}, encoder=encoder,
                published=(f"tau={tau}", name), against=_named("temperature 0.05", encoder))
            for name, encoder in ENCODERS.items()
            for tau in TEMPERATURES
        ),
        claims=(
            Above("0.03 is too low", "temperature 0.07", "temperature 0.03"),
            Above("0.1 is too high", "temperature 0.07", "temperature 0.1"),
        ),
    )
)  # fmt: skip

declare(
    Experiment(
        name="focal-table5",
        question="How hard must a negative be (the margin m)?",
        columns=(Column("STS-B"), Column("SICK-R")),
        baseline="m = 0.1",
        rows=tuple(
            Row(_named(f"m = {m}", encoder), "focal", {"m": float(m)}, encoder=encoder,
                published=(f"m={m}", f"{name} STS-B"), against=_named("m = 0.1", encoder))
            for name, encoder in ENCODERS.items() if "base" in name
            for m in ("0.1", "0.2", "0.3", "0.4")
        ),
        claims=(
            Above("m = 0.1 is too small", "m = 0.3", "m = 0.1"),
            Trend("a larger m is better up to 0.3", ("m = 0.1", "m = 0.2", "m = 0.3")),
        ),
    )
)  # fmt: skip
