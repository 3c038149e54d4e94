"""Sentences, pairs and labels from plain files and SentEval folders, checked on load."""

from .checking import Checked, check
from .classification import Labelled, load_classification
from .clustering import load_clustering
from .files import DataError, MissingFile, read_lines
from .pairs import Pairs, as_pairs, read_pairs
from .root import data_root, folder_to_fill, senteval_folder
from .rows import read_rows, read_sentences
from .sts import STS_PAIRS, STS_TASKS, load_sts, sts_splits

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
    "folder_to_fill",
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
