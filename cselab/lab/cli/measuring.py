"""`cselab evaluate`, `references` and `encode`: what an encoder is worth, and its vectors."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from cselab.lab.cli.options import DataFolder, EncoderName, Pooling, Protocol, Suites, Tasks, writable


def evaluate(
    encoder: EncoderName,
    suite: Suites,
    task: Tasks = None,
    data: DataFolder = None,
    pooling: Pooling = None,
    representation: Annotated[str | None, typer.Option(help="backbone or head")] = None,
    aggregation: Annotated[
        str | None, typer.Option(help="of sts: all (the default), mean or weighted_mean")
    ] = None,
    protocol: Protocol = None,
    split: Annotated[
        str | None, typer.Option(help="of geometry: dev (the default), test, train, full")
    ] = None,
    posthoc: Annotated[
        Literal["whitening", "flow"] | None,
        typer.Option(help="transform the vectors: BERT-whitening or BERT-flow"),
    ] = None,
    fit: Annotated[
        str | None,
        typer.Option(help="text file that --posthoc is fitted on; default: 5000 sentences of the world"),
    ] = None,
    cache: Annotated[Path | None, typer.Option(help="folder that keeps vectors between calls")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="write scores and records here")] = None,
) -> None:
    """Score an encoder; fails if a task has no score.

    ENCODER is a folder or name, `random`, `word-overlap`, `static:FILE` (averaged word vectors of a GloVe text
    file) or `static:ENCODER` (averaged input embeddings).
    """
    from cselab.evaluators import evaluate as score
    from cselab.evaluators import fitted, named_encoder

    if json_file is not None:
        writable(json_file)
    if fit is not None and posthoc is None:
        raise ValueError("--fit says what a transform is fitted on: give --posthoc whitening or flow, too")
    model: Any = named_encoder(encoder, pooling, representation)
    if posthoc is not None:
        model = fitted(model, posthoc, fit or "world")
    asked = {"aggregation": aggregation, "protocol": protocol, "split": split}
    options = {name: value for name, value in asked.items() if value is not None}
    scores = score(model, suite, data, task, cache=cache, **options)
    typer.echo(str(scores))
    if json_file is not None:
        scores.to_json(json_file)
    if scores.failures:
        raise typer.Exit(1)


def references(
    encoder: EncoderName,
    suite: Suites,
    task: Tasks = None,
    data: DataFolder = None,
    pooling: Pooling = None,
    protocol: Protocol = None,
    glove: Annotated[Path | None, typer.Option(help="word vectors in a text file, to be averaged")] = None,
    fit: Annotated[
        str,
        typer.Option(help="text file that whitening and flow are fitted on, or world: 5000 sentences of it"),
    ] = "world",
    json_file: Annotated[
        Path | None, typer.Option("--json", help="write all scores and records here")
    ] = None,
) -> None:
    """An encoder's scores beside chance, word overlap, averaged word vectors, BERT-whitening and BERT-flow."""
    from cselab.encoder import SentenceEncoder
    from cselab.evaluators import evaluate_beside
    from cselab.lab.table import table

    if json_file is not None:
        writable(json_file)
    model = SentenceEncoder.from_pretrained(encoder, pooling=pooling)
    options = {} if protocol is None else {"protocol": protocol}
    found = evaluate_beside(model, suite, data, task, text=fit, word_vectors=glove, **options)
    typer.echo(table({name: scores.scores for name, scores in found.items()}))
    failures = [
        f"{name}: {failed} failed: {reason}"
        for name, scores in found.items()
        for failed, reason in scores.failures.items()
    ]
    for line in failures:
        typer.echo(line)
    if json_file is not None:
        content = {name: scores.to_dict() for name, scores in found.items()}
        json_file.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    if failures:
        raise typer.Exit(1)


def encode(
    encoder: EncoderName,
    corpus: Annotated[Path, typer.Argument(help="text, one sentence a line; also .gz, .xz")],
    output: Annotated[Path, typer.Option(help="vectors.npy or vectors.safetensors")],
    pooling: Pooling = None,
    batch_size: Annotated[int, typer.Option(help="sentences a forward pass")] = 64,
    normalize: Annotated[bool, typer.Option(help="scale vectors to length one")] = False,
) -> None:
    """Write the vectors of the sentences of a file, in their order, float32 [n, d]."""
    import numpy as np
    from safetensors.numpy import save_file

    from cselab.data import read_sentences
    from cselab.encoder import SentenceEncoder

    if writable(output).suffix not in (".npy", ".safetensors"):
        raise ValueError(f"output must end in .npy or .safetensors, got {output}")
    model = SentenceEncoder.from_pretrained(encoder, pooling=pooling)
    vectors = model.encode(
        list(read_sentences(corpus)), batch_size, show_progress_bar=True, normalize_embeddings=normalize
    )
    if output.suffix == ".npy":
        np.save(output, vectors)
    else:
        save_file({"vectors": vectors}, output)
    typer.echo(f"{len(vectors)} vectors of width {vectors.shape[1]} in {output}")
