"""Transfer that needs no data folder: five things a linear classifier may read off sentences of the world.

Rows to train on, to choose the penalty by and to test are of the world's own three splits, which share no
story, and are used as SST-2's are (`cselab.evaluators.transfer.fixed_dev`).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from cselab.data.classification import Labelled
from cselab.evaluators.suites import Options, Source
from cselab.evaluators.transfer import TransferTask, protocol_named
from cselab.evaluators.world import the_world

ROWS = {"train": 600, "dev": 300, "test": 600}
"""Rows of every task, as many of each class."""

KINDS = {
    f"World-{kind.capitalize()}": kind
    for kind in ("topic", "sentiment", "question", "subjectivity", "paraphrase")
}
TASKS = tuple(KINDS)


@cache
def world_labelled(task: str, split: str) -> Labelled:
    rows = the_world().transfer(KINDS[task], ROWS[split], split)
    return replace(rows, name=task, provenance="bundled")


def collect(
    data: Source, tasks: Sequence[str] | None, options: Options
) -> tuple[list[TransferTask], dict[str, str]]:
    """The named tasks, or all. `data` is not read: the world comes with the package.

    Raises:
        ValueError: an unknown protocol.
    """
    protocol = protocol_named(options.protocol)
    return [
        TransferTask(task, {split: world_labelled(task, split) for split in ROWS}, protocol)
        for task in (TASKS if tasks is None else tasks)
    ], {}
