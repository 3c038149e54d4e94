"""`cselab diagnose`, `explain-score`, `words` and `ties`: faults, unexpected scores, cosines, and systems that tie."""

from pathlib import Path
from typing import Any

import click

from . import options, terminal
from .frame import Command
from .names import names

PAIRS_TASK = options.CheckedValue(
    "TASK", lambda name: name if Path(name).is_file() else options.TASK.check(name), lambda: names("tasks")
)
SCORES = options.CheckedValue("FILE", lambda name: Path(name) if Path(name).is_dir() else options.TEXT_FILE.check(name))


@click.command(cls=Command)
@options.argument(
    "subject",
    type=options.ENCODER,
    is_eager=True,
    help="folder of a run, of its seeds, or of vectors; a .npy or .safetensors file; an encoder's folder or name",
)
@click.option("--texts", type=options.TEXT_FILE, help="texts to encode, or the texts of the vectors, one per line")
@click.option("--corpus", type=options.TEXT_FILE, help="the training corpus, to look for faults in it")
@click.option("--test", type=PAIRS_TASK, help="an STS task or a file of pairs, to look for its pairs in the corpus")
@options.several(options.column, options.pooling, options.data_folder)
@options.several(options.text_form, options.quiet)
def diagnose(subject: str, test: str | None, pooling: str | None, form: str, **given: Any) -> int:
    """Check a run, an encoder or vectors for known faults.

    Prints the number and the threshold of each sign, and advice for each fault. Exits with 1 if a fault was found.
    """
    from cselab.data import read_sentences
    from cselab_lab.diagnosis import diagnose as examine
    from cselab_lab.diagnosis.explaining import pairs_by_split

    read: dict[str, Any] = {
        name: list(read_sentences(given[name], given["column"], every_row=name == "texts"))
        for name in ("texts", "corpus")
        if given[name]
    }
    if test is not None:
        read["test"] = next(iter(pairs_by_split(test, given["data"]).values()))
    diagnosis = examine(subject, pooling=pooling, **read)
    if form == "json":
        options.print_result(diagnosis, form)
    else:
        _print_signs(diagnosis)
    return bool(diagnosis.findings)


def _print_signs(diagnosis: Any) -> None:
    """A line for each sign; below, the evidence and the advice of each fault."""
    from cselab_lab.diagnosis.report import not_checked
    from cselab_lab.diagnosis.signs import SIGNS

    terminal.print_line(diagnosis.headline, "bold red" if diagnosis.findings else "bold green")
    rows = {}
    for name, value in diagnosis.metrics.items():
        sign = SIGNS[name]
        limit = f"{'above' if sign.above else 'below'} {sign.threshold:g}"
        rows[name] = {"": "FAULT" if sign.is_met(value) else "ok", "number": f"{value:.3g}", "fault if": limit}
    options.print_table(rows, "text")
    for finding in diagnosis.findings:
        click.echo(f"\n{finding}")
    for line in not_checked(diagnosis.unseen):
        click.echo(line)


@click.command(cls=Command)
@options.encoder
@click.option(
    "--task", required=True, type=PAIRS_TASK, help="an STS task: STS12, STS-B/dev, Classroom-STS; or a file of pairs"
)
@click.option("--expected", required=True, metavar="NUMBER", help="the score; more digits: smaller tolerance")
@options.several(options.data_folder, options.pooling)
@click.option("--changes", default=2, help="largest number of settings to change at once", **options.COUNT)
@options.several(options.text_form, options.device, options.quiet)
def explain_score(encoder: str, task: str, expected: str, form: str, **given: Any) -> int:
    """Find the evaluation setting that explains a score.

    Tries pooling, aggregation of subsets, head, normalisation, split, longest input, prompt, centring, whitening and
    metric. Exits with 1 if no setting gives the score.
    """
    from cselab_lab.diagnosis import explain_score as explain

    model = options.open_encoder(encoder, given)
    explanation = explain(model, task, expected, given["data"], given["changes"])
    options.print_result(explanation, form)
    return not explanation.explained


@click.command(cls=Command)
@options.encoder
@options.argument("first", type=options.TEXT, help="a sentence")
@options.argument("second", type=options.TEXT, help="the sentence to compare it with")
@options.several(options.pooling, *options.posthoc, options.table_form, options.device, options.quiet)
def words(encoder: str, first: str, second: str, posthoc: str | None, fit: str | None, form: str, **given: Any) -> None:
    """Find the words that make two sentences alike.

    Prints the contribution of each pair of words to the cosine. With mean pooling, the contributions sum to the cosine.
    With other poolings, the number of a word is the change of the cosine after its removal.
    """
    import numpy as np
    from pandas import DataFrame

    from cselab.encoders import explain_cosine
    from cselab.evaluators import fitted
    from cselab_lab.tables import table

    options.check_fit(posthoc, fit)
    model = options.open_encoder(encoder, given)
    parts = explain_cosine(fitted(model, posthoc, fit or "world") if posthoc else model, first, second)
    if form == "json":
        plain = {
            name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(parts).items()
        }
        options.print_json({"how": parts.how} | plain)
        return
    if form == "text":
        click.echo(f"cosine {parts.cosine:.3f}: {parts.how}\n")
    if parts.pairs is None:
        frame = DataFrame({"part": [*parts.of_first, *parts.of_second]}, index=[*parts.first, *parts.second])
    else:
        numbers = np.block([[parts.pairs, parts.of_first[:, None]], [parts.of_second, parts.cosine]])
        frame = DataFrame(numbers, index=[*parts.first, "sum"], columns=[*parts.second, "sum"])
        if form == "text" and terminal.is_rich():
            terminal.print_heat_map(frame)
            return
    click.echo(table(frame, digits=3, form=form).rstrip("\n"))


@click.command(cls=Command)
@options.argument(
    "scores",
    type=SCORES,
    help="a table (.csv, .tsv) with a row per system and a column per task or seed; or with columns system, task, "
    "score; or a folder of MTEB's results",
)
@options.several(options.table_form, options.quiet)
def ties(scores: Path, form: str) -> None:
    """Find the systems in a table of scores that tie.

    Prints the possible ranks of each system, groups of ties, and p-values for neighbours, corrected for all pairs.
    """
    from cselab_lab.diagnosis import tie_table

    tied = tie_table(scores)
    options.print_table(tied.rows(), form, corner="system")
    if form in ("text", "md"):
        click.echo(f"\n{tied.note()}")
