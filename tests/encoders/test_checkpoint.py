"""A checkpoint comes back exactly, and a damaged one is noticed and named."""

import json

import pytest
import torch
from safetensors.torch import save_file

from cselab.encoders.checkpoint import CheckpointError, load_checkpoint, pack, save_checkpoint, tensors_hash, unpack


@pytest.fixture
def tensors():
    generator = torch.Generator().manual_seed(0)
    return {
        "weight": torch.randn(3, 4, generator=generator),
        "half": torch.randn(5, generator=generator).half(),
        "transposed": torch.randn(2, 3, generator=generator).mT,
        "count": torch.tensor(7),
        "state": generator.get_state(),
    }


def assert_same(found, wanted):
    assert found.keys() == wanted.keys()
    for name in wanted:
        assert found[name].dtype == wanted[name].dtype and torch.equal(found[name], wanted[name]), name


def test_what_was_saved_comes_back_bit_for_bit(tmp_path, tensors):
    info = {"step": 3, "history": [{"loss": 0.1 + 0.2, "name": "é"}], "best": None}
    save_checkpoint(tmp_path / "state.safetensors", tensors, info)
    found, found_info = load_checkpoint(tmp_path / "state.safetensors")
    assert_same(found, tensors)
    assert found_info == info
    save_checkpoint(tmp_path / "state.safetensors", tensors, {"step": 4})
    assert [file.name for file in tmp_path.iterdir()] == ["state.safetensors"]
    assert load_checkpoint(tmp_path / "state.safetensors")[1] == {"step": 4}


def test_tensors_that_share_memory_are_saved_apart(tmp_path):
    weight = torch.arange(6.0).reshape(2, 3)
    save_checkpoint(tmp_path / "state.safetensors", {"tied": weight, "to": weight, "row": weight[1]}, {})
    found, _ = load_checkpoint(tmp_path / "state.safetensors")
    assert_same(found, {"tied": weight, "to": weight, "row": weight[1]})


def test_a_save_that_fails_leaves_the_old_file_whole(tmp_path, tensors, monkeypatch):
    path = tmp_path / "state.safetensors"
    save_checkpoint(path, tensors, {"step": 1})

    def half_written(tensors, file, metadata):
        file.write_bytes(path.read_bytes()[:50])
        raise OSError("no space left on device")

    monkeypatch.setattr("cselab.encoders.checkpoint.save_file", half_written)
    with pytest.raises(OSError, match="no space"):
        save_checkpoint(path, tensors, {"step": 2})
    assert load_checkpoint(path)[1] == {"step": 1}


@pytest.mark.parametrize("kept", [0, 7, 60, -1])
def test_a_file_cut_short_is_named(tmp_path, tensors, kept):
    path = tmp_path / "state.safetensors"
    save_checkpoint(path, tensors, {"step": 1})
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(CheckpointError, match=r"state\.safetensors cannot be read .* cut short or damaged"):
        load_checkpoint(path)


def test_load_checkpoint_notices_a_flipped_bit(tmp_path):
    """In the length, the header, the values and the checksums: 50 places from the first byte to the last."""
    path = tmp_path / "state.safetensors"
    save_checkpoint(path, {"weight": torch.arange(4.0), "step": torch.tensor(3)}, {"step": 1234})
    content = path.read_bytes()
    for number in range(50):
        damaged = bytearray(content)
        damaged[number * (len(content) - 1) // 49] ^= 1 << number % 8
        path.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=r"state\.safetensors"):
            load_checkpoint(path)


def test_a_file_that_is_missing_or_of_another_kind_is_named(tmp_path, tensors):
    with pytest.raises(CheckpointError, match=r"state\.safetensors is missing"):
        load_checkpoint(tmp_path / "state.safetensors")
    save_file({"weight": tensors["weight"]}, tmp_path / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"model\.safetensors is not a training checkpoint"):
        load_checkpoint(tmp_path / "model.safetensors")


def test_the_hash_knows_names_types_shapes_and_values():
    weight = torch.arange(6.0)
    hashes = [
        tensors_hash(each)
        for each in (
            {"a": weight},
            {"b": weight},
            {"a": weight.view(torch.int32)},
            {"a": weight.reshape(2, 3)},
            {"a": weight + 1},
            {"a": weight, "b": weight},
        )
    ]
    assert len(set(hashes)) == len(hashes)
    assert tensors_hash({"a": weight, "b": -weight}) == tensors_hash({"b": -weight, "a": weight.clone()})


def test_a_nested_state_is_taken_apart_and_put_together():
    state = {
        "state": {0: {"step": torch.tensor(3.0), "exp_avg": torch.ones(2)}, 7: {}},
        "param_groups": [{"lr": 0.1, "betas": (0.9, 0.999), "params": [0, 7], "fused": None}],
        "generator": torch.Generator().get_state(),
    }
    tensors, tree = pack("optimizer", state)
    assert all(name.startswith("optimizer/") for name in tensors)
    back = unpack(tensors, json.loads(json.dumps(tree)))
    assert list(back["state"]) == [0, 7] and back["state"][7] == {}
    assert torch.equal(back["state"][0]["exp_avg"], torch.ones(2)) and back["state"][0]["step"] == 3
    assert back["param_groups"] == [{"lr": 0.1, "betas": [0.9, 0.999], "params": [0, 7], "fused": None}]
    assert torch.equal(back["generator"], state["generator"])
