"""What is sent to a device: to a GPU without a wait."""

import pytest
import torch

from cselab.encoders.speed import to_device


def test_what_is_sent_to_its_own_device_is_itself():
    tensor = torch.ones(3)
    assert to_device(tensor, torch.device("cpu")) is tensor


@pytest.mark.gpu
def test_what_is_sent_to_a_gpu_arrives_without_a_wait():
    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    device, tensor = torch.device("cuda", 0), torch.arange(1000)
    torch.cuda.set_sync_debug_mode("error")
    try:
        moved = to_device(tensor, device)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert moved.device == device and torch.equal(moved.cpu(), tensor)
