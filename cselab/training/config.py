"""The settings of a training run."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Interval

from cselab._util.arguments import Because, PositiveFloat, PositiveInt, Seed, check_fields

Steps = Annotated[int, Interval(ge=1, le=10**9), Because(high="at 100 steps per second that is four months")]


@dataclass(frozen=True)
class TrainConfig:
    """Length, learning rate and evaluation of a training run. The defaults are SimCSE's for BERT-base.

    `cselab train` has an option for each field; the annotations give the allowed values.

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

    steps: Steps | None = None
    epochs: Annotated[float, Interval(gt=0, le=10**6), Because(high="use steps for a run of a certain length")] = 1.0
    batch_size: Annotated[int, Ge(2), Because(low="a single sentence has no negatives")] = 64
    lr: Annotated[float, Interval(ge=0, le=10**6)] = 3e-5
    warmup: Annotated[float, Interval(ge=0, lt=1), Because(high="it is a share of the steps")] = 0.0
    weight_decay: Annotated[float, Interval(ge=0, le=10**6)] = 0.0
    clip: PositiveFloat = 1.0
    seed: Seed = 42
    max_length: Annotated[int, Ge(3)] = 32
    eval_every: PositiveInt = 125
    checkpoint_every: PositiveInt | None = None
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    representation: Literal["backbone", "head"] | None = None
    patience: PositiveInt | None = None
    mini_batch_size: PositiveInt | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    def length(self, rows: int) -> int:
        """The number of steps of a run over `rows` rows."""
        return self.steps or max(1, round(self.epochs * (rows // self.batch_size)))
