"""The folder of a training run: one process at a time, JSON and safetensors only, whole at any moment.

run.json                  what runs: settings, versions, and at the end the best step, the seconds, and checksums of all
history.jsonl             one line per step
checkpoint.safetensors    for continuing (gone when the run is finished)
best.safetensors          the best weights so far (gone when the run is finished)
method.safetensors        when finished: the method's own state (a queue, a second network), if any
config.json, ...          when finished: the encoder itself, so that the folder is an encoder
"""

import json
import shutil
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import NoneType
from typing import Any

from cselab._util.checksums import add_checksums, verify_checksums
from cselab._util.reading import parse_json, read_json
from cselab._util.versions import versions
from cselab._util.writing import PART, SAVING, cannot_write, write_text
from cselab.encoders.adapters import FOLDER as ADAPTERS
from cselab.encoders.checkpoint import CheckpointError, load_checkpoint, pack, save_checkpoint, unpack


class RunFolderError(ValueError):
    """A run folder that cannot be used: not writable, in use, or of a different run; the message has the remedy."""


Fields = Mapping[str, Any]
"""Values by name, as in a JSON object."""

WRITTEN: dict[str, Any] = {"identity": dict, "finished": bool}
FINISHED: dict[str, Any] = {"steps": int, "seconds": (int, float), "best": (dict, NoneType)}
"""The fields of run.json for every run and for a finished training, with their types."""


class RunFolder:
    """Reads and writes the files of one run; see the module's description of them."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.checkpoint = self.path / "checkpoint.safetensors"
        self.best = self.path / "best.safetensors"
        self.method = self.path / "method.safetensors"

    @contextmanager
    def locked(self) -> Iterator["RunFolder"]:
        """Hold the folder for this process.

        Raises:
            RunFolderError: the folder cannot be written, is used by a second process, or holds different files.
        """
        from filelock import FileLock, Timeout

        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._check_content()
            lock = FileLock(self.path / ".lock")
            lock.acquire(timeout=0)
        except Timeout:
            raise RunFolderError(f"{self.path} is in use by another run: wait, or choose a different output") from None
        except OSError as error:
            raise RunFolderError(
                f"cannot write to the output folder {self.path} ({error.strerror}): choose a different one"
            ) from None
        try:
            yield self
        finally:
            lock.release()

    def _check_content(self) -> None:
        names = sorted(file.name for file in self.path.iterdir())
        others = [name for name in names if name != ".lock" and not name.endswith(PART)]
        if blocked := [file for file in self.path.glob(f"*{PART}") if file.is_dir() != (file.name == SAVING)]:
            raise RunFolderError(f"{blocked[0]} blocks the files of the run: remove it")
        if others and "run.json" not in others:
            raise RunFolderError(
                f"{self.path} holds something that is not a run ({', '.join(others[:3])}): choose an empty output"
            )

    def read(self) -> dict[str, Any] | None:
        """The content of run.json, or None when nothing has been started here.

        Raises:
            CheckpointError: the run is unknown, or a file of the finished run was altered.
        """
        file = self.path / "run.json"
        if not file.exists():
            return None
        content = _parse(file, WRITTEN)
        verify_checksums(file, content)
        return content

    def finish(self, content: Fields) -> None:
        """Write run.json of a finished run, with checksums of all files."""
        names = ("history.jsonl", "method.safetensors", "cselab.json", f"{ADAPTERS}/adapter_model.safetensors")
        files = [self.path / name for name in names if (self.path / name).exists()]
        self.write(add_checksums(self.path / "run.json", content, files))
        self.clear()

    def write(self, content: Fields) -> None:
        write_text(self.path / "run.json", json.dumps(content, indent=2) + "\n")

    def reserve(self, identity: Fields) -> dict[str, Any]:
        """Start a run of this identity, or find the started run.

        A run that stopped before its first checkpoint cannot continue, so a new run may replace it.

        Raises:
            RunFolderError: the folder holds a run with other settings; names the first that differs.
        """
        content = self.read()
        if content is None or not (content["finished"] or self.checkpoint.exists()):
            self.clear()
            content = {"identity": dict(identity), "finished": False, "versions": versions()}
            self.write(content)
            return content
        check_same_identity(self.path, content["identity"], identity)
        before = {} if content["finished"] else content.get("versions", {})
        changed = [
            f"{name} {before[name]}, now {now}" for name, now in versions().items() if before.get(name, now) != now
        ]
        if changed:
            warnings.warn(f"{self.path} was started with {', '.join(changed)}: the weights may differ", stacklevel=3)
        return content

    def append(self, row: Fields) -> None:
        history = self.path / "history.jsonl"
        with cannot_write(history), open(history, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def rewrite_history(self, rows: Sequence[Fields]) -> None:
        write_text(self.path / "history.jsonl", "".join(json.dumps(row) + "\n" for row in rows))

    def history(self) -> list[dict[str, Any]]:
        """The rows of a finished run.

        Raises:
            CheckpointError: the file is missing, empty or damaged.
        """
        file = self.path / "history.jsonl"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        if not lines:
            raise CheckpointError(f"{file} is missing or empty: restore the file, or choose a different output")
        return [_parse(file, {"step": int}, line) for line in lines]

    def result(self) -> dict[str, Any]:
        """The content of run.json for a finished training.

        Raises:
            CheckpointError: the folder lacks a part.
        """
        return _parse(self.path / "run.json", WRITTEN | FINISHED)

    def clear(self) -> None:
        """Remove the files that only an unfinished run needs."""
        left = (*self.path.glob(f"*{PART}"), *self.path.glob(".tmp*"))  # a killed safetensors leaves .tmp...
        for file in (self.checkpoint, self.best, *left):
            if file.is_dir():
                shutil.rmtree(file)
            else:
                file.unlink(missing_ok=True)


def _parse(file: Path, wanted: Fields, text: str | None = None) -> dict[str, Any]:
    """The JSON object in a file, or in one of its lines, with the required fields."""
    advice = "restore the file, or choose a different output"
    try:
        content = read_json(file) if text is None else parse_json(text)
    except (ValueError, OSError) as error:  # OSError: a folder of this name
        raise CheckpointError(f"{file} is damaged ({error}): {advice}") from None
    for name, kind in wanted.items():
        if not isinstance(content, dict) or not isinstance(content.get(name, ...), kind):
            raise CheckpointError(f"{file} is damaged ({name!r} is missing, or no such value): {advice}")
    return content


def check_same_identity(place: Path, before: Fields, now: Fields) -> None:
    """Raise RunFolderError if a place holds a run with different settings; names the first difference."""
    for key, value in json.loads(json.dumps(now)).items():
        if not _is_same(before.get(key), value):
            raise RunFolderError(
                f"{place} holds a run with a different {key} ({_difference(before.get(key), value)}): "
                "choose a different output, or repeat the settings to continue"
            )


def _is_same(before: Any, now: Any) -> bool:
    """Whether two records are equal; those of earlier versions have no hash of the "rows" of a corpus."""
    if isinstance(before, dict) and isinstance(now, dict) and "rows" not in before:
        now = {key: value for key, value in now.items() if key != "rows"}
    return before == now


def _difference(before: Any, now: Any) -> str:
    if isinstance(before, dict) and isinstance(now, dict):
        for key in now:
            if before.get(key) != now[key]:
                return f"{key} was {before.get(key)!r}, now {now[key]!r}"
    return f"was {before!r}, now {now!r}"


@contextmanager
def state_dict_errors(file: Path) -> Iterator[None]:
    """A context for loading the state of a file; a mismatch is an error of one sentence.

    Raises:
        CheckpointError: parts of this run are missing, or have different shapes.
    """
    try:
        yield
    except (CheckpointError, RunFolderError):
        raise
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, RuntimeError) as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise CheckpointError(
            f"{file} does not fit this run ({reason:.200}): the file is of a different run. "
            "Restore the file, or delete it and start again"
        ) from error


def save_state(file: Path, parts: Mapping[str, Any], **info: Any) -> None:
    """Write the state of the parts, and `info`, JSON-able.

    Args:
        file: the file; it is replaced whole.
        parts: objects with a state: name -> model, optimiser, schedule, method.
        info: what belongs to it: "step", "seconds", "identity" ...
    """
    tensors: dict[str, Any] = {}
    trees: dict[str, Any] = {}
    for name, part in parts.items():
        part_tensors, trees[name] = pack(name, part.state_dict())
        tensors |= part_tensors
    save_checkpoint(file, tensors, {**info, **trees})


def load_state(file: Path, parts: Mapping[str, Any], identity: Fields | None = None) -> dict[str, Any]:
    """Load the state of the parts. Returns the rest of the file's content.

    Raises:
        CheckpointError: no file, a damaged one, or one of different parts.
        RunFolderError: a file of a run with a different identity.
    """
    tensors, info = load_checkpoint(file)
    if identity is not None and info.get("identity") is not None:
        check_same_identity(file, info["identity"], identity)
    with state_dict_errors(file):
        for name, part in parts.items():
            part.load_state_dict(unpack(tensors, info[name]))
    return info
