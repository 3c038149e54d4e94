"""The messages between the processes of a training run: objects of the main one, gradients of all.

See also: `cselab.encoders.distributed`, processes that share the sentences of an evaluation.
"""

import os
import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from accelerate import PartialState


SECONDS_TO_ANSWER = float(os.environ.get("CSELAB_TIMEOUT", 1800))
"""How long processes wait at a barrier: the main one may evaluate meanwhile."""


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


def from_main(processes: "PartialState", compute: Callable[[], Any]) -> Any:
    """The main process's result, on every process."""
    from accelerate.utils import broadcast_object_list

    computed = [compute() if processes.is_main_process else None]
    wait_for_all()
    return broadcast_object_list(computed)[0]


def average_gradients(parameters: Sequence[torch.nn.Parameter]) -> None:
    """Give every process the mean of all processes' gradients, in one exchange."""
    if not torch.distributed.is_initialized():
        return
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    flat = mean_over_processes(torch.cat([gradient.reshape(-1) for gradient in gradients]))
    for gradient, part in zip(gradients, flat.split([gradient.numel() for gradient in gradients]), strict=True):
        gradient.copy_(part.view_as(gradient))


def mean_over_processes(tensor: torch.Tensor) -> torch.Tensor:
    """The mean of the processes' tensors, on every process."""
    from accelerate.utils import reduce

    return reduce(tensor, reduction="mean")
