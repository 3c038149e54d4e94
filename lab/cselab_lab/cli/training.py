"""`cselab train`."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from cselab.encoders.bundled import BUNDLED
from cselab.encoders.progress import is_quiet, say
from cselab_lab.cli.options import (
    ENCODER,
    FILE,
    METHOD,
    SEEDS,
    DataFolder,
    Dev,
    Device,
    Format,
    Quiet,
    Settings,
    accelerator,
    is_main_process,
    read_seeds,
    read_settings,
)
from cselab_lab.cli.tables import print_table

if TYPE_CHECKING:
    from cselab.encoders.encoder import SentenceEncoder
    from cselab.methods import Recipe
    from cselab.training.run import Evaluator, Run, TrainConfig


def _method(name: str, settings: dict[str, str], printed: dict[str, Any] | None = None) -> Any:
    """The method with its settings as their types; where a default is None, the annotation is the type.

    `printed` are the hyper-parameters of a recipe, used where there is no setting and the variant has none.
    """
    from cselab.methods import get_method
    from cselab_lab.headless.parameters import typed_parameters

    method = get_method(name)
    values = typed_parameters(name, {"variant": "default", **method.hyperparameters()}, settings)
    for parameter, value in values.items():
        wanted = method.__signature__.parameters[parameter].annotation
        kinds = get_args(wanted)
        if NoneType in kinds and not isinstance(value, (*kinds, int) if float in kinds else kinds):
            raise ValueError(f"{name}: parameter {parameter!r} takes {wanted}; got {value!r}.")
    chosen = method.variants.get(str(values.get("variant")), {})
    return method(**{**{key: value for key, value in (printed or {}).items() if key not in chosen}, **values})


DIGITS = {"dev": 2, "alignment": 3, "uniformity": 3}


@dataclass(frozen=True)
class _Plan:
    """One run: a method, the settings that were asked for, a seed, and the folder it goes to."""

    method: Any
    settings: dict[str, str]
    seed: int
    folder: Path


def _plans(names: Sequence[str], settings: dict[str, str], seed: int, seeds: str | None, output: Path) -> list[_Plan]:
    """Every method with every seed. One run alone lies in `output`, several in METHOD/seed-SEED beneath it.

    A setting goes to the methods that have it; one that none of them has is an error.
    """
    from cselab.methods import get_method

    names = list(dict.fromkeys(names))
    known = {name: {"variant", *get_method(name).hyperparameters()} for name in names}
    for key in settings:
        if not any(key in has for has in known.values()):
            _method(names[0], {key: settings[key]})  # says what there is
    chosen = {name: {key: settings[key] for key in settings if key in known[name]} for name in names}
    alone = len(names) == 1 and seeds is None
    numbers = [seed] if seeds is None else list(dict.fromkeys(read_seeds(seeds)))
    return [
        _Plan(_method(name, chosen[name]), chosen[name], n, output if alone else output / name / f"seed-{n}")
        for name in names
        for n in numbers
    ]


def train(
    context: typer.Context,
    method: Annotated[list[str], typer.Argument(help="one or several methods: see `cselab methods`", **METHOD)],
    corpus: Annotated[
        Path,
        typer.Option(
            help="text, one sentence per line; for a method of several columns, a table with a header", **FILE
        ),
    ],
    output: Annotated[Path, typer.Option(help="folder of the run; when it is finished, an encoder")],
    encoder: Annotated[str, typer.Option(help="bundled name (micro, mini), folder, or hub name", **ENCODER)] = "micro",
    recipe: Annotated[
        Literal["paper"] | None,
        typer.Option(
            help="settings that the method's paper prints for this kind of encoder; other options override them"
        ),
    ] = None,
    pooling: Annotated[
        str | None,
        typer.Option(
            help="how tokens become a vector: cls, mean ...; default: what the encoder's folder says; for a plain "
            "checkpoint, what the paper takes"
        ),
    ] = None,
    steps: Annotated[int | None, typer.Option(help="optimiser steps; default: as many as --epochs makes")] = None,
    epochs: Annotated[float | None, typer.Option(help="passes over the corpus; default: 1")] = None,
    batch_size: Annotated[int | None, typer.Option(help="sentences per step; default: 64")] = None,
    mini_batch_size: Annotated[
        int | None,
        typer.Option(help="rows per forward pass, where a batch does not fit into memory; the gradient is the same"),
    ] = None,
    lr: Annotated[float | None, typer.Option(help="peak learning rate; default: 3e-5")] = None,
    warmup: Annotated[float, typer.Option(help="share of the steps in which the learning rate rises")] = 0.0,
    seed: Annotated[int, typer.Option(help="random seed: of the order of the data, of dropout, of new weights")] = 42,
    seeds: Annotated[
        str | None,
        typer.Option(
            help="several seeds, such as 0,1,2 or 0-4: a run for each, and a table of them all at the end", **SEEDS
        ),
    ] = None,
    max_length: Annotated[
        int | None, typer.Option(help="training sentences are cut to so many tokens; default: 32")
    ] = None,
    eval_every: Annotated[
        int | None, typer.Option(help="steps between evaluations; default: an eighth of the steps")
    ] = None,
    patience: Annotated[
        int | None, typer.Option(help="stop after this many evaluations without a better score")
    ] = None,
    precision: Annotated[
        Literal["auto", "fp32", "bf16"], typer.Option(help="of the arithmetic; auto takes bf16 where it is faster")
    ] = "auto",
    representation: Annotated[
        Literal["backbone", "head"] | None,
        typer.Option(help="the vector that is evaluated and saved; default: what the method says"),
    ] = None,
    dev: Dev = "auto",
    limit: Annotated[int | None, typer.Option(min=1, help="use only the first LIMIT sentences")] = None,
    data: DataFolder = None,
    settings: Settings = None,
    form: Format = "text",
    device: Device = None,
    quiet: Quiet = False,
) -> None:
    """Train an encoder with a method.

    Where OUTPUT holds an unfinished run of the same settings, that run is continued.

    With several methods or --seeds each run has a folder METHOD/seed-SEED in OUTPUT, and a table of all stands at
    the end.
    """
    from cselab.data import read_rows
    from cselab.encoders.encoder import SentenceEncoder
    from cselab.encoders.precision import chosen_precision
    from cselab.training import TrainConfig
    from cselab_lab.experiments.dev import Row, dev_evaluator

    plans = _plans(method, read_settings(settings), seed, seeds, output)
    given = {"epochs": epochs, "batch_size": batch_size, "lr": lr, "max_length": max_length, "eval_every": eval_every}
    given = {name: value for name, value in given.items() if value is not None}
    context.with_resource(_training_on(device))
    rows: dict[str, dict[str, Any]] = {}
    for plan in plans:
        found: list[Row] = list(islice(read_rows(corpus, plan.method.columns), limit))
        evaluator, sentences, what = dev_evaluator(dev, found, data)
        model = SentenceEncoder.from_pretrained(encoder, pooling=pooling)
        printed = plan.method.recipe(model) if recipe == "paper" else None
        if pooling is None and (printed is not None or not model.pooling_given):
            model.pooling = printed.pooling if printed is not None else plan.method.pooling(model)
        if printed is not None:
            plan = replace(plan, method=_method(plan.method.name, plan.settings, printed.hyperparameters))
            _tell_whose(plan.method, model)
        lengths = _of_recipe(printed) | given
        size, passes = (lengths.get(name, getattr(TrainConfig, name)) for name in ("batch_size", "epochs"))
        length = steps or max(1, round(passes * (len(sentences) // max(size, 1))))
        lengths.setdefault("eval_every", max(1, length // 8))
        config = TrainConfig(
            steps=steps, warmup=warmup, seed=plan.seed, precision=precision, representation=representation,
            patience=patience, mini_batch_size=mini_batch_size, **lengths,
        )  # fmt: skip
        _tell(
            f"{plan.method.name} on {encoder} ({model.pooling}), {len(sentences):,} sentences, dev: {what}, "
            f"{chosen_precision(precision)}"
        )
        run = _run(model, plan, sentences, config, evaluator)
        rows[f"{plan.method.name}, seed {plan.seed}"] = _result(run)
    if len(plans) > 1 and is_main_process():
        shown = {name: {column: _shown(column, cell) for column, cell in row.items()} for name, row in rows.items()}
        print_table(rows if form == "json" else shown | _means(plans, rows), form)


def _tell_whose(method: Any, model: "SentenceEncoder") -> None:
    """Where the paper prints no recipe for this kind of encoder: whose is taken. Bundled encoders are in no paper."""
    from cselab.methods.recipe import family

    if (asked := family(model)) not in method.recipes and model.name not in BUNDLED:
        taken = next(name for name, recipe in method.recipes.items() if recipe is method.recipe(model))
        _tell(f"{method.name}: its paper prints no recipe for {asked}; the one for {taken} is taken")


def _of_recipe(printed: "Recipe | None") -> dict[str, Any]:
    """The settings of a recipe that are settings of a run."""
    names = ("epochs", "batch_size", "lr", "max_length", "eval_every")
    return {} if printed is None else {name: getattr(printed, name) for name in names}


def _run(
    model: "SentenceEncoder", plan: _Plan, sentences: list[Any], config: "TrainConfig", evaluator: "Evaluator | None"
) -> "Run":
    from cselab.training import train as run_training

    try:
        run = run_training(
            model, plan.method, sentences, config, evaluator, callbacks=[_tell_score], output=plan.folder
        )
    except KeyboardInterrupt:
        typer.echo(f"interrupted: {_standing(plan.folder)}", err=True)
        raise typer.Exit(130) from None
    if run.resumed_from is not None and run.resumed_from == run.history[-1]["step"]:
        _tell("finished before: read back")
    if run.stopped is not None:
        _tell(f"stopped early: {run.stopped}")
    if run.best is not None:
        _tell(
            f"best at step {run.best['step']}: dev {run.best['score']:.2f}, alignment {run.best['alignment']:.3f}, "
            f"uniformity {run.best['uniformity']:.3f}"
        )
    _tell(f"encoder in {plan.folder} ({run.seconds:.0f} s)")
    return run


def _standing(folder: Path) -> str:
    """Where an interrupted run is, and how it goes on."""
    from cselab.encoders.checkpoint import read_info
    from cselab.training.run_folder import RunFolder

    checkpoint = RunFolder(folder).checkpoint
    if not checkpoint.exists():
        return f"nothing of the run in {folder} was saved yet; the same command starts it again"
    step = read_info(checkpoint)["step"]
    return f"{folder} holds the run up to step {step}; the same command continues from there"


def _tell_score(run: "Run", row: dict[str, Any]) -> None:
    if "score" in row:
        say(
            f"step {row['step']}: dev {row['score']:.2f}, alignment {row['alignment']:.3f}, "
            f"uniformity {row['uniformity']:.3f}"
        )


def _result(run: "Run") -> dict[str, Any]:
    best = run.best or {}
    row = {"dev": best.get("score"), "alignment": best.get("alignment"), "uniformity": best.get("uniformity")}
    return {name: value for name, value in row.items() if value is not None} | {
        "best step": best.get("step", run.history[-1]["step"]),
        "seconds": round(run.seconds),
        "encoder": str(run.output),
    }


def _shown(column: str, cell: Any) -> str:
    return f"{cell:.{DIGITS[column]}f}" if column in DIGITS else str(cell)


def _means(plans: Sequence[_Plan], rows: dict[str, dict[str, Any]]) -> dict[str, dict[str, str]]:
    """Mean and standard deviation over the seeds of each method, where there are several."""
    from statistics import mean, stdev

    found = {}
    for name in dict.fromkeys(plan.method.name for plan in plans):
        own = [rows[f"{name}, seed {plan.seed}"] for plan in plans if plan.method.name == name]
        if len(own) > 1:
            found[f"{name}, mean ± sd"] = {
                column: " ± ".join(_shown(column, of([row[column] for row in own])) for of in (mean, stdev))
                for column in DIGITS
                if column in own[0]
            }
    return found


def _tell(text: str) -> None:
    if not is_quiet() and is_main_process():
        typer.echo(text)


@contextmanager
def _training_on(device: str | None) -> Iterator[None]:
    """The device that accelerate takes inside."""
    where = accelerator(device)
    if where.type == "cuda" and where.index is not None:
        import torch

        torch.cuda.set_device(where)
    before = os.environ.get("ACCELERATE_USE_CPU")
    if where.type == "cpu":
        os.environ["ACCELERATE_USE_CPU"] = "true"
    try:
        yield
    finally:
        os.environ.pop("ACCELERATE_USE_CPU", None)
        if before is not None:
            os.environ["ACCELERATE_USE_CPU"] = before
