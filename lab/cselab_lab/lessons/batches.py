"""The batches of a run, for a student's training loop: the same sentences, order and seeds as in `cselab.train`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from cselab.encoders.encoder import SentenceEncoder
from cselab.training import TrainConfig
from cselab.training.loop import epoch_order, seed_from


@dataclass(eq=False)
class Batches:
    """Iterate over this object once, with one training step per batch; it evaluates the encoder between steps.

    Args:
        encoder: the encoder to train. It is put into training mode, and the seed of each step is set.
        corpus: sentences.
        config: `steps`, `batch_size`, `seed` and `eval_every` are used.
        look: `look(encoder)` -> numbers, before the first step, every `eval_every` steps and after the last: `history`.
        watch: `watch(run, row)` on every step, as `cselab.train` calls it.
    """

    encoder: SentenceEncoder
    corpus: Sequence[str]
    config: TrainConfig
    look: Callable[[SentenceEncoder], Mapping[str, float]] | None = None
    watch: Callable[[Any, Mapping[str, Any]], None] | None = None
    history: list[dict[str, Any]] = field(default_factory=list, init=False)

    def __len__(self) -> int:
        return self.config.length(len(self.corpus))

    def __iter__(self) -> Iterator[list[str]]:
        size, per_epoch = self.config.batch_size, len(self.corpus) // self.config.batch_size
        for step in range(len(self)):
            self._look(step)
            epoch, place = divmod(step, per_epoch)
            order = epoch_order(len(self.corpus), self.config.seed, epoch)[place * size : (place + 1) * size]
            torch.manual_seed(seed_from(self.config.seed, step, 0))
            self.encoder.train()
            yield [self.corpus[row] for row in order.tolist()]
        self._look(len(self))

    def _look(self, step: int) -> None:
        row: dict[str, Any] = {"step": step}
        if self.look and (step % self.config.eval_every == 0 or step == len(self)):
            row |= self.look(self.encoder)
            self.history.append(row)
        if self.watch:
            self.watch(self, row)
