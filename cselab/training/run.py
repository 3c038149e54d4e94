"""The settings and the results of a training run: configuration, history, the best step."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from operator import ge, gt, le, lt
from pathlib import Path
from typing import Any, Literal

from cselab._util.arguments import check_argument, hints
from cselab.encoders.encoder import SentenceEncoder
from cselab.methods import Method

Evaluator = Callable[[SentenceEncoder], Mapping[str, float]]
"""`evaluator(encoder)` -> numbers with a "score", higher is better."""


class StopTraining(Exception):
    """Raised by a callback to end training after this step: the run is returned with its best weights."""


class TrainingDiverged(ArithmeticError):
    """A loss, a gradient or a weight became NaN or infinite; the message names the tensor."""


BOUNDS = {"above": ("above", gt), "least": ("at least", ge), "below": ("below", lt), "most": ("at most", le)}
"""The limits that the metadata of a setting may have, in words and as a test. NaN passes none."""


@dataclass(frozen=True)
class TrainConfig:
    """Length, learning rate and evaluation of a training run. The defaults are SimCSE's for BERT-base.

    `cselab train` has an option for each field; `metadata` gives the allowed values: "least",
    "most", "above" or "below", with reasons: "too_few", "too_many".

    Args:
        steps: optimiser steps; by default computed from `epochs`.
        epochs: passes over the sentences, if `steps` is not set.
        batch_size: sentences per step, over all processes.
        lr: peak learning rate of AdamW; falls linearly to zero after `warmup`.
        warmup: share of the steps in which the learning rate rises.
        weight_decay: AdamW's decay.
        clip: largest norm of the gradient.
        seed: random seed for order, dropout, head and method.
        max_length: most tokens of a training sentence (evaluation uses the limit of the encoder).
        eval_every: steps between evaluations; the last step is always evaluated.
        checkpoint_every: steps between checkpoints of a run with an output folder; by default equal to `eval_every`.
        precision: "fp32", "bf16" (autocast), or "auto": bf16 if faster on this machine.
        representation: the vector that is evaluated, selected and saved: "backbone" or "head"; by default the method's.
        patience: stop after this number of evaluations without a better score; by default never.
        mini_batch_size: rows of a forward pass, for a batch that does not fit into memory: the pass is done again, part
            by part, when the gradient comes back (Gao et al. 2021, "Scaling Deep Contrastive Learning Batch Size
            under Memory Limited Setup"). Same loss and gradient, one more forward pass. By default all views at once.

    Raises:
        ValueError: a value out of its range; names the setting.
    """

    steps: int | None = field(
        default=None, metadata={"least": 1, "most": 10**9, "too_many": "at 100 steps per second that is four months"}
    )
    epochs: float = field(
        default=1.0, metadata={"above": 0, "most": 10**6, "too_many": "use steps for a run of a certain length"}
    )
    batch_size: int = field(default=64, metadata={"least": 2, "too_few": "a single sentence has no negatives"})
    lr: float = field(default=3e-5, metadata={"least": 0, "most": 10**6})
    warmup: float = field(default=0.0, metadata={"least": 0, "below": 1, "too_many": "it is a share of the steps"})
    weight_decay: float = field(default=0.0, metadata={"least": 0, "most": 10**6})
    clip: float = field(default=1.0, metadata={"above": 0})
    seed: int = 42
    max_length: int = field(default=32, metadata={"least": 3})
    eval_every: int = field(default=125, metadata={"least": 1})
    checkpoint_every: int | None = field(default=None, metadata={"least": 1})
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    representation: Literal["backbone", "head"] | None = None
    patience: int | None = field(default=None, metadata={"least": 1})
    mini_batch_size: int | None = field(default=None, metadata={"least": 1})

    def __post_init__(self) -> None:
        annotations = hints(TrainConfig)
        for setting in fields(self):
            value, allowed = getattr(self, setting.name), setting.metadata
            if value is None and setting.default is None:
                continue
            object.__setattr__(self, setting.name, check_argument(setting.name, value, annotations[setting.name]))
            for name, (words, holds) in BOUNDS.items():
                if name in allowed and not holds(value, allowed[name]):
                    why = allowed.get("too_many" if name in ("most", "below") else "too_few")
                    raise ValueError(
                        f"{setting.name} must be {words} {allowed[name]:,}, got {value}{f': {why}' if why else ''}"
                    )

    def length(self, rows: int) -> int:
        """The number of steps of a run over `rows` rows."""
        return self.steps or max(1, round(self.epochs * (rows // self.batch_size)))

    def rate(self, step: int, steps: int) -> float:
        """Share of `lr` after `step` of all steps: linear warm-up, then linear decay to zero."""
        warmup = round(self.warmup * steps)
        return (step + 1) / (warmup + 1) if step < warmup else (steps - step) / max(1, steps - warmup)


@dataclass(repr=False)
class Run:
    """A training run: the current encoder and the history.

    `history` has one row (a dict) per step: "step", "loss", each named term of the loss, and on evaluated steps the
    evaluator's values ("score", "alignment", "uniformity", "effective_rank" ...). Row 0 is the encoder before
    training. Where a loss has several terms, evaluated steps have the gradient norm of each ("gradient_norm/..."),
    before clipping. Where the vectors could not be scored (all alike, NaN) the row has the reason as "degenerate" and
    no score: training continues, with a warning the first time. `best` is the evaluated row with the highest score,
    after step 0; the finished run's encoder has its weights. `stopped` has the reason if the run ended before its last
    step. `method` is a copy of the given method, with the values that depend on the encoder filled in.
    """

    encoder: SentenceEncoder
    method: Method
    config: TrainConfig
    history: list[dict[str, Any]] = field(default_factory=list)
    best: dict[str, Any] | None = None
    output: Path | None = None
    seconds: float = 0.0
    resumed_from: int | None = None
    stopped: str | None = None

    def __repr__(self) -> str:
        """One line: the method, the last step and its loss, the best dev score, seconds, the folder."""
        last = self.history[-1] if self.history else {"step": 0}
        told = [repr(self.method), f"step {last['step']}"]
        told += [f"loss {last['loss']:.4f}"] if "loss" in last else []
        told += [f"best dev score {self.best['score']:.2f} at step {self.best['step']}"] if self.best else []
        told += [f"stopped: {self.stopped}"] if self.stopped else []
        told += [f"{self.seconds:.0f} s"] + ([f"in {self.output}"] if self.output else [])
        return f"Run({', '.join(told)})"

    def to_frame(self) -> Any:
        """The history as a pandas DataFrame, one row per step, indexed by "step"."""
        import pandas

        return pandas.DataFrame(self.history).set_index("step")

    def curve(self, name: str) -> tuple[list[int], list[float]]:
        """Steps and values of one column of the history, without empty rows.

        Raises:
            ValueError: no row has that column; the message lists the columns.
        """
        rows = [row for row in self.history if name in row]
        if not rows:
            columns = dict.fromkeys(key for row in self.history for key in row)
            raise ValueError(f"the history has no column {name!r}; it has {', '.join(columns)}")
        return [row["step"] for row in rows], [row[name] for row in rows]


Callback = Callable[[Run, dict[str, Any]], None]
"""`callback(run, row)` after each row of the history."""
