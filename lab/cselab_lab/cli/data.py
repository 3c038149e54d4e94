"""`cselab data`: the public data sets on this machine."""

from collections.abc import Sequence
from pathlib import Path

import click

from cselab._util.choices import did_you_mean
from cselab_lab.cli.frame import Group
from cselab_lab.cli.options import PATH, TEXT_FILE, data_folder

data = Group("data", help="The public data sets on this machine.")


@data.command("check")
@click.argument("folder", required=False, type=PATH, help="SentEval folder, or one above it; default: as for --data")
@data_folder
@click.option("--allow-missing", is_flag=True, help="sets that are not there do not fail the check")
@click.pass_context
def data_check(context: click.Context, folder: Path | None, data: Path | None, allow_missing: bool) -> None:
    """Hold the data sets in FOLDER against what is known of them.

    That is their rows and their content. Fails if any is damaged or missing.
    """
    if folder is not None and data is not None:
        raise ValueError(f"two folders: {folder} and --data {data}; name one")
    from cselab.data import check, senteval_folder

    folder = folder or data
    checked = check(folder)
    if all(line.status == "missing" for line in checked):
        senteval_folder(folder)  # raises, where there is no such folder at all
        raise ValueError(
            f"none of the data sets is in {folder or senteval_folder()}: get them with `cselab data fetch`"
        )
    for line in checked:
        click.echo(str(line))
    missing = sum(line.status == "missing" for line in checked)
    if missing and not allow_missing:
        click.echo(f"{missing} of {len(checked)} are missing: `cselab data fetch`, or --allow-missing", err=True)
    if any(line.status == "damaged" for line in checked) or (missing and not allow_missing):
        context.exit(1)


@data.command("fetch")
@click.argument(
    "what",
    nargs=-1,
    metavar="[CORPUS|FOLDER]...",
    help="training corpora (wiki1m, nli, simplewiki), or none of them for the evaluation sets; and the folder, made "
    "if need be (default: CSELAB_DATA, or ~/.cache/cselab/data)",
)
@click.option("--task", "tasks", multiple=True, help="only this evaluation set; may be repeated")
@click.pass_context
def data_fetch(context: click.Context, what: Sequence[str], tasks: Sequence[str]) -> None:
    """Get data from the Hugging Face hub into FOLDER.

    All is checked; fails if something is refused.

    Evaluation sets: STS and transfer, in SentEval's layout (one archive of 90 MB). `wiki1m`: the million sentences
    that SimCSE and its followers train on (120 MB). `nli`: 275,601 sentences with an entailment and a contradiction
    each. `simplewiki`: 102,225 sentences of Simple English Wikipedia (8 MB).
    """
    from cselab.data import folder_to_fill
    from cselab.data.corpora import CORPORA, fetch_corpus

    names = [name for name in what if name in CORPORA]
    folders = [name for name in what if name not in CORPORA]
    if len(folders) > 1:
        hint = did_you_mean(folders[0], CORPORA)
        raise ValueError(f"more than one folder: {', '.join(folders)}.{hint} Corpora are {', '.join(CORPORA)}")
    folder = Path(folders[0]) if folders else None
    if not names:
        context.exit(_fetch_sets(folder, list(tasks) or None))
    if tasks:
        raise ValueError("--task names evaluation sets: leave it out to fetch a corpus, or fetch the sets apart")
    for name in names:
        place, fetched = fetch_corpus(name, folder or folder_to_fill())
        click.echo(f"{'fetched' if fetched else 'kept':8} {name:8} {place} ({CORPORA[name].rows:,} rows)")


@data.command("negate")
@click.argument("corpus", type=TEXT_FILE, help="text, one sentence per line")
@click.argument("output", type=PATH, help="the table to write: sentence, tab, negation")
def data_negate(corpus: Path, output: Path) -> None:
    """Write a negation beside each sentence of CORPUS.

    Negations are made by rule; the table is what sncse and sncse_dropout train on.
    """
    from cselab._util.writing import written_whole
    from cselab.augmentations import negate
    from cselab.augmentations.negation import UNTRUE
    from cselab.data import read_sentences

    rows = untrue = 0
    sentences = read_sentences(corpus)
    with written_whole(output) as aside, open(aside, "w", encoding="utf-8", newline="\n") as file:
        file.write("sentence\tnegation\n")
        for sentence in (" ".join(sentence.split()) for sentence in sentences):
            denial = negate(sentence)
            file.write(f"{sentence}\t{denial}\n")
            rows, untrue = rows + 1, untrue + denial.startswith(UNTRUE)
    click.echo(f"{output}: {rows:,} rows, {untrue:,} of them denied by {UNTRUE!r}")


def _fetch_sets(folder: Path | None, tasks: list[str] | None) -> int:
    """Fetch evaluation sets; the exit code, 1 where one was refused."""
    from cselab.data.fetch import ELSEWHERE, fetch

    refused = 0
    for fetched in fetch(folder, tasks):
        click.echo(str(fetched))
        refused += fetched.status == "refused"
    if not tasks:
        click.echo(ELSEWHERE)
    return int(refused > 0)
