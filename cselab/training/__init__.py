"""Training any method on any encoder: a run that was killed and started again ends with the same weights.

Read in this order: `loop` (the steps, the history, the results of a run), `config` (the settings), `guard` (views that
are identical are refused), `processes` (several at once), `run_folder` (files). The loop gets its batches' vectors from
`cselab.encoders.encoding`, its losses from a `cselab.methods.Method`, and its scores from an evaluator of
`cselab.evaluators.dev`.
"""

from .config import TrainConfig
from .loop import Callback, Evaluator, Run, StopTraining, TrainingDiverged, train

__all__ = ["Callback", "Evaluator", "Run", "StopTraining", "TrainConfig", "TrainingDiverged", "train"]
