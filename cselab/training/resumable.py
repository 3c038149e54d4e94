"""Steps that may be killed at any moment: started again, they continue from the last checkpoint."""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from cselab._util.progress import Progress, say
from cselab.encoders.checkpoint import CheckpointError, load_checkpoint, pack, save_checkpoint, unpack

from .run_folder import RunFolderError, refuse_another


def check_complete(module: nn.Module) -> None:
    """Raise TypeError if the module holds tensors or networks where its `state_dict` would not find them."""
    for name in sorted(vars(module).keys() - vars(nn.Module()).keys()):
        value = vars(module)[name]
        parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, Iterable) else ()
        if isinstance(value, Tensor) or any(isinstance(part, Tensor | nn.Module) for part in parts):
            raise TypeError(
                f"{name} of {type(module).__name__} holds tensors or networks as a plain {type(value).__name__}, and "
                f"would not be saved with the run: in build, call self.register_buffer({name!r}, ...) for a tensor and "
                "nn.ModuleList for several networks; values of one step go into Views"
            )


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


@dataclass(eq=False)
class ResumableSteps:
    """Steps 1 to `last`, with regular checkpoints of the parts: `for step in steps: ...; steps.save_if_due(...)`.

    Training and pretraining are loops over these. A step must depend only on its number and the state of the parts.
    Then a killed and resumed run ends like an uninterrupted run. `done` is the current step, `note` is the text of the
    progress; `stopped` ends the loop.

    Args:
        name: the name of the work, for its progress.
        last: the number of steps.
        parts: objects with a state: name -> model, optimiser, schedule, method.
        checkpoint: the file; None keeps none.
        every: steps between checkpoints; the last step needs none.
        show: whether progress is shown.
        lines: how many lines of progress a log gets.
        writes: False for a process that only reads the checkpoint.
        identity: the settings of the work, JSON-able; a checkpoint of different work is refused.
    """

    name: str
    last: int
    parts: Mapping[str, Any]
    checkpoint: Path | None = None
    every: int = 1
    show: bool = True
    lines: int = 10
    writes: bool = True
    identity: Mapping[str, Any] | None = None
    done: int = 0
    note: str = ""
    stopped: bool = False

    def __post_init__(self) -> None:
        self._began, self._seconds_before = time.monotonic(), 0.0

    @property
    def seconds(self) -> float:
        """Spent so far, over all consecutive processes of the run."""
        return self._seconds_before + time.monotonic() - self._began

    @property
    def due(self) -> bool:
        """Whether a checkpoint belongs to the step at hand."""
        return self.done % self.every == 0

    def resume(self) -> dict[str, Any]:
        """Load the state of the parts from the checkpoint. Returns the rest of its content.

        Raises:
            CheckpointError: no checkpoint, or a damaged one.
            RunFolderError: a checkpoint of a different run.
        """
        assert self.checkpoint is not None, "steps without a checkpoint file cannot be resumed"
        tensors, info = load_checkpoint(self.checkpoint)
        if self.identity is not None and info.get("identity") is not None:
            refuse_another(self.checkpoint, info["identity"], self.identity)
        with state_dict_errors(self.checkpoint):
            for name, part in self.parts.items():
                part.load_state_dict(unpack(tensors, info[name]))
            self.done, self._seconds_before = info["step"], info["seconds"]
        return info

    def __iter__(self) -> Iterator[int]:
        """The numbers of the steps that are left."""
        if self.show and self.done > 0:
            say(f"{self.name}: continues from step {self.done} of {self.last}")
        with Progress(self.last, self.name, show=self.show, lines=self.lines) as progress:
            progress.done = self.done
            while self.done < self.last and not self.stopped:
                if self.done <= 1:  # before the first step, and after it
                    for part in self.parts.values():
                        if isinstance(part, nn.Module):
                            check_complete(part)
                self.done += 1
                yield self.done
                progress.update(note=self.note)

    def save_if_due(self, **info: Any) -> None:
        """Write the checkpoint every `every` steps, except after the last step; see `save`."""
        if self.checkpoint is not None and self.writes and self.due and self.done < self.last:
            self.save(**info)

    def save(self, **info: Any) -> None:
        """Write the checkpoint: the state of all parts, and `info`, JSON-able."""
        assert self.checkpoint is not None, "steps without a checkpoint file keep none"
        tensors: dict[str, Any] = {}
        trees: dict[str, Any] = {}
        for name, part in self.parts.items():
            part_tensors, trees[name] = pack(name, part.state_dict())
            tensors |= part_tensors
        own = {"step": self.done, "seconds": self.seconds, "identity": self.identity}
        save_checkpoint(self.checkpoint, tensors, {**own, **trees, **info})
