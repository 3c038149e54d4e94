"""`cselab data` and `cselab world`: public data sets, and text from the bundled world."""

from collections.abc import Sequence
from pathlib import Path

import click

from cselab._util.arguments import did_you_mean

from . import options
from .frame import Group

data = Group("data", help="Check, fetch and convert public data sets.")


@data.command("check")
@options.argument(
    "folder", required=False, type=options.PATH, help="SentEval folder or its parent; default: CSELAB_DATA"
)
@click.option("--allow-missing", is_flag=True, help="accept missing data sets")
def data_check(folder: Path | None, allow_missing: bool) -> int:
    """Verify the data sets in FOLDER (row counts and checksums).

    Exits with 1 if a data set is damaged or missing.
    """
    from cselab.data import check, senteval_folder

    checked = check(folder)
    missing = sum(line.status == "missing" for line in checked)
    if missing == len(checked):
        senteval_folder(folder)  # raises if the folder does not exist
        raise ValueError(f"no data sets in {folder or senteval_folder()}: run `cselab data fetch`")
    for line in checked:
        click.echo(str(line))
    if missing and not allow_missing:
        click.echo(
            f"{missing} of {len(checked)} are missing: run `cselab data fetch`, or add --allow-missing", err=True
        )
    return any(line.status == "damaged" for line in checked) or (missing > 0 and not allow_missing)


@data.command("fetch")
@options.argument(
    "names",
    nargs=-1,
    metavar="[CORPUS|FOLDER]...",
    help="training corpora (wiki1m, nli, simplewiki; default: the evaluation sets), and a folder, which is created "
    "(default: CSELAB_DATA, or ~/.cache/cselab/data)",
)
@click.option("--task", "tasks", multiple=True, help="only this evaluation set; may be repeated")
def data_fetch(names: Sequence[str], tasks: Sequence[str]) -> int:
    """Fetch data from the Hugging Face hub into FOLDER.

    All files are checked. Exits with 1 if a file is refused.

    Evaluation sets: STS and transfer, in SentEval's layout (one archive of 90 MB). `wiki1m`: the million sentences
    of SimCSE and later papers (120 MB). `nli`: 275,601 sentences, each with an entailment and a contradiction.
    `simplewiki`: 102,225 sentences of Simple English Wikipedia (8 MB).
    """
    from cselab.data import folder_to_fill
    from cselab.data.fetch import NOT_ON_THE_HUB, fetch
    from cselab_lab.experiments.corpora import CORPORA, fetch_corpus

    corpora = [name for name in names if name in CORPORA]
    folders = [name for name in names if name not in CORPORA]
    if len(folders) > 1:
        hint = did_you_mean(folders[0], CORPORA)
        raise ValueError(f"more than one folder: {', '.join(folders)}.{hint} Corpora are {', '.join(CORPORA)}")
    folder = Path(folders[0]) if folders else None
    if corpora and tasks:
        raise ValueError("--task names evaluation sets: fetch corpora without --task")
    for name in corpora:
        place, new = fetch_corpus(name, folder or folder_to_fill())
        text = "not verified: no checksum is published" if CORPORA[name].sha256 is None else "as published"
        click.echo(f"{'fetched' if new else 'kept':8} {name:8} {place} ({CORPORA[name].rows:,} rows, text {text})")
    refused = False
    for fetched in () if corpora else fetch(folder, list(tasks) or None):
        click.echo(str(fetched))
        refused = refused or fetched.status == "refused"
    if not corpora and not tasks:
        click.echo(NOT_ON_THE_HUB)
    return refused


@data.command("negate")
@options.argument("corpus", type=options.TEXT_FILE, help="text, one sentence per line")
@options.argument("output", type=options.OUTPUT_FILE, help="the table to write: sentence, tab, negation")
def data_negate(corpus: Path, output: Path) -> None:
    """Write a table with a negation of each sentence in CORPUS.

    Rules make the negations; sncse and sncse_dropout train on the table.
    """
    from cselab._util.writing import written_whole
    from cselab.augmentations import negate
    from cselab.augmentations.words import UNTRUE
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


world = Group("world", help="Print text from the bundled world. The same seed gives the same text.")


def _drawn(default: str) -> list:
    return [
        options.argument("n", help="number to print", **options.COUNT),
        click.option(
            "--split", default=default, type=click.Choice(["train", "dev", "test"]), help="splits share no stories"
        ),
        click.option("--seed", default=0, metavar="N", help="random seed"),
    ]


@world.command("sentences")
@options.several(*_drawn("train"))
def world_sentences(n: int, split: str, seed: int) -> None:
    """Print N different sentences, one per line."""
    from cselab.world import World

    for sentence in World(seed).sentences(n, split):
        click.echo(sentence.text)


@world.command("pairs")
@options.several(*_drawn("test"))
def world_pairs(n: int, split: str, seed: int) -> None:
    """Print N graded pairs, one per line.

    Each line has a sentence, a second sentence, a grade from 0 to 5 and the kind of pair, separated by tabs.
    """
    from cselab.world import World

    pairs = World(seed).sts(n, split)
    for row in zip(pairs.sentences1, pairs.sentences2, pairs.scores, pairs.subsets, strict=True):
        click.echo("\t".join(map(str, row)))
