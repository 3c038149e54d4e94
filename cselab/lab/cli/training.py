"""`cselab train` and `cselab pretrain`."""

from itertools import islice
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args

import typer

from cselab.lab.cli.options import DataFolder, Pooling, Settings, read_settings


def _method(name: str, settings: dict[str, str]) -> Any:
    """The method with its settings as their types; where a default is None, the annotation is the type."""
    from cselab.lab.parameters import typed_parameters
    from cselab.methods import get_method

    method = get_method(name)
    values = typed_parameters(name, {"variant": "default", **method.hyperparameters()}, settings)
    for parameter, value in values.items():
        wanted = method.__signature__.parameters[parameter].annotation
        kinds = get_args(wanted)
        if NoneType in kinds and not isinstance(value, (*kinds, int) if float in kinds else kinds):
            raise ValueError(f"{name}: parameter {parameter!r} takes {wanted}; got {value!r}.")
    return method(**values)


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

    chosen = _method(method, read_settings(settings))
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
    config = PretrainConfig(**{**defaults, **typed_parameters("pretrain", defaults, read_settings(settings))})
    pretrain_from_files(
        output, neighbours or [], corpus or [], config, tokenizer=tokenizer, tokens_from=tokens_from
    )
    typer.echo(f"plain encoder in {output}")
