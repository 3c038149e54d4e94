"""What the processes of a training run tell each other: objects of the main one, gradients of all.

See also: `cselab.encoders.distributed`, processes that share the sentences of an evaluation.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from accelerate import PartialState


def from_main(processes: "PartialState", compute: Callable[[], Any]) -> Any:
    """What the main process computes, on every process."""
    from accelerate.utils import broadcast_object_list

    return broadcast_object_list([compute() if processes.is_main_process else None])[0]


def average_gradients(parameters: Sequence[torch.nn.Parameter]) -> None:
    """Give every process the mean of all processes' gradients, in one exchange."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    flat = mean_over_processes(torch.cat([gradient.reshape(-1) for gradient in gradients]))
    for gradient, part in zip(gradients, flat.split([gradient.numel() for gradient in gradients]), strict=True):
        gradient.copy_(part.view_as(gradient))


def mean_over_processes(tensor: torch.Tensor) -> torch.Tensor:
    """The mean of the processes' tensors, on every process."""
    from accelerate.utils import reduce

    return reduce(tensor, reduction="mean")
