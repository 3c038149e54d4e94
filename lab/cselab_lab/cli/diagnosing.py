"""`cselab diagnose`, `explain-score` and `ties`: what is wrong, why a number is another, what can be told apart."""

import json
from pathlib import Path
from typing import Any

import click

from cselab_lab.cli import options
from cselab_lab.cli.frame import Checked, Command
from cselab_lab.cli.names import all_tasks, check_encoder, check_task
from cselab_lab.cli.tables import print_table

TEXT_OR_JSON = options.form("text", "json")


def _check_scores(name: str) -> Path:
    return Path(name) if Path(name).is_dir() else options.TEXT_FILE.check(name)


SUBJECT = Checked("SUBJECT", lambda name: name if Path(name).exists() else check_encoder(name), lambda: options.BUNDLED)


@click.command(cls=Command)
@click.argument(
    "subject",
    type=SUBJECT,
    is_eager=True,
    help="folder of a run, of its seeds, or of vectors; a .npy or .safetensors file; an encoder's folder or name",
)
@click.option("--texts", type=options.TEXT_FILE, help="what to encode, or what the vectors are of, a text a line")
@click.option("--corpus", type=options.TEXT_FILE, help="what was trained on, for the signs in it")
@options.several(options.column, options.pooling)
@click.option("--page", type=options.PATH, help="write a page with the pictures here (.html)")
@options.several(TEXT_OR_JSON, options.quiet)
@click.pass_context
def diagnose(
    context: click.Context,
    subject: str,
    texts: Path | None,
    corpus: Path | None,
    column: str | None,
    pooling: str | None,
    page: Path | None,
    form: str,
) -> None:
    """Name what is wrong with a run, an encoder or vectors.

    With the number that shows it, its threshold, and what to do. Ends with 1 where something was found.
    """
    if page is not None:
        options.writable(page)
    from cselab.data import read_sentences
    from cselab_lab.diagnosis import diagnose as examine

    files = {"texts": texts, "corpus": corpus}
    read = {name: list(read_sentences(file, column, name == "texts")) for name, file in files.items() if file}
    diagnosis = examine(subject, pooling=pooling, **read)
    click.echo(json.dumps(diagnosis.to_dict(), indent=1) if form == "json" else str(diagnosis))
    if page is not None:
        diagnosis.write_page(page)
    if diagnosis.findings:
        context.exit(1)


@click.command(cls=Command)
@options.encoder
@click.option(
    "--task",
    required=True,
    type=Checked("TASK", lambda name: name if Path(name).is_file() else check_task(name), all_tasks),
    help="an STS task, such as STS12, STS-B/dev or Classroom-STS, or a file of pairs",
)
@click.option("--expected", required=True, metavar="NUMBER", help="the score to explain; its digits say how exact")
@options.several(options.data_folder, options.pooling)
@click.option("--changes", default=2, help="how many choices may differ at once", **options.COUNT)
@options.several(TEXT_OR_JSON, options.device, options.quiet)
@click.pass_context
def explain_score(
    context: click.Context,
    encoder: str,
    task: str,
    expected: str,
    data: Path | None,
    pooling: str | None,
    changes: int,
    form: str,
    device: str | None,
) -> None:
    """Say which unsaid choice makes a score another than expected.

    Pooling, aggregation of subsets, head, normalisation, split, longest input, prompt, centring, whitening, metric.
    Ends with 1 where no choice gives the number.
    """
    from cselab.encoders.encoder import SentenceEncoder
    from cselab_lab.diagnosis import explain_score as explain

    model = SentenceEncoder.from_pretrained(encoder, pooling=pooling, device=options.accelerator(device))
    explanation = explain(model, task, expected, data, changes)
    click.echo(json.dumps(explanation.to_dict(), indent=1) if form == "json" else str(explanation))
    if not explanation.explained:
        context.exit(1)


@click.command(cls=Command)
@click.argument(
    "scores",
    type=Checked("FILE", _check_scores),
    help="a table (.csv, .tsv): a row a system and a column a task or seed; or system, task, score; or a row a pair "
    "with a column gold; or a folder of MTEB's results",
)
@options.several(options.table_form, options.quiet)
def ties(scores: Path, form: str) -> None:
    """Say which systems of a table of scores can be told apart.

    The ranks that each may have, groups that tie, and the p-value of each neighbour, all pairs counted.
    """
    from cselab_lab.diagnosis import tie_table

    tied = tie_table(scores)
    rows: dict[str, Any] = tied.rows()
    print_table(rows, form, corner="system")
    if form in ("text", "md"):
        click.echo(f"\n{tied.note()}")
