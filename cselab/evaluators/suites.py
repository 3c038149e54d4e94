"""The registry of suites, and what a suite owes to `evaluate`.

A suite is a module with two names:

* `TASKS`: the names of its tasks;
* `collect(data, tasks, options)`: load and check the data of the named tasks (all when None), and return the
  `Task`s with a dict of what is missing. Loading comes before encoding, so that damaged data cost no time.

Registering the module here is enough for `evaluate`, the command line and the tables to find it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Protocol

from cselab.data import Pairs
from cselab.evaluators.records import Measured, Record
from cselab.evaluators.vectors import Encoded, Scorer

SUITES = {
    "sts": "cselab.evaluators.sts",
    "geometry": "cselab.evaluators.geometry_suite",
    "transfer": "cselab.evaluators.transfer",
    "clustering": "cselab.evaluators.clustering",
    "world": "cselab.evaluators.world",
    "world-transfer": "cselab.evaluators.world_transfer",
    "world-clustering": "cselab.evaluators.world_clustering",
}
"""The suites by name. "world" is the world's STS: what else the world measures takes longer and is asked for."""

Source = str | Path | Pairs | list[str] | None
"""Where a suite gets its data: a folder, a text file, pairs, sentences, or None for the default place."""


@dataclass(frozen=True)
class Options:
    """How the tasks of a suite are measured; each suite reads what concerns it.

    Attributes:
        aggregation: of the subsets of an STS set ("all", "mean", "weighted_mean").
        protocol: of the transfer tasks ("senteval", "senteval-fast", "lbfgs").
        seed: of everything drawn at random.
    """

    aggregation: str = "all"
    protocol: str = "senteval"
    seed: int = 0


class Task(Protocol):
    """Something to measure on the vectors of its sentences."""

    @property
    def name(self) -> str: ...

    @property
    def sentences(self) -> list[str]:
        """All sentences whose vectors are needed."""

    def outline(self) -> list[Record]:
        """The headline records (those with a `key`) without a value; used when the vectors are bad."""

    def measure(self, encoded: Encoded | Scorer) -> Measured:
        """The records with their values, and the predictions.

        Encoder, versions and seconds are filled in by `evaluate`.

        Raises:
            DegenerateEmbeddings: the vectors cannot be scored; the outline is then recorded as failed.
            NeedsVectors: a function that scores pairs was given; the task is then missing.
        """


def suite_module(name: str) -> ModuleType:
    """The module of a suite, imported when it is asked for.

    Raises:
        ValueError: an unknown suite.
    """
    if name not in SUITES:
        raise ValueError(f"unknown suite {name!r}; the suites are: {', '.join(SUITES)}")
    return import_module(SUITES[name])


def tasks_by_suite(suites: Sequence[str], tasks: Sequence[str] | None) -> dict[str, list[str] | None]:
    """The tasks asked of each suite (None for all); a suite of which none is asked is left out.

    Raises:
        ValueError: an unknown suite, or a task that none of the suites has.
    """
    if tasks is not None and not tasks:
        raise ValueError("tasks is empty: name at least one, or None for all")
    known = {suite: suite_module(suite).TASKS for suite in suites}
    if tasks is None:
        return dict.fromkeys(suites)
    for task in tasks:
        if not any(task in names for names in known.values()):
            allowed = "; ".join(f"{suite}: {', '.join(names)}" for suite, names in known.items())
            raise ValueError(f"unknown task {task!r}; the tasks are: {allowed}")
    asked = {suite: [task for task in tasks if task in names] for suite, names in known.items()}
    return {suite: names for suite, names in asked.items() if names}


def folder(data: Source, suite: str) -> str | Path | None:
    """The data source of a suite that reads folders only.

    Raises:
        TypeError: pairs or sentences were given.
    """
    if data is None or isinstance(data, str | Path):
        return data
    raise TypeError(f"the {suite} suite reads a data folder, not {type(data).__name__}")
