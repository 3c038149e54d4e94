"""Training state on disk: one safetensors file, written whole or not at all.

Nothing is pickled. The file holds tensors. Other values are JSON in its metadata, together with a checksum of
everything, so a damaged file is detected on reading and never used in part.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from cselab._util.checksums import CheckpointError
from cselab._util.reading import NOT_FETCHED, is_pointer, parse_json
from cselab._util.writing import written_whole

Tensors = Mapping[str, Tensor]
"""By their names."""


def tensors_hash(tensors: Tensors) -> str:
    """SHA-256 over names, dtypes, shapes and bytes; the same for the same tensors on any device."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def save_checkpoint(path: Path, tensors: Tensors, info: Mapping[str, Any]) -> None:
    """Write tensors and JSON-able `info` to `path`; a reader sees the old file or the new one, never a torn one."""
    path = Path(path)
    # clone: safetensors refuses tensors that share memory (tied weights)
    plain = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    text = json.dumps(info)
    said = f"{_checksum(plain, text)} {text}"  # one entry: safetensors writes several in varying order
    with written_whole(path) as partial:
        save_file(plain, partial, metadata={"info": said})


def load_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The content of a checkpoint: (tensors, info).

    Raises:
        CheckpointError: the file is missing, cut short, altered, or not a training checkpoint.
    """
    with checkpoint_errors(path), safe_open(path, framework="pt") as file:
        metadata = file.metadata() or {}
        tensors = {name: file.get_tensor(name) for name in file.keys()}
    if "info" not in metadata:
        raise CheckpointError(f"{path} is not a training checkpoint of cselab (without 'info')")
    checksum, _, text = metadata["info"].partition(" ")
    if checksum != _checksum(tensors, text):
        raise CheckpointError(f"{path} is damaged: its content does not match the checksum stored with it")
    return tensors, json.loads(text)


def read_info(path: Path) -> dict[str, Any]:
    """The `info` of a checkpoint, without its tensors and unchecked: for a description, not for continuing."""
    with checkpoint_errors(path, KeyError, ValueError), safe_open(path, framework="pt") as file:
        return parse_json((file.metadata() or {})["info"].partition(" ")[2])


@contextmanager
def checkpoint_errors(file: Path, *also: type[Exception]) -> Iterator[None]:
    """Raise CheckpointError, which names the file, if the code inside cannot read the file, or raises one of `also`."""
    wrong: tuple[type[Exception], ...] = (SafetensorError, OSError, *also)
    try:
        yield
    except wrong as error:
        missing = isinstance(error, FileNotFoundError)
        why = "is missing: restore it" if missing else f"cannot be read ({error}): the file was cut short or damaged"
        raise CheckpointError(f"{file} {NOT_FETCHED if is_pointer(file) else why}") from None


def _checksum(tensors: Tensors, info: str) -> str:
    return hashlib.sha256(f"{tensors_hash(tensors)} {info}".encode()).hexdigest()


def pack(prefix: str, state: Mapping[str, Any]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Split a (nested) state_dict into flat tensors named `prefix/...` and a JSON-able rest; see `unpack`."""
    tensors: dict[str, Tensor] = {}

    def walk(name: str, value: Any) -> Any:
        if isinstance(value, Tensor):
            while name in tensors:  # "a/b" is also the name of b in a
                name += "'"
            tensors[name] = value
            return {"tensor": name}
        if isinstance(value, Mapping):
            return {"items": [[key, walk(f"{name}/{key}", item)] for key, item in value.items()]}
        if isinstance(value, list | tuple):
            return {"list": [walk(f"{name}/{index}", item) for index, item in enumerate(value)]}
        return {"value": value}

    return tensors, walk(prefix, state)


def unpack(tensors: Tensors, tree: Mapping[str, Any]) -> Any:
    """The state_dict, the inverse of `pack`."""
    if "tensor" in tree:
        return tensors[tree["tensor"]]
    if "items" in tree:
        return {key: unpack(tensors, item) for key, item in tree["items"]}
    if "list" in tree:
        return [unpack(tensors, item) for item in tree["list"]]
    return tree["value"]
