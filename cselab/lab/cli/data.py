"""`cselab data`: the public data sets on this machine."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from cselab.lab.cli.frame import Command, group

data_app = group("The public data sets on this machine.")


@data_app.command("check", cls=Command)
def data_check(
    folder: Annotated[Path | None, typer.Argument(help="SentEval folder, or one above it")] = None,
) -> None:
    """Compare the data sets in FOLDER with what is known of them: rows, content. Fails if any is damaged."""
    from cselab.data import check, senteval_folder

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
    folder: Annotated[
        Path | None, typer.Argument(help="SentEval folder, made if need be; default: as for --data")
    ] = None,
    task: Annotated[list[str] | None, typer.Option(help="only this set; may be repeated")] = None,
    source: Annotated[
        Literal["simcse", "mteb"],
        typer.Option(help="simcse: all 14 sets, one archive of 90 MB; mteb: STS12 to STS16 and STS-B, 1 MB"),
    ] = "simcse",
) -> None:
    """Get the STS and transfer sets from the Hugging Face hub into FOLDER, each checked; fails if one is refused."""
    from cselab.data.fetch import ELSEWHERE, fetch

    refused = 0
    for fetched in fetch(folder, task, source):
        typer.echo(str(fetched))
        refused += fetched.status == "refused"
    if not task:
        typer.echo(ELSEWHERE)
    if refused:
        raise typer.Exit(1)
