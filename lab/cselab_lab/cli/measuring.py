"""`cselab evaluate`, `baselines` and `compare`: scores of encoders and of simple baselines, and paired tests."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import options
from .frame import Command

if TYPE_CHECKING:
    from cselab.evaluators import Scores
    from cselab.metrics import Comparison

SCORED = ("score", "95 % interval")  # columns that stay, also if all rows agree
JSON_FILE = click.option("--json", "json_file", type=options.OUTPUT_FILE, help="write scores and records to this file")
MEASURED = (options.suites, options.tasks, options.data_folder, options.pooling)
OUTPUT_OPTIONS = (JSON_FILE, options.table_form, options.device, options.quiet)


@click.command(cls=Command)
@options.scored
@options.several(*MEASURED)
@click.option(
    "--representation",
    type=click.Choice(["backbone", "head"]),
    help="the scored vector  [default: from the encoder's folder]",
)
@options.prompt_name
@options.precision
@options.several(*options.posthoc)
@click.option("--cache", type=options.PATH, help="folder that keeps vectors between calls")
@options.several(*OUTPUT_OPTIONS)
@click.pass_context
def evaluate(
    context: click.Context,
    encoder: str,
    posthoc: str | None,
    fit: str | None,
    json_file: Path | None,
    form: str,
    **given: Any,
) -> int:
    """Score an encoder; fails if a task has no score.

    ENCODER is a folder or name, `random`, `word-overlap`, or `static:ENCODER` (averaged input embeddings).
    """
    options.check_fit(posthoc, fit)
    from cselab.evaluators import evaluate as score
    from cselab.evaluators import fitted, named_encoder

    suites, tasks = _suites_and_tasks(given)
    where, prompt = options.accelerator(given["device"]), given["prompt_name"]
    model: Any = named_encoder(encoder, given["pooling"], given["representation"], where, given["precision"])
    if prompt is not None and not hasattr(model, "prompts"):
        raise ValueError(f"--prompt-name {prompt}: {encoder} has no prompts")
    if posthoc is not None:
        model = fitted(model, posthoc, fit or "world", **({} if prompt is None else {"prompt_name": prompt}))
    model = options.over_processes(context, model)
    scores = score(model, suites, given["data"], tasks, cache=given["cache"], prompt_name=prompt)
    if form == "json":
        options.print_result(scores, form)
    elif form == "text":
        _print_scores(scores)
    else:
        options.print_table({record.key: _cells(record) for record in scores.records if record.key}, form)
    for doubt in scores.doubts if form != "text" else ():
        click.echo(doubt, err=True)
    if json_file is not None and options.is_main_process():
        scores.to_json(json_file)
    return bool(scores.failures)


def _suites_and_tasks(given: dict[str, Any]) -> tuple[list[Any], list[str] | None]:
    """The suites, including a user's pairs, and the tasks (None: all).

    Raises:
        MissingFile: the named folder has no data.
    """
    from cselab.data import read_pairs
    from cselab.evaluators.sts import OwnPairs
    from cselab.evaluators.suites import SUITES

    names = options.suites_or_default(given["suites"], given["data"])
    own = [OwnPairs(read_pairs(name)) for name in names if name not in SUITES]
    suites = [*(name for name in names if name in SUITES), *own]
    return suites, [*given["tasks"], *(pairs.name for pairs in own)] if given["tasks"] else None


def _print_scores(scores: "Scores") -> None:
    """A table of the scores; what is the same in every row is printed once, below it."""
    from cselab.evaluators.records import RECORD_COLUMNS

    lines = {
        record.key: dict(zip(RECORD_COLUMNS[1:], record.cells[1:], strict=True))
        for record in scores.records
        if record.key
    }
    same = [
        column
        for column in RECORD_COLUMNS[1:]
        if len(lines) > 1 and column not in SCORED and len({line[column] for line in lines.values()}) == 1
    ]
    if lines:
        options.print_table(
            {key: {c: cell for c, cell in row.items() if c not in same} for key, row in lines.items()}, "text"
        )
        shared = [
            f"{'' if column == 'how' else column} {next(iter(lines.values()))[column]}".strip() for column in same
        ]
        if shared:
            click.echo(f"in every row: {', '.join(shared)}")
    for note in scores.notes:
        click.echo(note)


def _cells(record: Any) -> dict[str, Any]:
    low, high = record.interval or ("", "")
    score = "failed" if record.value is None else record.value
    cells = {"split": record.split, "rows": str(record.rows), "metric": record.metric}
    return cells | {"score": score, "low": low, "high": high}


@click.command(cls=Command)
@options.encoder
@options.several(*MEASURED)
@click.option(
    "--fit",
    type=options.FIT,
    default="world",
    help="text file to fit whitening and flow on, or world: 5000 of its sentences",
)
@options.several(*OUTPUT_OPTIONS)
def baselines(encoder: str, fit: str, json_file: Path | None, form: str, **given: Any) -> int:
    """Score an encoder and simple baselines.

    The baselines are chance, word overlap, averaged word vectors, random weights, BERT-whitening and
    BERT-flow.
    """
    from cselab._util.writing import write_text
    from cselab.evaluators import evaluate_beside

    suites, tasks = _suites_and_tasks(given)
    model = options.open_encoder(encoder, given)
    by_name = evaluate_beside(model, suites, given["data"], tasks, text=fit)
    options.print_table({name: scores.scores for name, scores in by_name.items()}, form)
    for name, scores in by_name.items():
        for failed, reason in scores.failures.items():
            click.echo(f"{name}: {failed} failed: {reason}", err=True)
    if json_file is not None:
        content = {name: scores.to_dict() for name, scores in by_name.items()}
        write_text(json_file, json.dumps(content, indent=1, allow_nan=False) + "\n")
    return any(scores.failures for scores in by_name.values())


@click.command(cls=Command)
@options.argument("first", type=options.SCORED, help="an encoder as for `evaluate`, or a folder of seeds")
@options.argument("second", type=options.SCORED, help="compared with FIRST; differences are SECOND minus FIRST")
@options.several(*MEASURED)
@click.option(
    "--metric",
    default="spearman",
    type=click.Choice(["spearman", "pearson"]),
    help="for STS; transfer tasks are compared by accuracy",
)
@options.several(options.table_form, options.device, options.quiet)
def compare(first: str, second: str, metric: Any, form: str, **given: Any) -> None:
    """Test whether one encoder is better than a second.

    Paired tests on all shared tasks.

    Two encoders are compared row by row (paired bootstrap; McNemar's test for classes). Two folders of seeds from
    `train --seeds` are compared seed by seed (paired t-test).
    """
    from cselab.evaluators import compare as paired
    from cselab.evaluators import evaluate, named_encoder
    from cselab.metrics import paired_t_test

    suites, tasks = _suites_and_tasks(given)
    device = options.accelerator(given["device"])

    def scores_of(name: str) -> Any:
        return evaluate(named_encoder(name, given["pooling"], None, device), suites, given["data"], tasks)

    seeds = [_seeds(name) for name in (first, second)]
    if any(seeds):
        if set(seeds[0]) != set(seeds[1]):
            first_seeds, second_seeds = (", ".join(side) or "no seeds" for side in seeds)
            raise ValueError(
                f"a paired test needs the same seeds: {first} has {first_seeds}; {second} has {second_seeds}"
            )
        by_seed = [[scores_of(side[seed]).scores for seed in sorted(side)] for side in seeds]
        shared = [name for name in by_seed[0][0] if all(name in scores for side in by_seed for scores in side)]
        columns = {name: [[scores[name] for scores in side] for side in by_seed] for name in shared}
        comparisons = [paired_t_test(one, two, name) for name, (one, two) in columns.items()]
    else:
        sides = [scores_of(name) for name in (first, second)]
        comparisons = paired(sides[0], sides[1], metric)
        columns = {line.name: [[scores.scores[line.name]] for scores in sides] for line in comparisons}
    options.print_table({f"{line.name}, {line.test}": _row(line, columns[line.name]) for line in comparisons}, form)


def _row(line: "Comparison", columns: Sequence[Sequence[float]]) -> dict[str, Any]:
    from statistics import mean

    first, second = map(mean, columns)
    return {
        "first": first,
        "second": second,
        "difference": f"{line.difference:+.2f}",
        "95 % interval": "{:+.2f} to {:+.2f}".format(*line.interval),
        "p": f"{line.p_value:.3g}",
        "over": str(line.samples),
    }


def _seeds(name: str) -> dict[str, str]:
    """The runs by seed in a folder from `train --seeds`; empty for everything else."""
    folder = Path(name)
    if not folder.is_dir() or (folder / "config.json").exists():
        return {}
    return {run.name.removeprefix("seed-"): str(run) for run in folder.glob("seed-*") if (run / "config.json").exists()}
