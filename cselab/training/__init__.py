"""Training any method on any encoder: a run that was killed and started again ends with the same weights.

Read in this order: `loop` (the steps, the history, the results of a run), `config` (the settings), `preflight` (what
cannot learn is refused), `processes` (several at once), `run_folder` (files). The loop gets its batches' vectors from
`cselab.encoders.training_forward`, its losses from a `cselab.methods.Method`, and its scores from an evaluator of
`cselab.evaluators.dev`.
"""

from typing import TYPE_CHECKING

from cselab._util.lazy import attach

if TYPE_CHECKING:
    from .config import TrainConfig
    from .loop import Callback, Evaluator, Run, StopTraining, TrainingDiverged, train

__getattr__, __dir__, __all__ = attach(
    __name__, {".config": "TrainConfig", ".loop": "Callback Evaluator Run StopTraining TrainingDiverged train"}
)
