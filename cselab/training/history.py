"""The history of a run: its rows, their scores, the best weights, and early stopping."""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torch import Tensor

from cselab.encoders.checkpoint import save_checkpoint
from cselab.encoders.encoder import eval_mode
from cselab.metrics.degenerate import DegenerateEmbeddings

from .processes import from_main
from .run import Callback, Evaluator, Run, StopTraining
from .run_folder import RunFolder

if TYPE_CHECKING:
    from accelerate import PartialState


@dataclass(eq=False)
class History:
    """Adds rows to `run.history`; the main process evaluates, calls back, and writes them into the `folder`."""

    run: Run
    evaluator: Evaluator | None
    callbacks: Sequence[Callback]
    processes: "PartialState"
    folder: RunFolder | None
    identity: Mapping[str, Any]
    best_state: dict[str, Tensor] = field(default_factory=dict)

    def add(self, rows: Sequence[dict[str, Any]], evaluate: bool = False) -> None:
        """Add rows; evaluate the encoder at the last one if required, keep the best encoder, call back."""
        run = self.run
        for row in rows:
            run.history.append(row)
            if self.processes.is_main_process:
                self._complete(row, evaluate and row is rows[-1])
        if not self.processes.is_main_process or evaluate or not rows:
            return
        if run.stopped and run.best is None and rows[-1]["step"] > 0:  # stopped before the first evaluation
            self._evaluate(rows[-1])
            if self.folder is not None:
                self.folder.rewrite_history(run.history)

    def _complete(self, row: dict[str, Any], evaluate: bool) -> None:
        if evaluate:
            self._evaluate(row)
            self._lose_patience(row["step"])
        if self.folder is not None:
            self.folder.append(row)
        for callback in self.callbacks:
            try:
                callback(self.run, row)
            except StopTraining as reason:
                self.run.stopped = str(reason) or f"a callback stopped the run at step {row['step']}"

    def _evaluate(self, row: dict[str, Any]) -> None:
        if self.evaluator is None:
            return
        run = self.run
        row.update(self._scores(self.evaluator, row["step"]))
        if row["step"] > 0 and "score" in row and (run.best is None or row["score"] > run.best["score"]):
            run.best = row
            self.best_state = {name: value.detach().cpu().clone() for name, value in run.encoder.state_dict().items()}
            if self.folder is not None:
                save_checkpoint(self.folder.best, self.best_state, {"row": run.best, "identity": self.identity})

    def _scores(self, evaluator: Evaluator, step: int) -> dict[str, Any]:
        """The evaluator's numbers, or the reason for missing numbers if the encoder collapsed, because it may
        recover.
        """
        try:
            with eval_mode(self.run.encoder):
                scores = {name: float(value) for name, value in evaluator(self.run.encoder).items()}
        except DegenerateEmbeddings as reason:
            if not any("degenerate" in earlier for earlier in self.run.history):
                warnings.warn(f"no score at step {step}: {reason}; training continues", stacklevel=2)
            return {"degenerate": str(reason)}
        if not math.isfinite(scores.get("score", math.nan)):
            raise ValueError(f"the evaluator must return a finite number called 'score', it returned {scores}")
        return scores

    def _lose_patience(self, step: int) -> None:
        run = self.run
        best = 0 if run.best is None else run.best["step"]
        waited = sum(best < row["step"] and bool({"score", "degenerate"} & row.keys()) for row in run.history)
        if run.config.patience is not None and waited >= run.config.patience:
            run.stopped = f"no better dev score in {waited} evaluations, step {step}"

    @property
    def status(self) -> str:
        """The text of the run's progress: the last loss, and the last dev score with its step."""
        parts = []
        for name, shown in (("loss", "loss {loss:.4f}"), ("score", "dev {score:.2f} at step {step}")):
            parts += [shown.format(**row) for row in reversed(self.run.history) if name in row][:1]
        return ", ".join(parts)

    def agree_to_stop(self) -> None:
        """Callbacks and evaluations run only on the main process; all processes stop together."""
        if self.processes.num_processes > 1 and (self.callbacks or self.run.config.patience is not None):
            self.run.stopped = from_main(self.processes, lambda: self.run.stopped)
