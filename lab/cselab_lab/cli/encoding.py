"""`cselab encode` and `search`: the vectors of a file's sentences."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from cselab._util.progress import is_quiet
from cselab_lab.cli import options
from cselab_lab.cli.frame import Command
from cselab_lab.cli.tables import print_table


@click.command(cls=Command)
@options.encoder
@click.argument("corpus", type=options.CORPUS_FILE, help=options.CORPUS)
@click.option(
    "--output",
    required=True,
    type=options.PATH,
    help="VECTORS.npy, written as it goes; or .safetensors, held in memory",
)
@click.option("--batch-size", default=64, help="sentences per forward pass", **options.COUNT)
@click.option("--normalize", is_flag=True, help="scale vectors to length one")
@options.several(options.column, options.pooling, options.prompt_name, options.precision, options.device, options.quiet)
@click.pass_context
def encode(
    context: click.Context,
    encoder: str,
    corpus: Path,
    output: Path,
    batch_size: int,
    normalize: bool,
    column: str | None,
    prompt_name: str | None,
    device: str | None,
    **given: Any,
) -> None:
    """Write the vectors of a file's sentences.

    An array of float32 [n, d], a row for each of the file's; a file with a row without text is refused.
    """
    if options.writable(output).suffix not in (".npy", ".safetensors"):
        raise ValueError(f"output must end in .npy or .safetensors, got {output}")
    from cselab.data import read_sentences

    sentences = read_sentences(corpus, column, every_row=True)
    options.tell_column(corpus, column)
    from safetensors.numpy import save_file

    from cselab._util.writing import written_whole
    from cselab.encoders.encoder import SentenceEncoder
    from cselab.encoders.streaming import encode_to_file

    model: Any = SentenceEncoder.from_pretrained(encoder, device=options.accelerator(device), **given)
    model = options.over_processes(context, model)
    how: dict[str, Any] = {"normalize_embeddings": normalize, "prompt_name": prompt_name}
    if output.suffix == ".npy":
        vectors: Any = encode_to_file(model, sentences, output, batch_size, **how)
    else:
        vectors = model.encode(list(sentences), batch_size, True, **how)
        if options.is_main_process():
            with written_whole(output) as aside:
                save_file({"vectors": vectors}, aside)
    if not is_quiet():
        click.echo(f"{len(vectors)} vectors of width {vectors.shape[1]} in {output}")


@click.command(cls=Command)
@options.encoder
@click.argument("file", type=options.CORPUS_FILE, help=options.CORPUS)
@click.argument("query", nargs=-1, required=True, help="what to look for; several queries get a list each")
@click.option("--prompt-name", metavar="NAME", help="of the encoder's prompts, such as query; put before the queries")
@click.option("--top", default=10, help="how many sentences to show", **options.COUNT)
@options.several(options.column, options.pooling, options.table_form, options.device, options.quiet)
def search(
    encoder: str,
    file: Path,
    query: Sequence[str],
    prompt_name: str | None,
    top: int,
    column: str | None,
    pooling: str | None,
    form: str,
    device: str | None,
) -> None:
    """Find the sentences of a file that are nearest to a query.

    By cosine; each is shown with the number of its line.
    """
    from cselab.data.rows import numbered_sentences

    lines = dict(numbered_sentences(file, column))
    options.tell_column(file, column)
    import numpy as np

    from cselab.encoders.encoder import SentenceEncoder

    model = SentenceEncoder.from_pretrained(encoder, pooling=pooling, device=options.accelerator(device))
    asked_for = model.encode(list(query), normalize_embeddings=True, prompt_name=prompt_name)
    numbers, scores = list(lines), model.encode(list(lines.values()), normalize_embeddings=True) @ asked_for.T
    for place, asked in enumerate(query):
        nearest = np.argsort(-scores[:, place], kind="stable")[:top]
        if len(query) > 1 and form == "text":
            click.echo("\n" * bool(place) + asked)
        rows = {
            str(numbers[row]): {"cosine": float(scores[row, place]), "sentence": lines[numbers[row]]} for row in nearest
        }
        if form == "text":
            for line, row in rows.items():
                click.echo(f"{row['cosine']:6.3f}  line {line}: {row['sentence']}")
        else:
            print_table(rows, form, digits=3, corner="line")
