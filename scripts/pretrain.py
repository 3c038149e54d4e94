"""How the bundled encoders were made: `python scripts/pretrain.py OUTPUT --corpus FILE`."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click
from cselab_lab.cli.frame import HELP, Command
from cselab_lab.cli.options import PATH, TEXT_FILE, read_settings, settings
from cselab_lab.headless.parameters import typed_parameters
from pretraining.pretrain import PretrainConfig, pretrain_from_files

TEXT = {"multiple": True, "type": TEXT_FILE}


@click.command(cls=Command, context_settings=HELP)
@click.argument("output", type=PATH, help="folder of the run; afterwards a plain encoder")
@click.option("--neighbours", help="corpus whose lines follow one another; may be repeated", **TEXT)
@click.option("--corpus", help="corpus of scattered sentences; may be repeated", **TEXT)
@click.option("--tokenizer", type=PATH, help="folder of a tokenizer  [default: train one]")
@click.option("--tokens-from", type=PATH, help="folder of an encoder whose input vectors start the token table")
@settings
def app(
    output: Path,
    neighbours: Sequence[Path],
    corpus: Sequence[Path],
    tokenizer: Path | None,
    tokens_from: Path | None,
    settings: Sequence[str],
) -> None:
    """Pretrain a small plain BERT.

    By masked words and next passages. Where OUTPUT holds an unfinished run, that run is continued.

    --set takes the fields of PretrainConfig: layers, width, heads, vocabulary, length, steps, batch_size, lr ...
    """
    defaults = asdict(PretrainConfig())
    config = PretrainConfig(**{**defaults, **typed_parameters("pretrain", defaults, read_settings(settings))})
    pretrain_from_files(output, neighbours, corpus, config, tokenizer=tokenizer, tokens_from=tokens_from)
    click.echo(f"plain encoder in {output}")


if __name__ == "__main__":
    app()
