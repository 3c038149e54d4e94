"""`cselab data`: the public data sets on this machine."""

from pathlib import Path
from typing import Annotated

import typer

from cselab.lab.cli.frame import Command, group
from cselab.lab.cli.options import FILE, DataFolder
from cselab.nearest import did_you_mean

data_app = group("The public data sets on this machine.")


@data_app.command("check", cls=Command)
def data_check(
    folder: Annotated[
        Path | None, typer.Argument(help="SentEval folder, or one above it; default: as for --data")
    ] = None,
    data: DataFolder = None,
) -> None:
    """Hold the data sets in FOLDER against what is known of them.

    That is their rows and their content. Fails if any is damaged.
    """
    if folder is not None and data is not None:
        raise ValueError(f"two folders: {folder} and --data {data}; name one")
    from cselab.data import check, senteval_folder

    folder = folder or data
    found = check(folder)
    if all(line.status == "missing" for line in found):
        senteval_folder(folder)  # raises, where there is no such folder at all
        raise ValueError(
            f"none of the data sets is in {folder or senteval_folder()}: get them with `cselab data fetch`"
        )
    for line in found:
        typer.echo(str(line))
    if any(line.status == "damaged" for line in found):
        raise typer.Exit(1)


@data_app.command("fetch", cls=Command)
def data_fetch(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CORPUS|FOLDER",
            help="training corpora (wiki1m, nli, simplewiki), or none of them for the evaluation sets; and the folder, "
            "made if need be (default: CSELAB_DATA, or ~/.cache/cselab/data)",
        ),
    ] = None,
    task: Annotated[list[str] | None, typer.Option(help="only this evaluation set; may be repeated")] = None,
) -> None:
    """Get data from the Hugging Face hub into FOLDER.

    All is checked; fails if something is refused.

    Evaluation sets: STS and transfer, in SentEval's layout (one archive of 90 MB). `wiki1m`: the million sentences
    that SimCSE and its followers train on (120 MB). `nli`: 275,601 sentences with an entailment and a contradiction
    each. `simplewiki`: 102,225 sentences of Simple English Wikipedia (8 MB), for corpora that are half the world.
    """
    from cselab.data import data_root
    from cselab.data.corpora import CORPORA, fetch_corpus

    names = [name for name in what or () if name in CORPORA]
    folders = [name for name in what or () if name not in CORPORA]
    if len(folders) > 1:
        hint = did_you_mean(folders[0], CORPORA)
        raise ValueError(f"more than one folder: {', '.join(folders)}.{hint} Corpora are {', '.join(CORPORA)}")
    folder = Path(folders[0]) if folders else None
    if not names:
        _fetch_sets(folder, task)
        return
    if task:
        raise ValueError("--task names evaluation sets: leave it out to fetch a corpus, or fetch the sets apart")
    for name in names:
        place, fetched = fetch_corpus(name, folder or data_root() or Path("."))
        typer.echo(f"{'fetched' if fetched else 'kept':8} {name:8} {place} ({CORPORA[name].rows:,} rows)")


@data_app.command("negate", cls=Command)
def data_negate(
    corpus: Annotated[Path, typer.Argument(help="text, one sentence per line", **FILE)],
    output: Annotated[Path, typer.Argument(help="the table to write: sentence, tab, negation")],
) -> None:
    """Write a negation beside each sentence of CORPUS.

    Negations are made by rule; the table is what sncse and sncse_dropout train on.
    """
    from cselab.augmentations import negate
    from cselab.augmentations.negation import UNTRUE
    from cselab.data import read_sentences
    from cselab.storage.writing import written_whole

    rows = untrue = 0
    sentences = read_sentences(corpus)
    with written_whole(output) as aside, open(aside, "w", encoding="utf-8", newline="\n") as file:
        file.write("sentence\tnegation\n")
        for sentence in (" ".join(sentence.split()) for sentence in sentences):
            denial = negate(sentence)
            file.write(f"{sentence}\t{denial}\n")
            rows, untrue = rows + 1, untrue + denial.startswith(UNTRUE)
    typer.echo(f"{output}: {rows:,} rows, {untrue:,} of them denied by {UNTRUE!r}")


def _fetch_sets(folder: Path | None, task: list[str] | None) -> None:
    from cselab.data.fetch import ELSEWHERE, fetch

    refused = 0
    for fetched in fetch(folder, task):
        typer.echo(str(fetched))
        refused += fetched.status == "refused"
    if not task:
        typer.echo(ELSEWHERE)
    if refused:
        raise typer.Exit(1)
