"""One call for all suites: load and check everything, encode every sentence once, then score."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cselab.data import Pairs
from cselab.evaluators.records import Measured, Scores
from cselab.evaluators.sts import StsTask, strata
from cselab.evaluators.suites import Options, Source, Task, suite_module, tasks_by_suite
from cselab.evaluators.vectors import Encoded, NeedsVectors, Scorer, encode_distinct
from cselab.measures.degenerate import DegenerateEmbeddings
from cselab.versions import versions


def evaluate(
    encoder: Any,
    suite: str | Pairs | Sequence[str],
    data: Source = None,
    tasks: Sequence[str] | None = None,
    aggregation: str = "all",
    *,
    protocol: str = "senteval",
    cache: str | Path | None = None,
    seed: int = 0,
) -> Scores:
    """Score an encoder on one or several suites.

    All data are loaded and checked before anything is encoded; then all distinct sentences of all tasks are
    encoded once.

    Args:
        encoder: anything with `encode(list[str])` that gives one vector a sentence; for STS also a function
            of two lists of sentences that gives similarities, such as `word_overlap`; tasks that need vectors
            are then listed in `Scores.missing`, and an error when nothing else was asked for.
        suite: "sts", "geometry", "transfer", "clustering"; or "world" (its STS), "world-transfer",
            "world-clustering", which need no data folder; or several in a list; or `Pairs` of your own, scored
            as an STS set.
        data: a SentEval folder or one above it; `data_root()` when None. For "geometry" also pairs, a list of
            sentences, a text file, or "world" for the bundled world's pairs.
        tasks: names of tasks; all of the suites when None. A task whose data are missing is an error when it
            was named, and otherwise listed in `Scores.missing`.
        aggregation: how the subsets of STS12 to STS16 become one score: "all" (the papers' choice), "mean",
            "weighted_mean". The other two are among the records.
        protocol: of the transfer tasks, the world's too: "senteval", "senteval-fast" or "lbfgs".
        cache: a folder in which vectors are kept, for encoders with `weights_hash()`.
        seed: of resampling and of what else is drawn at random.

    Returns:
        `Scores`; embeddings that cannot be scored (constant, NaN) give a record with the reason, no number.

    Raises:
        ValueError: an unknown suite, task or aggregation (the message lists the allowed).
        DataError: a damaged or missing data file, named; nothing is scored then.
    """
    strata([], aggregation)
    options = Options(aggregation, protocol, seed)
    collected, missing = _collect(suite, data, tasks, options)
    started = time.perf_counter()
    encoded = _encoded(encoder, collected, cache)
    encode_seconds = time.perf_counter() - started
    scores = Scores([], missing, {}, encode_seconds)
    about = _about(encoder) | {"truncated": encoded.truncated}
    for task in collected:
        try:
            records, outcome = _measured(task, encoded, about)
        except NeedsVectors as reason:
            if task is collected[-1] and not scores.records:
                raise
            missing[task.name] = str(reason)
            continue
        scores.records.extend(records)
        if outcome is not None and task.name in scores.scores:
            scores.outcomes[task.name] = outcome
    return scores


def _collect(
    suite: str | Pairs | Sequence[str], data: Source, tasks: Sequence[str] | None, options: Options
) -> tuple[list[Task], dict[str, str]]:
    if isinstance(suite, Pairs):
        return [StsTask(suite, suite.name, options.aggregation, seed=options.seed)], {}
    suites = [suite] if isinstance(suite, str) else suite
    collected: list[Task] = []
    missing: dict[str, str] = {}
    for name, names in tasks_by_suite(suites, tasks).items():
        found, absent = suite_module(name).collect(data, names, options)
        collected += found
        missing |= absent
    return collected, missing


def _encoded(encoder: Any, tasks: Sequence[Task], cache: str | Path | None) -> Encoded | Scorer:
    if hasattr(encoder, "encode"):
        return encode_distinct(encoder, (sentence for task in tasks for sentence in task.sentences), cache)
    if callable(encoder):
        return Scorer(encoder)
    raise TypeError(f"{encoder!r} has no encode() and is no function that scores sentence pairs")


def _measured(task: Task, encoded: Encoded | Scorer, about: dict[str, Any]) -> Measured:
    started = time.perf_counter()
    try:
        records, outcome = task.measure(encoded)
    except DegenerateEmbeddings as reason:
        records, outcome = [replace(record, failure=str(reason)) for record in task.outline()], None
    seconds = time.perf_counter() - started
    return Measured([replace(record, seconds=seconds, **about) for record in records], outcome)


def _about(encoder: Any) -> dict[str, Any]:
    """What the encoder says of itself, for the records."""
    name = getattr(encoder, "name", None) or getattr(encoder, "__name__", type(encoder).__name__)
    return {
        "encoder": str(name),
        "pooling": str(getattr(encoder, "pooling", "")),
        "representation": str(getattr(encoder, "representation", "")),
        "max_length": getattr(encoder, "max_length", None),
        "versions": versions(),
    }
