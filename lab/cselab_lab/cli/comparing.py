"""`cselab compare`: whether one encoder is better than another."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cselab_lab.cli import options
from cselab_lab.cli.frame import Command
from cselab_lab.cli.measuring import MEASURED, suites_and_tasks
from cselab_lab.cli.tables import print_table

if TYPE_CHECKING:
    from cselab.evaluators import Scores
    from cselab.metrics import Comparison


@click.command(cls=Command)
@click.argument(
    "first", type=options.SCORED, help="an encoder as `evaluate` takes it, a folder of seeds, or results of MTEB"
)
@click.argument("second", type=options.SCORED, help="the other; differences are second minus first")
@options.several(*MEASURED)
@click.option(
    "--metric",
    default="spearman",
    type=click.Choice(["spearman", "pearson"]),
    help="for STS; transfer tasks are compared by accuracy",
)
@options.several(options.table_form, options.device, options.quiet)
def compare(
    first: str, second: str, tasks: Sequence[str], data: Path | None, metric: Any, form: str, **given: Any
) -> None:
    """Test whether one encoder is better than another.

    Paired tests on every task that both have.

    Two encoders are compared row by row (paired bootstrap; McNemar's test for classes). Two folders of seeds, as
    `train --seeds` writes them, are compared seed by seed (paired t-test). Two results that MTEB wrote, files or
    folders, are compared over their tasks.
    """
    from statistics import mean

    from cselab.evaluators import compare as paired
    from cselab.evaluators import evaluate, named_encoder
    from cselab.metrics import paired_t_test

    if results := _results(first, second):
        rows, notes = _over_tasks(*results)
        print_table(rows, form)
        for note in notes:
            click.echo(note, err=form not in ("text", "md"))
        return
    suites, tasks = suites_and_tasks(given["suites"], tasks, data, {"protocol": given["protocol"]})
    device = options.accelerator(given["device"])

    def scores_of(name: str) -> Any:
        return evaluate(named_encoder(name, given["pooling"], None, device), suites, data, tasks or None)

    seeds = [_seeds(name) for name in (first, second)]
    if any(seeds):
        if set(seeds[0]) != set(seeds[1]):
            raise ValueError(
                f"{first} has the seeds {', '.join(seeds[0]) or 'of one run'} and {second} "
                f"{', '.join(seeds[1]) or 'of one run'}: a paired test needs the same"
            )
        by_seed = [[scores_of(side[seed]).scores for seed in sorted(side)] for side in seeds]
        shared = [name for name in by_seed[0][0] if all(name in scores for side in by_seed for scores in side)]
        columns = {name: [[scores[name] for scores in side] for side in by_seed] for name in shared}
        comparisons = [paired_t_test(one, other, name) for name, (one, other) in columns.items()]
        means = {name: [mean(side) for side in both] for name, both in columns.items()}
    else:
        both = [scores_of(name) for name in (first, second)]
        comparisons = paired(both[0], both[1], metric)
        means = {line.name: [scores.scores[line.name] for scores in both] for line in comparisons}
    print_table({f"{line.name}, {line.test}": _row(line, *means[line.name]) for line in comparisons}, form)


def _row(line: "Comparison", first: float, second: float) -> dict[str, Any]:
    return {
        "first": first,
        "second": second,
        "difference": f"{line.difference:+.2f}",
        "95 % interval": "{:+.2f} to {:+.2f}".format(*line.interval),
        "p": f"{line.p_value:.3g}",
        "over": str(line.samples),
    }


def _results(*names: str) -> "list[Scores]":
    """The scores of two results of MTEB, or nothing where encoders were named.

    Raises:
        ValueError: only one of the two is a result, or a folder has those of several models.
    """
    from cselab.integrations.mteb import is_results, read_results

    are = [is_results(name) for name in names]
    if not any(are):
        return []
    if not all(are):
        result, encoder = sorted(names, key=lambda name: not is_results(name))
        raise ValueError(f"{result} has results of MTEB, which have no predictions: {encoder} cannot be paired with it")
    scores: list[Scores] = []
    for name in names:
        by_model = read_results(name)
        if len(by_model) > 1:
            raise ValueError(
                f"{name} has the results of several models ({', '.join(by_model)}): name the folder of one"
            )
        scores += by_model.values()
    return scores


def _over_tasks(first: Any, second: Any) -> tuple[dict[str, dict[str, Any]], Sequence[str]]:
    """A line a task that both have, and one of the test over them; and what was left out."""
    from statistics import mean

    from cselab.evaluators import compare as paired
    from cselab.evaluators.comparison import shared_scores

    both, _ = shared_scores([first.records, second.records])
    comparisons = paired(first, second)
    (line,) = comparisons
    rows: dict[str, dict[str, Any]] = {
        task: {"first": one, "second": other, "difference": f"{other - one:+.2f}"}
        for task, (one, other) in both.items()
    }
    means = [mean(side) for side in zip(*both.values(), strict=True)]
    return rows | {f"{line.name}, {line.test}": _row(line, *means)}, comparisons.notes


def _seeds(name: str) -> dict[str, str]:
    """The runs in a folder that `train --seeds` wrote, by seed; of anything else none."""
    folder = Path(name)
    if not folder.is_dir() or (folder / "config.json").exists():
        return {}
    return {run.name.removeprefix("seed-"): str(run) for run in folder.glob("seed-*") if (run / "config.json").exists()}
