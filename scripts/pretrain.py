"""How the bundled encoders were made: `python scripts/pretrain.py OUTPUT --corpus FILE`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from cselab_lab.cli.frame import Command, group
from cselab_lab.cli.options import FILE, Settings, read_settings
from cselab_lab.headless.parameters import typed_parameters
from pretraining.pretrain import PretrainConfig, pretrain_from_files

app = group("How the bundled encoders were made.")


@app.command(cls=Command)
def pretrain(
    output: Annotated[Path, typer.Argument(help="folder of the run; afterwards a plain encoder")],
    neighbours: Annotated[
        list[Path] | None, typer.Option(help="corpus whose lines follow one another; may be repeated", **FILE)
    ] = None,
    corpus: Annotated[
        list[Path] | None, typer.Option(help="corpus of scattered sentences; may be repeated", **FILE)
    ] = None,
    tokenizer: Annotated[Path | None, typer.Option(help="folder of a tokenizer; default: train one")] = None,
    tokens_from: Annotated[
        Path | None, typer.Option(help="folder of an encoder whose input vectors start the token table")
    ] = None,
    settings: Settings = None,
) -> None:
    """Pretrain a small plain BERT.

    By masked words and next passages. Where OUTPUT holds an unfinished run, that run is continued.

    --set takes the fields of PretrainConfig: layers, width, heads, vocabulary, length, steps, batch_size, lr ...
    """
    defaults = asdict(PretrainConfig())
    config = PretrainConfig(**{**defaults, **typed_parameters("pretrain", defaults, read_settings(settings))})
    pretrain_from_files(output, neighbours or [], corpus or [], config, tokenizer=tokenizer, tokens_from=tokens_from)
    typer.echo(f"plain encoder in {output}")


if __name__ == "__main__":
    app()
