"""Work shared out over the processes of `accelerate launch` or torchrun: each does its share, all have all.

An evaluation shares its sentences out, a training run averages the gradients.
"""

import os
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from datetime import timedelta
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from cselab._util.progress import be_quiet
from cselab.data.rows import check_sentences

from .encoder import TextWarning, Truncation

SECONDS_TO_ANSWER = float(os.environ.get("CSELAB_TIMEOUT", 1800))
"""How long processes wait at a barrier: the main one may evaluate meanwhile."""


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
        if isinstance(encoder, nn.Module):
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


def wait_for_all() -> None:
    """Wait for all processes; on CPUs the error names the missing one (on GPUs NCCL's watchdog does).

    Raises:
        TimeoutError: a process does not answer; names the process.
    """
    if not torch.distributed.is_initialized() or torch.distributed.get_backend() != "gloo":
        return
    try:
        torch.distributed.monitored_barrier(timeout=timedelta(seconds=SECONDS_TO_ANSWER), wait_all_ranks=True)
    except RuntimeError as error:
        missing = re.search(r"Ranks? ([\d, ]*\d) failed|from rank (\d+)", str(error))
        raise TimeoutError(
            f"process {' '.join(filter(None, missing.groups())) if missing else ''} of "
            f"{torch.distributed.get_world_size()}, counted from 0, did not answer for {SECONDS_TO_ANSWER:g} s: it was "
            "stopped, or ended. Run the same command to continue; set CSELAB_TIMEOUT=SECONDS to wait longer"
        ) from error


def from_main(processes: Any, compute: Callable[[], Any]) -> Any:
    """The main process's result, on every process."""
    from accelerate.utils import broadcast_object_list

    computed = [compute() if processes.is_main_process else None]
    wait_for_all()
    return broadcast_object_list(computed)[0]


def average_gradients(parameters: Sequence[nn.Parameter]) -> None:
    """Give every process the mean of all processes' gradients, in one exchange."""
    if not torch.distributed.is_initialized():
        return
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    flat = mean_over_processes(torch.cat([gradient.reshape(-1) for gradient in gradients]))
    for gradient, part in zip(gradients, flat.split([gradient.numel() for gradient in gradients]), strict=True):
        gradient.copy_(part.view_as(gradient))


def mean_over_processes(tensor: Tensor) -> Tensor:
    """The mean of the processes' tensors, on every process."""
    from accelerate.utils import reduce

    return reduce(tensor, reduction="mean")
