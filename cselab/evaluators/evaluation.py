"""One call for all suites: load and check everything, encode every sentence once, then score."""

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from cselab._util.arguments import checked
from cselab._util.versions import versions
from cselab.data.pairs import PairSource, as_pairs, is_pairs
from cselab.encoders.any_encoder import Called, KnownVectors, as_encoder, takes_one
from cselab.encoders.distributed import DistributedEncoder
from cselab.metrics.degenerate import DegenerateEmbeddings

from .records import Measured, Scores
from .sts import STS
from .suites import SUITES, suites_named, tasks_by_suite
from .task import Collected, Source, Suite, Task
from .vectors import Encoded, Encoder, NeedsVectors, PairScorer, Scorer, encode_distinct, name_of

Suites = str | Suite | PairSource | Sequence[str | Suite]
"""One or several suites, as `evaluate` takes them."""


@checked
def evaluate(
    encoder: Encoder | PairScorer,
    suite: Suites,
    data: Source = None,
    tasks: Sequence[str] | None = None,
    *,
    cache: str | Path | None = None,
    prompt_name: str | None = None,
    **options: Any,
) -> Scores:
    """Score an encoder on one or several suites.

    All data are loaded and checked before anything is encoded; then all distinct sentences of all tasks are
    encoded once.

    Args:
        encoder: an object with `encode(list[str])` that returns one vector per sentence; a function of a list of
            sentences, an encoder's name, `{sentence: vector}`, or an array with a row for each sentence of the one
            task, such as `pairs.sentences` (`cselab.encoders.as_encoder`); a
            `cselab.encoders.distributed.DistributedEncoder` shares the work over processes; for STS also a
            function of two lists of sentences that gives similarities, such as `word_overlap`; tasks that need vectors
            are then listed in `Scores.missing`, or an error if no other task was requested.
        suite: "sts", "geometry", "transfer", "clustering"; or "world" (its STS), "world-transfer",
            "world-clustering", which need no data folder; or a suite with options, such as `STS(aggregation="mean")`
            or `Clustering(seeds=range(5))`; or several in a list. Or your scored pairs, in any form of
            `cselab.data.as_pairs`: `Pairs`, tuples, a table, a file.
        data: a SentEval folder or a parent; `data_root()` when None. For "geometry" also pairs, a list of
            sentences, a text file, or "world" for the bundled world's pairs.
        tasks: names of tasks; all of the suites when None. A task whose data are missing is an error when it
            was named, and otherwise listed in `Scores.missing`.
        cache: a folder in which vectors are kept, for encoders with `weights_hash()`.
        prompt_name: one of the encoder's `prompts`, for every sentence; the records name the prompt.
        options: the options of the suites that were given by name; each suite gets those that it has: `aggregation=`
            and `seed=` (sts), `split=` (geometry), `protocol=` (transfer), `seeds=` (clustering). The suites describe
            them.

    Returns:
        `Scores`; embeddings that cannot be scored (constant, NaN) give a record with the reason, no number.

    Raises:
        ValueError: an unknown suite, task or value of an option (the message lists the allowed ones).
        TypeError: an option that none of the suites has.
        DataError: a damaged or missing data file, named; nothing is scored then.

    >>> from cselab.evaluators import word_overlap
    >>> evaluate(word_overlap, [("a dog", "a dog", 5.0), ("a dog", "a cat", 2.0), ("a dog", "no", 0.0)]).scores
    {'pairs': 100.0}
    """
    collected, missing = _collect(suite, data, tasks, options)
    if not callable(encoder) or takes_one(encoder):
        encoder = as_encoder(encoder, collected[0].sentences if len(collected) == 1 else None)
    started = time.perf_counter()
    try:
        encoded = _encoded(encoder, collected, cache, prompt_name)
    except DegenerateEmbeddings as reason:  # reported by the encoder itself
        outline = [record for task in collected for record in task.outline()]
        failed = [replace(record, failure=str(reason), **_about(encoder, prompt_name)) for record in outline]
        return Scores(failed, missing, {}, time.perf_counter() - started)
    encode_seconds = time.perf_counter() - started
    scores = Scores([], missing, {}, encode_seconds)
    about = _about(encoder, prompt_name) | {"truncated": encoded.truncated}
    measured = encoder.map if isinstance(encoder, DistributedEncoder) else map
    for task, measurement in zip(collected, measured(partial(_measured, encoded, about), collected), strict=True):
        if isinstance(measurement, NeedsVectors):
            if task is collected[-1] and not scores.records:
                raise measurement
            missing[task.name] = str(measurement)
            continue
        records, outcome = measurement
        scores.records.extend(records)
        if outcome is not None and task.name in scores.scores:
            scores.outcomes[task.name] = outcome
    return scores


def _collect(suite: Suites, data: Source, tasks: Sequence[str] | None, options: dict[str, Any]) -> Collected:
    source: Any = suite
    if is_pairs(suite) and not (isinstance(suite, str) and suite in SUITES):
        return Collected([STS(**options).task(as_pairs(source))], {})
    suites = suites_named([suite] if isinstance(suite, str | Suite) else source, options)
    collected: list[Task] = []
    missing: dict[str, str] = {}
    for one, names in zip(suites, tasks_by_suite(suites, tasks), strict=True):
        if names is None or names:
            available, absent = one.collect(data, names)
            collected += available
            missing |= absent
    return Collected(collected, missing)


def _encoded(
    encoder: Encoder | PairScorer, tasks: Sequence[Task], cache: str | Path | None, prompt_name: str | None
) -> Encoded | Scorer:
    if prompt_name is not None and (not hasattr(encoder, "encode") or isinstance(encoder, Called | KnownVectors)):
        raise TypeError(f"{name_of(encoder)} has no prompts: leave out prompt_name={prompt_name!r}")
    if hasattr(encoder, "encode"):
        prompt = {} if prompt_name is None else {"prompt_name": prompt_name}
        return encode_distinct(encoder, (sentence for task in tasks for sentence in task.sentences), cache, **prompt)
    return Scorer(encoder)


def _measured(encoded: Encoded | Scorer, about: dict[str, Any], task: Task) -> Measured | NeedsVectors:
    started = time.perf_counter()
    try:
        records, outcome = task.measure(encoded)
        about = about | {"duplicates": encoded.duplicates(task.sentences)}
    except NeedsVectors as reason:
        return reason
    except DegenerateEmbeddings as reason:
        records, outcome = [replace(record, failure=str(reason)) for record in task.outline()], None
    seconds = time.perf_counter() - started
    return Measured([replace(record, seconds=seconds, **about) for record in records], outcome)


def _about(encoder: Encoder | PairScorer, prompt_name: str | None) -> dict[str, Any]:
    """The encoder's description of itself, for the records."""
    name = name_of(encoder)
    return {
        "encoder": name if prompt_name is None else f"{name}, prompt {prompt_name}",
        **{setting: str(getattr(encoder, setting, "")) for setting in ("pooling", "representation", "precision")},
        "max_length": getattr(encoder, "max_length", None),
        "versions": versions(),
    }
