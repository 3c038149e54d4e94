"""Training any method on any encoder: a run that was killed and started again ends with the same weights.

Read in this order: `loop` (the steps), `run` (the settings and results of a run), `state` (the objects of the steps;
resume and finish), `history` (scores, the best weights, early stopping), `guard` (views that are identical are
refused), `processes` (several at once), `deferred_metrics` (a GPU that runs behind), `resumable` and `run_folder`
(files). The loop gets its batches' vectors from `cselab.encoders.encoding`, its losses from a
`cselab.methods.Method`, and its scores from an evaluator of `cselab.evaluators.dev`.
"""

from .loop import train
from .run import Callback, Evaluator, Run, StopTraining, TrainConfig, TrainingDiverged

__all__ = ["Callback", "Evaluator", "Run", "StopTraining", "TrainConfig", "TrainingDiverged", "train"]
