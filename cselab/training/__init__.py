"""Training any method on any encoder: killed at any moment and started again, a run ends with the same weights.

Read in this order: `run` (what a run is told, and what it leaves), `loop` (the steps), `guard` (views that are
identical are refused), `processes` (what several processes tell each other), `readings` (the numbers of a step),
`resumable` and `run_folder` (what is kept on disk). The loop takes its batches' vectors from
`cselab.encoders.encoding`, its losses from a `cselab.methods.Method`, and its scores from an evaluator of
`cselab.evaluators.dev`.
"""

from cselab.training.loop import train
from cselab.training.run import Callback, Evaluator, Run, StopTraining, TrainConfig, TrainingDiverged

__all__ = ["Callback", "Evaluator", "Run", "StopTraining", "TrainConfig", "TrainingDiverged", "train"]
