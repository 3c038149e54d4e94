"""The settings of a training run."""

from dataclasses import dataclass, field, fields
from operator import ge, gt, le, lt
from typing import Literal

from cselab._util.arguments import check_argument, hints

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
