"""Faults of a run, unexpected scores, and systems that tie."""

from cselab_lab.diagnosis import encoders, texts, training, vectors  # each registers its signs
from cselab_lab.diagnosis.diagnose import diagnose
from cselab_lab.diagnosis.explaining import Explanation, ScoreExplainer, Trial, explain_score
from cselab_lab.diagnosis.report import Diagnosis, Finding
from cselab_lab.diagnosis.signs import SIGNS, Sign, sign
from cselab_lab.diagnosis.ties import TieTable, tie_table

__all__ = [
    "SIGNS",
    "Diagnosis",
    "Explanation",
    "Finding",
    "ScoreExplainer",
    "Sign",
    "TieTable",
    "Trial",
    "diagnose",
    "encoders",
    "explain_score",
    "sign",
    "texts",
    "tie_table",
    "training",
    "vectors",
]
