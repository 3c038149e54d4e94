"""Sentences, pairs and labels from plain files and SentEval folders, checked on load.

These names are imported on first use.
"""

from typing import TYPE_CHECKING

from cselab._util.lazy import attach

if TYPE_CHECKING:
    from cselab.data.checking import Checked, check
    from cselab.data.classification import Labelled, load_classification
    from cselab.data.clustering import load_clustering
    from cselab.data.files import DataError, MissingFile, read_lines
    from cselab.data.pairs import Pairs, as_pairs, read_pairs
    from cselab.data.root import data_root, folder_to_fill, senteval_folder
    from cselab.data.rows import read_rows, read_sentences
    from cselab.data.sts import STS_PAIRS, STS_TASKS, load_sts, sts_splits

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        ".checking": "Checked check",
        ".classification": "Labelled load_classification",
        ".clustering": "load_clustering",
        ".files": "DataError MissingFile read_lines",
        ".pairs": "Pairs as_pairs read_pairs",
        ".root": "data_root folder_to_fill senteval_folder",
        ".rows": "read_rows read_sentences",
        ".sts": "STS_PAIRS STS_TASKS load_sts sts_splits",
    },
)
