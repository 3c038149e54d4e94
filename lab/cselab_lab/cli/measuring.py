"""`cselab evaluate`, `references`, `compare`, `encode` and `search`: what an encoder is worth, and its vectors."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from cselab_lab.cli.options import (
    FILE,
    FIT,
    SCORED,
    DataFolder,
    Device,
    EncoderName,
    Format,
    Pooling,
    Precision,
    Protocol,
    Quiet,
    ScoredName,
    Suites,
    Tasks,
    TextFile,
    accelerator,
    is_main_process,
    over_processes,
    writable,
)
from cselab_lab.cli.tables import print_table, suites_or_default


def evaluate(
    context: typer.Context,
    encoder: ScoredName,
    suite: Suites = None,
    task: Tasks = None,
    data: DataFolder = None,
    pooling: Pooling = None,
    representation: Annotated[
        str | None,
        typer.Option(help="the vector that is scored: backbone or head; default: what the encoder's folder says"),
    ] = None,
    aggregation: Annotated[str | None, typer.Option(help="for sts: all (the default), mean or weighted_mean")] = None,
    protocol: Protocol = None,
    split: Annotated[str | None, typer.Option(help="for geometry: dev (the default), test, train or full")] = None,
    precision: Precision = "fp32",
    posthoc: Annotated[
        Literal["whitening", "flow"] | None, typer.Option(help="transform the vectors: BERT-whitening or BERT-flow")
    ] = None,
    fit: Annotated[
        str | None, typer.Option(help="text file to fit --posthoc on; default: 5000 sentences of the world", **FIT)
    ] = None,
    cache: Annotated[Path | None, typer.Option(help="folder in which vectors are kept between calls")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="write scores and records here")] = None,
    form: Format = "text",
    device: Device = None,
    quiet: Quiet = False,
) -> None:
    """Score an encoder; fails if a task has no score.

    ENCODER is a folder or name, `random`, `word-overlap`, `static:FILE` (averaged word vectors of a GloVe text
    file) or `static:ENCODER` (averaged input embeddings).
    """
    if json_file is not None:
        writable(json_file)
    if fit is not None and posthoc is None:
        raise ValueError("--fit says what a transform is fitted on: give --posthoc whitening or flow, too")
    from cselab.evaluators import fitted, named_encoder

    suites = suites_or_default(suite, data)
    model: Any = named_encoder(encoder, pooling, representation, accelerator(device), precision)
    if posthoc is not None:
        model = fitted(model, posthoc, fit or "world")
    options = {"aggregation": aggregation, "protocol": protocol, "split": split}
    model = over_processes(context, model)
    scores = _scores(model, suites, data, task, options, cache)
    if form == "text":
        typer.echo(str(scores))
    elif form == "json":
        typer.echo(json.dumps(scores.to_dict(), indent=1, allow_nan=False))
    else:
        print_table({record.key: _cells(record) for record in scores.records if record.key}, form)
    for doubt in scores.doubts if form != "text" else ():
        typer.echo(doubt, err=True)
    if json_file is not None and is_main_process():
        scores.to_json(json_file)
    if scores.failures:
        raise typer.Exit(1)


def _scores(
    model: Any,
    suites: list[str],
    data: Path | None,
    tasks: list[str] | None,
    options: dict[str, str | None],
    cache: Path | None = None,
) -> Any:
    """One `Scores` of all suites, pairs of the user's own among them; options that are None keep their defaults."""
    from cselab.data import read_pairs
    from cselab.evaluators import STS
    from cselab.evaluators import evaluate as score
    from cselab.evaluators.suites import SUITES, suites_named

    given = {name: value for name, value in options.items() if value is not None}
    own = [read_pairs(name) for name in suites if name not in SUITES]
    found = []
    try:
        named = suites_named([name for name in suites if name in SUITES], given) if len(own) < len(suites) else []
    except TypeError as error:  # an option of a suite that was not asked for
        raise ValueError(str(error)) from None
    if named:
        found.append(score(model, named, data, tasks, cache=cache))
    for pairs in own:
        found.append(score(model, pairs, cache=cache, aggregation=given.get("aggregation", STS().aggregation)))
    whole = found[0]
    for more in found[1:]:
        whole = replace(
            whole,
            records=[*whole.records, *more.records],
            outcomes=whole.outcomes | more.outcomes,
            encode_seconds=whole.encode_seconds + more.encode_seconds,
        )
    return whole


def _cells(record: Any) -> dict[str, Any]:
    low, high = record.interval or ("", "")
    return {
        "split": record.split,
        "rows": str(record.rows),
        "metric": record.metric,
        "score": "failed" if record.value is None else record.value,
        "low": low,
        "high": high,
    }


def references(
    encoder: EncoderName,
    suite: Suites = None,
    task: Tasks = None,
    data: DataFolder = None,
    pooling: Pooling = None,
    protocol: Protocol = None,
    glove: Annotated[Path | None, typer.Option(help="word vectors in a text file, to be averaged", **FILE)] = None,
    fit: Annotated[
        str, typer.Option(help="text file to fit whitening and flow on, or world: 5000 of its sentences", **FIT)
    ] = "world",
    json_file: Annotated[Path | None, typer.Option("--json", help="write all scores and records here")] = None,
    form: Format = "text",
    device: Device = None,
    quiet: Quiet = False,
) -> None:
    """Score an encoder beside simple references.

    Those are chance, word overlap, averaged word vectors, BERT-whitening and BERT-flow.
    """
    if json_file is not None:
        writable(json_file)
    from cselab.encoders.encoder import SentenceEncoder
    from cselab.evaluators import with_references
    from cselab.evaluators.vectors import NeedsVectors

    suites = suites_or_default(suite, data)
    model = SentenceEncoder.from_pretrained(encoder, pooling=pooling, device=accelerator(device))
    found = {}
    for name, reference in with_references(model, fit, glove).items():
        try:
            found[name] = _scores(reference, suites, data, task, {"protocol": protocol})
        except NeedsVectors:  # word overlap, where all tasks need vectors
            continue
    print_table({name: scores.scores for name, scores in found.items()}, form)
    failures = [
        f"{name}: {failed} failed: {reason}"
        for name, scores in found.items()
        for failed, reason in scores.failures.items()
    ]
    for line in failures:
        typer.echo(line, err=True)
    if json_file is not None:
        content = {name: scores.to_dict() for name, scores in found.items()}
        json_file.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    if failures:
        raise typer.Exit(1)


def compare(
    first: Annotated[str, typer.Argument(help="an encoder as `evaluate` takes it, or a folder of seeds", **SCORED)],
    second: Annotated[str, typer.Argument(help="the other; differences are second minus first", **SCORED)],
    suite: Suites = None,
    task: Tasks = None,
    data: DataFolder = None,
    pooling: Pooling = None,
    protocol: Protocol = None,
    metric: Annotated[
        Literal["spearman", "pearson"], typer.Option(help="for STS; transfer tasks are compared by accuracy")
    ] = "spearman",
    form: Format = "text",
    device: Device = None,
    quiet: Quiet = False,
) -> None:
    """Test whether one encoder is better than another.

    Paired tests on every task that both have.

    Two encoders are compared row by row (paired bootstrap; McNemar's test for classes). Two folders of seeds, as
    `train --seeds` writes them, are compared seed by seed (paired t-test).
    """
    from statistics import mean

    from cselab.evaluators import compare as paired
    from cselab.evaluators import named_encoder
    from cselab.metrics import paired_t_test

    suites, where = suites_or_default(suite, data), accelerator(device)

    def opened(name: str) -> Any:
        return named_encoder(name, pooling, None, where)

    def scores_of(model: Any) -> Any:
        return _scores(model, suites, data, task, {"protocol": protocol})

    seeds = [_seeds(name) for name in (first, second)]
    if any(seeds):
        if set(seeds[0]) != set(seeds[1]):
            raise ValueError(
                f"{first} has the seeds {', '.join(seeds[0]) or 'of one run'} and {second} "
                f"{', '.join(seeds[1]) or 'of one run'}: a paired test needs the same"
            )
        found = [[scores_of(opened(side[seed])).scores for seed in sorted(side)] for side in seeds]
        tasks = [name for name in found[0][0] if all(name in scores for side in found for scores in side)]
        columns = {name: [[scores[name] for scores in side] for side in found] for name in tasks}
        comparisons = [paired_t_test(one, other, name) for name, (one, other) in columns.items()]
        means = {name: [mean(side) for side in both] for name, both in columns.items()}
    else:
        models = opened(first), opened(second)
        both = [scores_of(model) for model in models]
        comparisons = paired(both[0], both[1], metric)
        means = {line.name: [scores.scores[line.name] for scores in both] for line in comparisons}
    rows = {
        f"{line.name}, {line.test}": {
            "first": means[line.name][0],
            "second": means[line.name][1],
            "difference": f"{line.difference:+.2f}",
            "95 % interval": "{:+.2f} to {:+.2f}".format(*line.interval),
            "p": f"{line.p_value:.3g}",
            "over": str(line.samples),
        }
        for line in comparisons
    }
    print_table(rows, form)


def _seeds(name: str) -> dict[str, str]:
    """The runs in a folder that `train --seeds` wrote, by seed; of anything else none."""
    folder = Path(name)
    if not folder.is_dir() or (folder / "config.json").exists():
        return {}
    return {run.name.removeprefix("seed-"): str(run) for run in folder.glob("seed-*") if (run / "config.json").exists()}


def encode(
    context: typer.Context,
    encoder: EncoderName,
    corpus: TextFile,
    output: Annotated[
        Path, typer.Option(help="VECTORS.npy, written as it goes; or VECTORS.safetensors, held in memory")
    ],
    pooling: Pooling = None,
    batch_size: Annotated[int, typer.Option(help="sentences per forward pass")] = 64,
    precision: Precision = "fp32",
    normalize: Annotated[bool, typer.Option(help="scale vectors to length one")] = False,
    device: Device = None,
    quiet: Quiet = False,
) -> None:
    """Write the vectors of a file's sentences.

    An array of float32 [n, d], its rows in the order of the sentences.
    """
    if writable(output).suffix not in (".npy", ".safetensors"):
        raise ValueError(f"output must end in .npy or .safetensors, got {output}")
    from safetensors.numpy import save_file

    from cselab.data import read_sentences
    from cselab.data.writing import written_whole
    from cselab.encoders.encoder import SentenceEncoder
    from cselab.encoders.streaming import encode_to_file

    model: Any = SentenceEncoder.from_pretrained(
        encoder, pooling=pooling, precision=precision, device=accelerator(device)
    )
    model = over_processes(context, model)
    sentences = read_sentences(corpus)
    if output.suffix == ".npy":
        vectors: Any = encode_to_file(model, sentences, output, batch_size, normalize_embeddings=normalize)
    else:
        vectors = model.encode(list(sentences), batch_size, True, normalize_embeddings=normalize)
        if is_main_process():
            with written_whole(output) as aside:
                save_file({"vectors": vectors}, aside)
    if not quiet:
        typer.echo(f"{len(vectors)} vectors of width {vectors.shape[1]} in {output}")


def search(
    encoder: EncoderName,
    file: TextFile,
    query: Annotated[list[str], typer.Argument(help="what to look for; several queries get a list each")],
    top: Annotated[int, typer.Option(min=1, help="how many sentences to show")] = 10,
    pooling: Pooling = None,
    form: Format = "text",
    device: Device = None,
    quiet: Quiet = False,
) -> None:
    """Find the sentences of a file that are nearest to a query.

    By cosine; each is shown with the number of its line.
    """
    import numpy as np

    from cselab.data import read_lines
    from cselab.encoders.encoder import SentenceEncoder

    lines = {number: text for number, line in enumerate(read_lines(file), 1) if (text := line.strip())}
    if not lines:
        raise ValueError(f"{file}: no sentence in it; a corpus is plain text with one sentence a line")
    model = SentenceEncoder.from_pretrained(encoder, pooling=pooling, device=accelerator(device))
    vectors = model.encode([*lines.values(), *query], normalize_embeddings=True)
    numbers, found = list(lines), vectors[: len(lines)] @ vectors[len(lines) :].T
    for column, asked in enumerate(query):
        nearest = np.argsort(-found[:, column], kind="stable")[:top]
        if len(query) > 1 and form == "text":
            typer.echo("\n" * bool(column) + asked)
        rows = {
            str(numbers[row]): {"cosine": float(found[row, column]), "sentence": lines[numbers[row]]} for row in nearest
        }
        if form == "text":
            for line, row in rows.items():
                typer.echo(f"{row['cosine']:6.3f}  line {line}: {row['sentence']}")
        else:
            print_table(rows, form, digits=3, corner="line")
