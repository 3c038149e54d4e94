"""`cselab encode` and `search`: the vectors of the sentences in a file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from cselab._util.progress import is_quiet

from . import options
from .frame import Command


def _vector_file(name: str) -> Path:
    file = options.writable(name)
    if file.suffix not in (".npy", ".safetensors"):
        raise ValueError(f"output must end in .npy or .safetensors, got {name}")
    return file


@click.command(cls=Command)
@options.encoder
@options.argument("corpus", type=options.CORPUS_FILE, help=options.CORPUS)
@click.option(
    "--output",
    required=True,
    type=options.CheckedValue("FILE", _vector_file),
    help="VECTORS.npy, written in parts; or .safetensors, held in memory",
)
@click.option("--batch-size", default=64, help="sentences per forward pass", **options.COUNT)
@click.option("--normalize", is_flag=True, help="scale vectors to length one")
@options.several(options.column, options.pooling, options.prompt_name, options.precision, options.device, options.quiet)
@click.pass_context
def encode(
    context: click.Context, encoder: str, corpus: Path, output: Path, batch_size: int, column: str | None, **given: Any
) -> None:
    """Write the vectors of the sentences in a file.

    The result is an array of float32 [n, d] with a row for each sentence. A file with empty rows is refused.
    """
    from cselab.data import read_sentences

    sentences = read_sentences(corpus, column, every_row=True)
    options.print_column(corpus, column)
    from safetensors.numpy import save_file

    from cselab._util.writing import written_whole
    from cselab.encoders.streaming import encode_to_file

    how = {"normalize_embeddings": given.pop("normalize"), "prompt_name": given.pop("prompt_name")}
    model = options.over_processes(context, options.open_encoder(encoder, given))
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
@options.argument("file", type=options.CORPUS_FILE, help=options.CORPUS)
@options.argument(
    "query", nargs=-1, required=True, type=options.TEXT, help="text to search for; each query has a list of results"
)
@click.option("--prompt-name", metavar="NAME", help="encoder prompt to put before each query: query ...")
@click.option("--top", default=10, help="number of sentences to show", **options.COUNT)
@options.several(options.column, options.pooling, options.table_form, options.device, options.quiet)
def search(
    encoder: str, file: Path, query: Sequence[str], top: int, column: str | None, form: str, **given: Any
) -> None:
    """Find the sentences in a file nearest to a query.

    Sentences are sorted by cosine and shown with their line numbers.
    """
    from cselab.data.rows import numbered_sentences

    lines = dict(numbered_sentences(file, column))
    options.print_column(file, column)
    import numpy as np

    model = options.open_encoder(encoder, given)
    queries = model.encode(list(query), normalize_embeddings=True, prompt_name=given["prompt_name"])
    numbers, scores = list(lines), model.encode(list(lines.values()), normalize_embeddings=True) @ queries.T
    for place, text in enumerate(query):
        nearest = np.argsort(-scores[:, place], kind="stable")[:top]
        found = {str(numbers[row]): (float(scores[row, place]), lines[numbers[row]]) for row in nearest}
        if form == "text":
            if len(query) > 1:
                click.echo("\n" * bool(place) + text)
            for line, (cosine, sentence) in found.items():
                click.echo(f"{cosine:6.3f}  line {line}: {sentence}")
        else:
            rows = {line: {"cosine": cosine, "sentence": sentence} for line, (cosine, sentence) in found.items()}
            options.print_table(rows, form, digits=3, corner="line")
