"""How Python runs ahead of a GPU: copies and masks that it does not wait for.

A GPU works through a queue that Python fills. Python waits until the queue is empty whenever it asks for a number, or
copies from ordinary memory; then the GPU waits, too, until there is work again.

See also: `cselab.training.readings`, the numbers of training steps.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor


def runs_behind(device: torch.device) -> bool:
    """Whether work on this device is queued. A CPU does it at once."""
    return device.type != "cpu"


def to_device(tensor: Tensor, device: torch.device) -> Tensor:
    """The tensor on the device; to CUDA through pinned memory, without waiting for what is queued there."""
    if device.type == "cuda" and not tensor.is_cuda:
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


TAKE_A_READY_MASK = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "electra", "distilbert", "mpnet"})
"""Encoders of transformers with one mask for all layers."""


def with_ready_mask(inputs: Mapping[str, Any], backbone: Any) -> Mapping[str, Any]:
    """The inputs with the mask as scaled-dot-product attention reads it, where it runs on a device with a queue.

    Given [n, t], transformers asks the device in every forward pass whether anything is masked. Given [n, 1, t, t] it
    takes the mask as it is.
    """
    config, mask = backbone.config, inputs["attention_mask"]
    simple = config.model_type in TAKE_A_READY_MASK and config._attn_implementation == "sdpa"
    if not (simple and runs_behind(mask.device)):
        return inputs
    rows, length = mask.shape
    return {**inputs, "attention_mask": mask.bool()[:, None, None].expand(rows, 1, length, length)}
