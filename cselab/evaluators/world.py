"""STS that needs no data folder: the bundled world's graded pairs, and the classroom's, written by hand.

See also: `world_transfer` and `world_clustering`, for what the world labels.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from cselab.data import Pairs
from cselab.evaluators.sts import StsTask
from cselab.evaluators.suites import Options, Source

if TYPE_CHECKING:
    from cselab.world import World

WORLD_PAIRS = 1200
"""Pairs drawn from the world."""


@cache
def the_world() -> "World":
    """The world of all suites, always of seed 0: every encoder sees the same."""
    from cselab.world import World

    return World(seed=0)


@cache
def world_sts(split: str) -> Pairs:
    return the_world().sts(WORLD_PAIRS, split)


def classroom_sts(split: str) -> Pairs:
    from cselab.world.classroom import classroom_sts

    return classroom_sts(split)


LOADERS: dict[str, Callable[[str], Pairs]] = {"World-STS": world_sts, "Classroom-STS": classroom_sts}

TASKS = (*LOADERS, *(f"{task}/dev" for task in LOADERS))


def collect(
    data: Source, tasks: Sequence[str] | None, options: Options
) -> tuple[list[StsTask], dict[str, str]]:
    """The named tasks, or both test splits. `data` is not read: the pairs come with the package.

    What the generator and the class call subsets are kinds of pairs, often of one single grade: there is no
    correlation within them, so each set is scored as a whole.
    """
    collected = []
    for name in tuple(LOADERS) if tasks is None else tasks:
        task, _, split = name.partition("/")
        pairs = replace(LOADERS[task](split or "test"), name=task, subsets=[], provenance="bundled")
        collected.append(StsTask(pairs, name, options.aggregation, seed=options.seed))
    return collected, {}
