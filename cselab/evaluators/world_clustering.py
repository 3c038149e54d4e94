"""Clustering that needs no data folder: do sentences of the world fall into their topics?"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from cselab.data.classification import Labelled
from cselab.evaluators.clustering import ClusteringTask
from cselab.evaluators.suites import Options, Source
from cselab.evaluators.world import the_world

SENTENCES = 1000
"""Sentences drawn from the world's test split, as many of each topic."""

TASKS = ("World-Clustering",)


@cache
def world_topics() -> Labelled:
    rows = the_world().clustering(SENTENCES, "test")
    return replace(rows, name="World-Clustering", provenance="bundled")


def collect(
    data: Source, tasks: Sequence[str] | None, options: Options
) -> tuple[list[ClusteringTask], dict[str, str]]:
    """The one task. `data` is not read: the world comes with the package."""
    return [ClusteringTask(world_topics(), seed=options.seed)], {}
