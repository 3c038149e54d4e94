"""`cselab evaluate` and `baselines`: the scores of an encoder, and those of simple baselines."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from cselab_lab.cli import options
from cselab_lab.cli.frame import Command
from cselab_lab.cli.tables import print_table

JSON_FILE = click.option("--json", "json_file", type=options.PATH, help="write scores and records here")
MEASURED = (options.suites, options.tasks, options.data_folder, options.pooling, options.protocol)
SHOWN = (JSON_FILE, options.table_form, options.device, options.quiet)


@click.command(cls=Command)
@options.scored
@options.several(*MEASURED)
@click.option(
    "--representation",
    type=click.Choice(["backbone", "head"]),
    help="the vector that is scored  [default: what the encoder's folder says]",
)
@click.option("--aggregation", help="for sts: all, mean or weighted_mean  [default: all]")
@click.option("--split", help="for geometry: dev, test, train or full  [default: dev]")
@options.prompt_name
@options.precision
@click.option(
    "--posthoc",
    type=options.TRANSFORM,
    help="transform the vectors: centred, 'without K' (components), whitening (BERT-whitening), flow (BERT-flow)",
)
@click.option("--fit", type=options.FIT, help="text file to fit --posthoc on  [default: world, 5000 of its sentences]")
@click.option("--cache", type=options.PATH, help="folder in which vectors are kept between calls")
@options.several(*SHOWN)
@click.pass_context
def evaluate(
    context: click.Context,
    encoder: str,
    tasks: Sequence[str],
    data: Path | None,
    posthoc: str | None,
    fit: str | None,
    cache: Path | None,
    json_file: Path | None,
    form: str,
    **given: Any,
) -> None:
    """Score an encoder; fails if a task has no score.

    ENCODER is a folder or name, `random`, `word-overlap`, `static:FILE` (averaged word vectors of a GloVe text
    file) or `static:ENCODER` (averaged input embeddings).
    """
    if json_file is not None:
        options.writable(json_file)
    if fit is not None and posthoc is None:
        raise ValueError("--fit says what a transform is fitted on: give --posthoc, too")
    from cselab.evaluators import evaluate as score
    from cselab.evaluators import fitted, named_encoder

    suites, tasks = suites_and_tasks(
        given["suites"], tasks, data, {name: given[name] for name in ("aggregation", "protocol", "split")}
    )
    where = options.accelerator(given["device"])
    model: Any = named_encoder(encoder, given["pooling"], given["representation"], where, given["precision"])
    prompt = given["prompt_name"]
    if prompt is not None and not hasattr(model, "prompts"):
        raise ValueError(f"--prompt-name {prompt}: {encoder} has no prompts")
    if posthoc is not None:
        model = fitted(model, posthoc, fit or "world", **({} if prompt is None else {"prompt_name": prompt}))
    scores = score(options.over_processes(context, model), suites, data, tasks or None, cache=cache, prompt_name=prompt)
    if form == "text":
        click.echo(str(scores))
    elif form == "json":
        click.echo(json.dumps(scores.to_dict(), indent=1, allow_nan=False))
    else:
        print_table({record.key: _cells(record) for record in scores.records if record.key}, form)
    for doubt in scores.doubts if form != "text" else ():
        click.echo(doubt, err=True)
    if json_file is not None and options.is_main_process():
        scores.to_json(json_file)
    if scores.failures:
        context.exit(1)


def suites_and_tasks(
    named: Sequence[str], tasks: Sequence[str], data: Path | None, given: dict[str, str | None]
) -> tuple[list[Any], list[str]]:
    """The suites as objects, pairs of the user's own among them, and the tasks; an option that is None is not given.

    Raises:
        ValueError: an option that none of the suites has.
        MissingFile: a folder was named that has no data.
    """
    from cselab.data import read_pairs
    from cselab.evaluators.own_pairs import OwnPairs
    from cselab.evaluators.suites import SUITES, suites_named

    chosen = {name: value for name, value in given.items() if value is not None}
    names = options.suites_or_default(named, data)
    known = [name for name in names if name in SUITES]
    own = [OwnPairs(read_pairs(name), chosen.get("aggregation", "all")) for name in names if name not in SUITES]
    if not known:
        chosen.pop("aggregation", None)
    try:
        wanted = [*suites_named(known, chosen), *own]
    except TypeError as error:
        raise ValueError(str(error)) from None
    return wanted, [*tasks, *(pairs.name for pairs in own if tasks)]


def _cells(record: Any) -> dict[str, Any]:
    low, high = record.interval or ("", "")
    return {
        "split": record.split,
        "rows": str(record.rows),
        "metric": record.metric,
        "score": "failed" if record.value is None else record.value,
        "low": low,
        "high": high,
    }


@click.command(cls=Command)
@options.encoder
@options.several(*MEASURED)
@click.option("--glove", type=options.TEXT_FILE, help="word vectors in a text file, to be averaged")
@click.option(
    "--fit",
    type=options.FIT,
    default="world",
    help="text file to fit whitening and flow on, or world: 5000 of its sentences",
)
@options.several(*SHOWN)
@click.pass_context
def baselines(
    context: click.Context,
    encoder: str,
    tasks: Sequence[str],
    data: Path | None,
    glove: Path | None,
    fit: str,
    json_file: Path | None,
    form: str,
    **given: Any,
) -> None:
    """Score an encoder and simple baselines.

    Those are chance, word overlap, averaged word vectors, BERT-whitening and BERT-flow.
    """
    if json_file is not None:
        options.writable(json_file)
    from cselab.encoders.encoder import SentenceEncoder
    from cselab.evaluators import evaluate_beside

    suites, tasks = suites_and_tasks(given["suites"], tasks, data, {"protocol": given["protocol"]})
    device = options.accelerator(given["device"])
    model = SentenceEncoder.from_pretrained(encoder, pooling=given["pooling"], device=device)
    by_name = evaluate_beside(model, suites, data, tasks or None, text=fit, word_vectors=glove)
    print_table({name: scores.scores for name, scores in by_name.items()}, form)
    failures = [
        f"{name}: {failed} failed: {reason}"
        for name, scores in by_name.items()
        for failed, reason in scores.failures.items()
    ]
    for line in failures:
        click.echo(line, err=True)
    if json_file is not None:
        content = {name: scores.to_dict() for name, scores in by_name.items()}
        json_file.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    if failures:
        context.exit(1)
