"""Work shared out over the processes of `accelerate launch` or torchrun: each does its share, all have all."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import torch

from cselab._util.progress import be_quiet
from cselab.data.rows import check_sentences

from .encoder import TextWarning, Truncation


def all_processes() -> Any:
    """accelerate's state: the number of processes, the index of this one, and its device."""
    from accelerate import PartialState
    from accelerate.utils import parse_flag_from_env

    on_cpu = parse_flag_from_env("ACCELERATE_USE_CPU") or not torch.accelerator.is_available()
    return PartialState(cpu=on_cpu)  # without `cpu`, processes on CPUs would not connect


class DistributedEncoder:
    """An encoder that shares its sentences out: `evaluate(DistributedEncoder(encoder), "sts")` in every process.

    All processes call `encode` with the same sentences. Each process encodes its share of the distinct sentences, and
    all processes get all vectors. The vectors agree with those of one process up to rounding, because the batches
    differ. An error in one process is raised in all processes. In a single process the result is the encoder itself.
    `evaluate` shares out the scoring of its tasks, too, and `encode_to_file` lets one process write.

    Not for the evaluator of `train`, which one process calls while the rest wait.

    Args:
        encoder: anything with `encode`, the same in all processes; put on the device of its process.

    >>> from cselab import SentenceEncoder
    >>> DistributedEncoder(SentenceEncoder.from_pretrained("micro")).encode(["A cat sleeps.", "It rains."]).shape
    (2, 128)
    """

    def __init__(self, encoder: Any) -> None:
        self.encoder, self.processes = encoder, all_processes()
        self.count, self.rank = self.processes.num_processes, self.processes.process_index
        self.last_truncation: Truncation | None = None
        if isinstance(encoder, torch.nn.Module):
            encoder.to(self.processes.device)

    def __getattr__(self, name: str) -> Any:
        if name == "encoder":  # before __init__, while it is copied
            raise AttributeError(name)
        return getattr(self.encoder, name)

    @property
    def is_main_process(self) -> bool:
        """Whether this is the process that writes and prints."""
        return self.processes.is_main_process

    def encode(self, sentences: Iterable[str], *given: Any, **options: Any) -> np.ndarray:
        """The vectors of all sentences, in their order, in every process; arguments as for the encoder.

        Raises: Exception: the encoder's error in the first process that failed.
        """
        sentences = check_sentences(sentences)
        owner = {text: at % self.count for at, text in enumerate(sorted(dict.fromkeys(sentences), key=len))}
        if len(owner) < self.count or self.count == 1:
            return self._alone(sentences, *given, **options)
        return self._together(sentences, owner, *given, **options)

    def map(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """The function of each item, computed by one process each and known to all, in the items' order."""
        parts = self._gathered(lambda: [function(item) for item in items[self.rank :: self.count]])
        return [parts[at % self.count][at // self.count] for at in range(len(items))]

    def _alone(self, sentences: list[str], *given: Any, **options: Any) -> np.ndarray:
        with nullcontext() if self.is_main_process else be_quiet():
            vectors = self.encoder.encode(sentences, *given, **options)
        self.last_truncation = getattr(self.encoder, "last_truncation", None)
        return np.asarray(vectors.cpu() if hasattr(vectors, "cpu") else vectors)

    def _together(self, sentences: list[str], owner: dict[str, int], *given: Any, **options: Any) -> np.ndarray:
        own = [text for text in sentences if owner[text] == self.rank]

        def share() -> tuple[np.ndarray, Truncation | None]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", TextWarning)  # reported once, for all
                return self._alone(own, *given, **options), self.last_truncation

        shares, cut = zip(*self._gathered(share), strict=True)
        rows = [iter(vectors) for vectors in shares]
        if self.last_truncation is not None:
            lost, unknown = (sum(getattr(each, name) for each in cut) for name in ("cut", "unknown"))
            self.last_truncation = Truncation(lost, len(sentences), self.last_truncation.max_length, unknown)
            if self.is_main_process:
                self.last_truncation.warn(stacklevel=4)
        return np.stack([next(rows[owner[text]]) for text in sentences])

    def _gathered(self, compute: Callable[[], Any]) -> list[Any]:
        """The results of all processes, in every process; or the error of a failed one, raised in all."""
        from accelerate.utils import gather_object

        result = failure = None
        try:
            result = compute()
        except Exception as error:
            failure = error
        results, failures = zip(*gather_object([(result, failure)]), strict=True)
        for raised in failures:
            if raised is not None:
                raise raised
        return list(results)
