"""Faults of a run, unexpected scores, and systems that tie."""

from . import encoders, texts, training, vectors  # each registers its signs
from .diagnose import diagnose
from .explaining import Explanation, ScoreExplainer, Trial, explain_score
from .report import Diagnosis, Finding
from .signs import SIGNS, Sign, sign
from .ties import TieTable, tie_table

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
