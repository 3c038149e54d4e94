"""Suites that need no data folder: labels of the bundled world, and the hand-written pairs of Classroom-STS."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from cselab.data import Pairs
from cselab.data.classification import Labelled
from cselab.world import World
from cselab.world.classroom import classroom_sts
from cselab.world.world import TASKS

from .clustering import Clustering, ClusteringTask
from .sts import STS, StsTask
from .task import Source
from .transfer import PROTOCOLS, Transfer, TransferTask

GRADED_PAIRS = 1200
"""Pairs drawn from the world."""

PROBE_ROWS = {"train": 600, "dev": 300, "test": 600}
"""Rows of each transfer task, as many of each class."""

CLUSTERED_ROWS = 1000
"""Sentences drawn for clustering, as many of each topic."""


@cache
def the_world() -> World:
    """The world of all suites, always of seed 0: every encoder sees the same."""
    return World(seed=0)


@cache
def world_sts(split: str) -> Pairs:
    """The world's graded pairs."""
    return the_world().sts(GRADED_PAIRS, split)


@cache
def world_labelled(task: str, split: str) -> Labelled:
    """The rows of a transfer task of the world."""
    rows = the_world().transfer(PROBES[task], PROBE_ROWS[split], split)
    return replace(rows, name=task, provenance="bundled")


@cache
def world_topics() -> Labelled:
    """Sentences of the world with their topics."""
    rows = the_world().clustering(CLUSTERED_ROWS, "test")
    return replace(rows, name="World-Clustering", provenance="bundled")


LOADERS: dict[str, Callable[[str], Pairs]] = {"World-STS": world_sts, "Classroom-STS": classroom_sts}

PROBES = {f"World-{kind.capitalize()}": kind for kind in TASKS}


@dataclass(frozen=True)
class WorldSTS(STS):
    """Graded pairs of the world, and Classroom-STS: the test splits, and "World-STS/dev" and so on by name.

    The subsets of these sets are kinds of pairs, often with one single grade and no correlation within. So each set is
    scored as a whole for every aggregation.
    """

    name = "world"
    tasks = (*LOADERS, *(f"{task}/dev" for task in LOADERS))

    def load(self, task: str, data: Source) -> StsTask:
        """The pairs come with the package: `data` is not read."""
        name, _, split = task.partition("/")
        pairs = LOADERS[name](split or "test")
        return self.task(replace(pairs, name=name, subsets=[], provenance="bundled"), task)


@dataclass(frozen=True)
class WorldTransfer(Transfer):
    """Five properties of the world's sentences that a linear classifier may predict.

    Rows to train on, to choose the penalty by and to test are of the world's own three splits, which share no
    story, and are used as SST-2's are.
    """

    name = "world-transfer"
    tasks = tuple(PROBES)

    def load(self, task: str, data: Source) -> TransferTask:
        """The world comes with the package: `data` is not read."""
        splits = {split: world_labelled(task, split) for split in PROBE_ROWS}
        return TransferTask(task, splits, PROTOCOLS[self.protocol])


@dataclass(frozen=True)
class WorldClustering(Clustering):
    """Do sentences of the world fall into their topics?"""

    name = "world-clustering"
    tasks = ("World-Clustering",)

    def load(self, task: str, data: Source) -> ClusteringTask:
        """The world comes with the package: `data` is not read."""
        return ClusteringTask(world_topics(), tuple(self.seeds))
