"""Which public data sets are present, complete, and as published."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cselab._util.arguments import checked

from .classification import CLASSIFICATION_ROWS, Labelled, load_classification
from .clustering import CLUSTERING_TASKS, load_clustering
from .files import DataError, MissingFile
from .pairs import Pairs
from .sts import STS_PAIRS, load_sts


@dataclass(frozen=True)
class Checked:
    """One data set and split: its status is "ok", "missing" or "damaged"; `detail` has more."""

    suite: str
    name: str
    split: str
    status: str
    detail: str

    def __str__(self) -> str:
        return f"{self.status:8} {self.suite:11} {self.name:14} {self.split:6} {self.detail}"


@checked
def check(root: str | Path | None = None) -> list[Checked]:
    """Load every data set of the suites, one by one, and report its state.

    Args:
        root: a SentEval folder or a parent; `data_root()` when None.

    Raises:
        MissingFile: the folder does not exist.
    """
    if root is not None and not Path(root).is_dir():
        raise MissingFile(f"{root} is not a folder")
    return [_checked(*data_set) for data_set in _data_sets(root)]


def _data_sets(root: str | Path | None) -> Iterator[tuple[str, str, str, Callable[[], Pairs | Labelled]]]:
    for task, splits in STS_PAIRS.items():
        for split in splits:
            yield "sts", task, split, partial(load_sts, task, root, split)
    for task, splits in CLASSIFICATION_ROWS.items():
        for split in splits:
            yield "transfer", task, split, partial(load_classification, task, root, split)
    for task in CLUSTERING_TASKS:
        yield "clustering", task, "all", partial(load_clustering, task, root)


def _checked(suite: str, name: str, split: str, load: Callable[[], Pairs | Labelled]) -> Checked:
    try:
        loaded = load()
    except MissingFile as reason:
        return Checked(suite, name, split, "missing", str(reason))
    except DataError as reason:
        return Checked(suite, name, split, "damaged", str(reason))
    return Checked(suite, name, split, "ok", f"{len(loaded)} rows, {loaded.provenance}")
