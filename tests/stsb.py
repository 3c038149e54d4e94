"""A SentEval folder with STS-B alone, whose row counts are the right ones."""

from collections.abc import Callable
from pathlib import Path

from cselab.data.sts import STS_PAIRS


def write_stsb(folder: Path, graded: Callable[[str, int], tuple[str, str, str]]) -> Path:
    """Write the three files; `graded(split, row)` gives the score, a sentence and another."""
    place = folder / "STS" / "STSBenchmark"
    place.mkdir(parents=True)
    for split, rows in STS_PAIRS["STS-B"].items():
        lines = ("\t".join(("genre", "file", "year", str(row), *graded(split, row))) + "\n" for row in range(rows))
        (place / f"sts-{split}.csv").write_text("".join(lines))
    return folder
