"""The units of `evaluate`: a task, and a suite that loads tasks."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

from cselab.data import MissingFile, Pairs

from .records import Measured, Record
from .vectors import Encoded, Scorer

Source = str | Path | Pairs | Iterable[Any] | None
"""Where a suite gets its data: a folder, a text file, pairs, sentences, a table of either, or None for the default."""


@runtime_checkable
class Task(Protocol):
    """A measurement on the vectors of its sentences."""

    @property
    def name(self) -> str: ...

    @property
    def sentences(self) -> list[str]:
        """All sentences whose vectors are needed."""

    def outline(self) -> list[Record]:
        """The headline records (those with a `key`) without a value; used when the vectors are bad."""

    def measure(self, encoded: Encoded | Scorer) -> Measured:
        """The records with their values, and the predictions.

        Encoder, versions, duplicates and seconds are filled in by `evaluate`.

        Raises:
            DegenerateEmbeddings: the vectors cannot be scored; the outline is then recorded as failed.
            NeedsVectors: a function that scores pairs was given; the task is then missing. If no task has a score,
                `evaluate` raises this error.
        """


class Collected(NamedTuple):
    """The tasks of a suite with data, and the reasons for missing tasks."""

    tasks: Sequence[Task]
    missing: dict[str, str]


@runtime_checkable
class Suite(Protocol):
    """A set of tasks and how they are measured: a dataclass whose fields are the suite's options.

    Attributes:
        name: the name of the suite, as on the command line.
        tasks: the names of its tasks.
    """

    name: ClassVar[str]
    tasks: ClassVar[tuple[str, ...]]

    def collect(self, data: Source, tasks: Sequence[str] | None) -> Collected:
        """Load and check the data of the named tasks, or of all available tasks.

        Loading comes before encoding, so that damaged data cost no time.

        Raises:
            DataError: a damaged file; a named task, or every task, has no data.
        """


class LoadedByName:
    """A suite whose tasks are loaded one by one. Those called NAME/SPLIT run only when they are named."""

    name: ClassVar[str]
    tasks: ClassVar[tuple[str, ...]]

    def load(self, task: str, data: Source) -> Task:
        """The task with this name; its data are read and checked."""
        raise NotImplementedError

    def collect(self, data: Source, tasks: Sequence[str] | None) -> Collected:
        """Load the named tasks, or all available tasks.

        Raises:
            MissingFile: a named task has no data, or none has.
            DataError: a damaged file.
        """
        collected, missing = list[Task](), dict[str, str]()
        for name in [name for name in self.tasks if "/" not in name] if tasks is None else tasks:
            try:
                collected.append(self.load(name, data))
            except MissingFile as reason:
                if tasks is not None:
                    raise
                missing[name] = str(reason)
        if not collected:
            raise MissingFile(next(iter(missing.values())))
        return Collected(collected, missing)


def folder(data: Source, suite: str) -> str | Path | None:
    """The data source of a suite that reads folders only.

    Raises:
        TypeError: pairs or sentences were given.
    """
    if data is None or isinstance(data, str | Path):
        return data
    raise TypeError(f"the {suite} suite reads a data folder, not {type(data).__name__}")
