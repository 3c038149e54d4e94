"""Sentences and pairs from plain files and SentEval folders, checked on load."""

from cselab.data.files import DataError, MissingFile, read_lines, read_sentences
from cselab.data.pairs import Pairs, read_pairs
from cselab.data.root import data_root, senteval_folder
from cselab.data.sts import STS_PAIRS, STS_TASKS, load_sts, sts_splits

__all__ = [
    "STS_PAIRS",
    "STS_TASKS",
    "DataError",
    "MissingFile",
    "Pairs",
    "data_root",
    "load_sts",
    "read_lines",
    "read_pairs",
    "read_sentences",
    "senteval_folder",
    "sts_splits",
]
