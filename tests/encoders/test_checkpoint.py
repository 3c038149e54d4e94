"""A checkpoint comes back exactly, and a damaged one is noticed and named."""

import math
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from safetensors.torch import save_file

from cselab.encoders.checkpoint import CheckpointError, load_checkpoint, pack, save_checkpoint, tensors_hash, unpack


@pytest.fixture
def tensors():
    return {"weight": torch.arange(12.0), "count": torch.tensor(7)}


def same(found, wanted):
    """Whether a value is the one that was saved, tuples as lists, tensors of the same type and bits."""
    if torch.is_tensor(wanted):
        return found.dtype == wanted.dtype and torch.equal(found, wanted)
    if isinstance(wanted, dict):
        return list(found) == list(wanted) and all(same(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list | tuple):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    return type(found) is type(wanted) and found == wanted


@st.composite
def small_tensors(draw):
    """Small, of any type and of no, one or two dimensions, of which the last may be turned."""
    shape = draw(st.lists(st.integers(0, 3), max_size=2))
    types = [torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool]
    numbers = torch.arange(math.prod(shape)).reshape(shape).to(draw(st.sampled_from(types)))
    return numbers.mT if len(shape) == 2 else numbers


NAMES = st.text() | st.integers()
NESTED = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | small_tensors(),
    lambda each: st.lists(each, max_size=3) | st.tuples(each) | st.dictionaries(NAMES, each, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(NAMES, NESTED, max_size=4), st.dictionaries(st.text(), st.integers() | st.text()))
@example({"a": {"b": torch.ones(1)}, "a/b": torch.zeros(1)}, {})
def test_pack_saved_and_unpacked_is_the_state(state, info):
    with TemporaryDirectory() as folder:
        tensors, tree = pack("state", state)
        for _ in range(2):  # the second over the first
            save_checkpoint(Path(folder, "state.safetensors"), tensors, {"tree": tree, "info": info})
        found, told = load_checkpoint(Path(folder, "state.safetensors"))
        assert [file.name for file in Path(folder).iterdir()] == ["state.safetensors"]
    assert same(unpack(found, told["tree"]), state) and told["info"] == info


def test_save_checkpoint_saves_tensors_that_share_memory_apart(tmp_path):
    weight = torch.arange(6.0).reshape(2, 3)
    save_checkpoint(tmp_path / "state.safetensors", {"tied": weight, "to": weight, "row": weight[1]}, {})
    found, _ = load_checkpoint(tmp_path / "state.safetensors")
    assert found.keys() == {"tied", "to", "row"}
    assert same([found["tied"], found["to"], found["row"]], [weight, weight, weight[1]])


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
