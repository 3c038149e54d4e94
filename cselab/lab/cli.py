"""The command line: `cselab train`, `evaluate`, `references`, `encode`, `methods`, `pretrain`, and so on."""

import json
import os
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from cselab.lab.published.command import published

UsageError: type[Exception] = typer.BadParameter.__base__
ClickException: type[Exception] = UsageError.__base__


def _with_allowed_options(error: Exception, context: Any) -> Exception:
    """An unknown option's message, with the options that there are."""
    if getattr(error, "option_name", None) and "Allowed" not in error.message:
        allowed = [name for parameter in context.command.params for name in getattr(parameter, "opts", [])]
        error.message += f" Allowed: {', '.join(name for name in allowed if name.startswith('-'))}"
    return error


class Command(TyperCommand):
    """A command that lists the allowed options, and reports errors of the user's making without a traceback."""

    def parse_args(self, ctx, args):
        try:
            return super().parse_args(ctx, args)
        except UsageError as error:
            raise _with_allowed_options(error, ctx) from None

    def invoke(self, ctx):
        try:
            return super().invoke(ctx)
        except (ValueError, OSError, ArithmeticError) as error:
            raise ClickException(str(error)) from error
        except ModuleNotFoundError as error:
            raise ClickException(f"{error}: install it, or all: pip install 'cselab[notebooks]'") from error


class Group(TyperGroup):
    """A group whose unknown commands are answered with the known."""

    def resolve_command(self, ctx, args):
        try:
            return super().resolve_command(ctx, args)
        except UsageError as error:
            error.message += f" Allowed: {', '.join(self.list_commands(ctx))}"
            raise


def _app(text: str) -> typer.Typer:
    return typer.Typer(
        help=text, cls=Group, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
    )


app = _app("Contrastive learning of sentence embeddings: train, measure, take apart.")
data_app = _app("The public data sets on this machine.")
notebooks_app = _app("The notebooks, headless.")
app.add_typer(data_app, name="data")
app.add_typer(notebooks_app, name="notebooks")
world_app = _app("Text of the bundled world, on standard output: the same seed gives the same.")
app.add_typer(world_app, name="world")

EncoderName = Annotated[str, typer.Argument(help="bundled name (micro, mini), folder, or hub name")]
Pooling = Annotated[str | None, typer.Option(help="pooling; default: what the encoder's folder says")]
DataFolder = Annotated[
    Path | None, typer.Option("--data", help="SentEval folder; default: CSELAB_DATA, or ../shared/data")
]
Suites = Annotated[
    list[str],
    typer.Option(
        help="sts, geometry, transfer, clustering, world, world-transfer, world-clustering; may be repeated"
    ),
]
Tasks = Annotated[list[str] | None, typer.Option(help="only this task; may be repeated")]
Protocol = Annotated[str, typer.Option(help="of transfer: senteval, senteval-fast or lbfgs")]
Settings = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="may be repeated")]


def _writable(file: Path) -> Path:
    """The file, if it can be written: better asked before the work than after."""
    if file.is_dir() or not os.access(file if file.exists() else file.parent, os.W_OK):
        raise ValueError(f"cannot write {file}: give a file in a folder that exists and may be written")
    return file


def _settings(assignments: Iterable[str] | None) -> dict[str, str]:
    settings = {}
    for assignment in assignments or ():
        name, equals, value = assignment.partition("=")
        if not equals or not name:
            raise ValueError(f"--set wants NAME=VALUE, got {assignment!r}")
        settings[name.strip()] = value.strip()
    return settings


def _method(name: str, settings: dict[str, str]) -> Any:
    """The method with its settings as their types; where a default is None, the annotation is the type."""
    from cselab.lab.parameters import typed_parameters
    from cselab.methods import get_method

    method = get_method(name)
    values = typed_parameters(name, {"variant": "default", **method.parameters()}, settings)
    for parameter, value in values.items():
        wanted = method.__signature__.parameters[parameter].annotation
        kinds = get_args(wanted)
        if NoneType in kinds and not isinstance(value, (*kinds, int) if float in kinds else kinds):
            raise ValueError(f"{name}: parameter {parameter!r} takes {wanted}; got {value!r}.")
    return method(**values)


@app.command(cls=Command)
def train(
    method: Annotated[str, typer.Argument(help="a method: see `cselab methods`")],
    corpus: Annotated[Path, typer.Option(help="text, one sentence a line; also .gz, .xz")],
    output: Annotated[Path, typer.Option(help="folder of the run; afterwards an encoder")],
    encoder: Annotated[str, typer.Option(help="bundled name (micro, mini), folder, or hub name")] = "micro",
    pooling: Pooling = None,
    steps: Annotated[int | None, typer.Option(help="optimiser steps; default: one epoch")] = None,
    epochs: Annotated[float, typer.Option(help="passes over the corpus")] = 1.0,
    batch_size: Annotated[int, typer.Option(help="sentences a step")] = 64,
    lr: Annotated[float, typer.Option(help="peak learning rate")] = 3e-5,
    warmup: Annotated[float, typer.Option(help="share of the steps")] = 0.0,
    seed: Annotated[int, typer.Option(help="of everything")] = 42,
    max_length: Annotated[int, typer.Option(help="tokens a training sentence is cut at")] = 32,
    eval_every: Annotated[int, typer.Option(help="steps between evaluations")] = 125,
    precision: Annotated[Literal["auto", "fp32", "bf16"], typer.Option(help="of the arithmetic")] = "auto",
    representation: Annotated[
        Literal["backbone", "head"], typer.Option(help="what is evaluated and saved")
    ] = "backbone",
    dev: Annotated[
        str,
        typer.Option(help="what selects the best step: sts-b, world, corpus (label-free), none, or auto"),
    ] = "auto",
    limit: Annotated[int | None, typer.Option(min=1, help="use only the first LIMIT sentences")] = None,
    data: DataFolder = None,
    settings: Settings = None,
) -> None:
    """Train an encoder with a method; continue the run if OUTPUT holds an unfinished one."""
    from cselab.data import read_sentences
    from cselab.encoder import SentenceEncoder
    from cselab.lab.dev import dev_evaluator
    from cselab.training import TrainConfig
    from cselab.training import train as run_training

    chosen = _method(method, _settings(settings))
    config = TrainConfig(
        steps=steps, epochs=epochs, batch_size=batch_size, lr=lr, warmup=warmup, seed=seed, max_length=max_length,
        eval_every=eval_every, precision=precision, representation=representation,
    )  # fmt: skip
    sentences = list(islice(read_sentences(corpus), limit))
    evaluator, sentences, what = dev_evaluator(dev, sentences, data)
    model = SentenceEncoder.from_pretrained(encoder, pooling=pooling)
    typer.echo(f"{method} on {encoder} ({model.pooling}), {len(sentences):,} sentences, dev: {what}")
    run = run_training(model, chosen, sentences, config, evaluator, output=output)
    if run.resumed_from is not None:
        finished = run.resumed_from == run.history[-1]["step"]
        typer.echo("finished before: read back" if finished else f"continued from step {run.resumed_from}")
    if run.best is not None:
        typer.echo(
            f"best at step {run.best['step']}: dev {run.best['score']:.2f}, alignment {run.best['alignment']:.3f}, "
            f"uniformity {run.best['uniformity']:.3f}"
        )
    typer.echo(f"encoder in {output} ({run.seconds:.0f} s)")


@app.command(cls=Command)
def evaluate(
    encoder: EncoderName,
    suite: Suites,
    task: Tasks = None,
    data: DataFolder = None,
    pooling: Pooling = None,
    representation: Annotated[str | None, typer.Option(help="backbone or head")] = None,
    aggregation: Annotated[str, typer.Option(help="all, mean or weighted_mean")] = "all",
    protocol: Protocol = "senteval",
    posthoc: Annotated[
        Literal["whitening", "flow"] | None,
        typer.Option(help="transform the vectors: BERT-whitening or BERT-flow"),
    ] = None,
    fit: Annotated[
        str | None,
        typer.Option(help="text file whose first 5000 sentences --posthoc is fitted on; default: world"),
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
        _writable(json_file)
    if fit is not None and posthoc is None:
        raise ValueError("--fit says what a transform is fitted on: give --posthoc whitening or flow, too")
    model: Any = named_encoder(encoder, pooling, representation)
    if posthoc is not None:
        model = fitted(model, posthoc, fit or "world")
    scores = score(
        model, suite if len(suite) > 1 else suite[0], data, task, aggregation, protocol=protocol, cache=cache
    )
    typer.echo(str(scores))
    if json_file is not None:
        scores.to_json(json_file)
    if scores.failures:
        raise typer.Exit(1)


@app.command(cls=Command)
def references(
    encoder: EncoderName,
    suite: Suites,
    task: Tasks = None,
    data: DataFolder = None,
    pooling: Pooling = None,
    protocol: Protocol = "senteval",
    glove: Annotated[Path | None, typer.Option(help="word vectors in a text file, to be averaged")] = None,
    fit: Annotated[
        str, typer.Option(help="text file whose first 5000 sentences whitening and flow are fitted on")
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
        _writable(json_file)
    model = SentenceEncoder.from_pretrained(encoder, pooling=pooling)
    found = evaluate_beside(model, suite, data, task, text=fit, word_vectors=glove, protocol=protocol)
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


@app.command(cls=Command)
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

    if _writable(output).suffix not in (".npy", ".safetensors"):
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


@app.command(cls=Command)
def methods(
    name: Annotated[str | None, typer.Argument(help="one method, with its parameters")] = None,
) -> None:
    """List the methods, or show one: what it does, its parameters and variants."""
    import inspect

    from cselab.methods import METHODS, get_method

    if name is None:
        for key, method in METHODS.items():
            typer.echo(f"{key:14}{method.title:26}{inspect.getdoc(method).splitlines()[0]}")
        return
    method = get_method(name)
    typer.echo(f"{method.title}\n\n{inspect.getdoc(method)}\n\nParameters (--set NAME=VALUE):")
    for parameter, default in {"variant": "default", **method.parameters()}.items():
        typer.echo(f"  {parameter} = {default!r}")
    for variant, changes in method.variants.items():
        typer.echo(
            f"  variant={variant}: {', '.join(f'{k}={v!r}' for k, v in changes.items()) or 'as default'}"
        )


@app.command(cls=Command)
def pretrain(
    output: Annotated[Path, typer.Argument(help="folder of the run; afterwards a plain encoder")],
    neighbours: Annotated[
        list[Path] | None, typer.Option(help="corpus whose lines follow one another; may be repeated")
    ] = None,
    corpus: Annotated[
        list[Path] | None, typer.Option(help="corpus of scattered sentences; may be repeated")
    ] = None,
    tokenizer: Annotated[Path | None, typer.Option(help="folder of a tokenizer; default: train one")] = None,
    tokens_from: Annotated[
        Path | None, typer.Option(help="folder of an encoder whose input vectors start the token table")
    ] = None,
    settings: Settings = None,
) -> None:
    """Pretrain a small plain BERT by masked words and next passages; continues an unfinished run.

    --set takes the fields of PretrainConfig: layers, width, heads, vocabulary, length, steps, batch_size, lr ...
    """
    from dataclasses import asdict

    from cselab.lab.parameters import typed_parameters
    from cselab.lab.pretrain import PretrainConfig, pretrain_from_files

    defaults = asdict(PretrainConfig())
    config = PretrainConfig(**{**defaults, **typed_parameters("pretrain", defaults, _settings(settings))})
    pretrain_from_files(
        output, neighbours or [], corpus or [], config, tokenizer=tokenizer, tokens_from=tokens_from
    )
    typer.echo(f"plain encoder in {output}")


@data_app.command("check", cls=Command)
def data_check(
    folder: Annotated[Path | None, typer.Argument(help="SentEval folder, or one above it")] = None,
) -> None:
    """Compare the data sets in FOLDER with what is known of them: rows, content. Fails if any is damaged."""
    from cselab.data import check

    found = check(folder)
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


@notebooks_app.command("run", cls=Command)
def notebooks_run(
    names: Annotated[list[str] | None, typer.Argument(help="names or numbers; default: all")] = None,
    profile: Annotated[
        Literal["smoke", "classroom", "paper"], typer.Option(help="size of everything")
    ] = "classroom",
    output: Annotated[Path, typer.Option(help="folder of the executed notebooks, pages and numbers")] = Path(
        "out"
    ),
    folder: Annotated[Path | None, typer.Option(help="where the notebooks are")] = None,
    update_baselines: Annotated[bool, typer.Option(help="make these numbers the new baselines")] = False,
    settings: Settings = None,
) -> None:
    """Run notebooks headless, compare their numbers with the recorded ones, write pages to read offline."""
    from cselab.lab.notebooks import run_notebooks

    results = run_notebooks(
        names or [], profile, _settings(settings), output, folder=folder, update_baselines=update_baselines
    )
    if not all(result.passed for result in results):
        raise typer.Exit(1)


@app.command(cls=Command)
def doctor(as_json: Annotated[bool, typer.Option("--json", help="for programs")] = False) -> None:
    """Say what this machine has, and what would run on it."""
    from dataclasses import asdict

    from cselab.lab.doctor import examine

    findings = examine()
    if as_json:
        typer.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        for finding in findings:
            typer.echo(f"{'ok ' if finding.good else '-- '} {finding.what:24}{finding.found}")


app.command(cls=Command)(published)

HowMany = Annotated[int, typer.Argument(help="how many")]
Split = Annotated[str, typer.Option(help="train, dev or test; they share no story")]
WorldSeed = Annotated[int, typer.Option(help="of everything drawn")]


@world_app.command("sentences", cls=Command)
def world_sentences(n: HowMany, split: Split = "train", seed: WorldSeed = 0) -> None:
    """N different sentences, one a line."""
    from cselab.world import World

    for sentence in World(seed).sentences(n, split):
        typer.echo(sentence.text)


@world_app.command("documents", cls=Command)
def world_documents(n: HowMany, split: Split = "train", seed: WorldSeed = 0) -> None:
    """N texts of five sentences that follow one another, one sentence a line."""
    from cselab.world import World

    for document in World(seed).documents(n, split):
        for sentence in document:
            typer.echo(sentence.text)


@world_app.command("pairs", cls=Command)
def world_pairs(n: HowMany, split: Split = "test", seed: WorldSeed = 0) -> None:
    """N graded pairs, one a line: sentence, sentence, grade from 0 to 5, kind of pair, with tabs between."""
    from cselab.world import World

    pairs = World(seed).sts(n, split)
    for row in zip(pairs.sentences1, pairs.sentences2, pairs.scores, pairs.subsets, strict=True):
        typer.echo("\t".join(map(str, row)))


if __name__ == "__main__":
    app()
