"""What is wrong with a run, why a score is another than expected, which scores can be told apart."""

from cselab_lab.diagnosis import encoders, texts, training, vectors  # each registers its signs
from cselab_lab.diagnosis.diagnose import diagnose
from cselab_lab.diagnosis.explaining import Explanation, ScoreExplainer, Tried, explain_score
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
    "Tried",
    "diagnose",
    "encoders",
    "explain_score",
    "sign",
    "texts",
    "tie_table",
    "training",
    "vectors",
]
