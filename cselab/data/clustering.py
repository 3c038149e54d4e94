"""Six short-text clustering sets, one `label<TAB>text` file each, checked on load.

Traps of the published files: some have "\\r\\n" line ends, some an extra tab at the end of a line, and one
text of StackOverflow holds a tab, which becomes a space.
"""

from pathlib import Path

from cselab._util.arguments import check_choice

from .classification import Labelled
from .files import DataError, MissingFile, read_fields
from .published import check_published, published_parts
from .root import data_root

CLUSTERING_SIZES = {
    "AgNews": (8000, 4),
    "SearchSnippets": (12340, 8),
    "StackOverflow": (20000, 20),
    "Biomedical": (20000, 20),
    "Tweet": (2472, 89),
    "GoogleNews": (11109, 152),
}
"""Rows and classes of every clustering set."""

CLUSTERING_TASKS = tuple(CLUSTERING_SIZES)

FILES = {
    "AgNews": "agnews-8000.tsv",
    "SearchSnippets": "searchsnippets.tsv",
    "StackOverflow": "stackoverflow.tsv",
    "Biomedical": "biomedical.tsv",
    "Tweet": "tweet.tsv",
    "GoogleNews": "googlenews_TS.tsv",
}


def load_clustering(task: str, root: str | Path | None = None) -> Labelled:
    """A clustering set: "AgNews", "SearchSnippets", "StackOverflow", "Biomedical", "Tweet" or "GoogleNews".

    Rows in the order of the file; classes are the labels of the file.

    Args:
        root: the folder of the files, or one with a folder `clustering` of them; `data_root()` when None.

    Raises:
        ValueError: an unknown task.
        MissingFile: the data folder or the set's file is missing.
        DataError: the file is damaged; the message has its name and the rows and classes found and expected.

    See also: `cselab.data.load_classification`.
    """
    check_choice("clustering set", task, CLUSTERING_TASKS)
    path = clustering_file(task, root)
    rows = [_row(fields, place) for place, fields in read_fields(path)]
    expected = CLUSTERING_SIZES[task][1]
    classes = tuple(sorted({label for label, _ in rows}, key=lambda label: (len(label), label)))
    number_of = {label: number for number, label in enumerate(classes)}
    numbered = [(text, "", number_of[label]) for label, text in rows]
    provenance = check_published(numbered, published_parts("labelled")[f"clustering/{task}"], path)
    if len(classes) != expected:
        raise DataError(f"{path}: {len(classes)} classes found, {expected} expected; were labels edited?")
    return Labelled(
        sentences=[text for text, _, _ in numbered],
        labels=[label for _, _, label in numbered],
        classes=classes,
        name=task,
        split="all",
        provenance=provenance,
    )


def clustering_file(task: str, root: str | Path | None = None) -> Path:
    """The path of a clustering set; upper and lower case in its name are equal."""
    root = data_root() if root is None else Path(root)
    if root is None:
        raise MissingFile(
            f"no data folder: give one (`data=`, `--data DIR`) or set CSELAB_DATA to a folder that holds {FILES[task]}"
        )
    for folder in (root, root / "clustering"):
        if folder.is_dir():
            for path in sorted(folder.iterdir()):
                if path.name.casefold() == FILES[task].casefold():
                    return path
    raise MissingFile(f"{task}: no file {FILES[task]} in {root} or {root / 'clustering'}")


def _row(fields: list[str], place: str) -> tuple[str, str]:
    label, text = fields[0].strip(), " ".join(fields[1:]).strip()
    if not label or not text:
        raise DataError(f"{place}: expected a label, a tab and a text, not {fields!r:.40}")
    return label, text
