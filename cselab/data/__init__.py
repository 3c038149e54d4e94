"""Sentences, pairs and labels from plain files and SentEval folders, checked on load.

What is named here is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cselab.data.checking import Checked, check
    from cselab.data.classification import Labelled, load_classification
    from cselab.data.clustering import load_clustering
    from cselab.data.files import DataError, MissingFile, read_lines
    from cselab.data.pairs import Pairs, as_pairs, read_pairs
    from cselab.data.root import data_root, senteval_folder
    from cselab.data.rows import read_rows, read_sentences
    from cselab.data.sts import STS_PAIRS, STS_TASKS, load_sts, sts_splits

_MODULES = {
    "Checked": "checking",
    "DataError": "files",
    "Labelled": "classification",
    "MissingFile": "files",
    "Pairs": "pairs",
    "STS_PAIRS": "sts",
    "STS_TASKS": "sts",
    "as_pairs": "pairs",
    "check": "checking",
    "data_root": "root",
    "load_classification": "classification",
    "load_clustering": "clustering",
    "load_sts": "sts",
    "read_lines": "files",
    "read_pairs": "pairs",
    "read_rows": "rows",
    "read_sentences": "rows",
    "senteval_folder": "root",
    "sts_splits": "sts",
}

__all__ = [
    "STS_PAIRS",
    "STS_TASKS",
    "Checked",
    "DataError",
    "Labelled",
    "MissingFile",
    "Pairs",
    "as_pairs",
    "check",
    "data_root",
    "load_classification",
    "load_clustering",
    "load_sts",
    "read_lines",
    "read_pairs",
    "read_rows",
    "read_sentences",
    "senteval_folder",
    "sts_splits",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"cselab.data.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'cselab.data' has no attribute {name!r}")
