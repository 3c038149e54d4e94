"""`cselab train`."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from shlex import quote
from types import NoneType
from typing import TYPE_CHECKING, Any, get_args
from unittest.mock import patch

import click

from cselab._util.progress import is_quiet, say
from cselab.encoders.open import BUNDLED

from . import names, options, terminal
from .frame import INTERRUPTED, Command

if TYPE_CHECKING:
    import torch

    from cselab.encoders.encoder import SentenceEncoder
    from cselab.training import Evaluator, Run, TrainConfig

DIGITS = {"dev": 2, "alignment": 3, "uniformity": 3}
DEFAULTS = {"eval_every": "an eighth of the steps"}  # of the command, not of `TrainConfig`


class Train(Command):
    """The command; an error about an option that is a hyper-parameter names the methods and --set."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            parameter = error.option_name.lstrip("-").replace("-", "_")
            if not (having := names.methods_with(parameter)):
                raise
            hint = f"Hyper-parameter of {', '.join(having)}: --set {parameter}=VALUE"
            raise click.UsageError(f"{error.message.rstrip('.')}. {hint}", ctx) from None


def _settings_of_a_run(function: Any) -> Any:
    """An option for each field of `TrainConfig`; None if not given."""
    for field in reversed(names.train_settings()):
        default = DEFAULTS.get(field["name"], field["default"])
        function = click.option(
            f"--{field['name'].replace('_', '-')}",
            type=_type_of(field),
            metavar={"int": "N", "float": "NUMBER"}.get(field["kind"]),
            help=field["help"] + ("" if default is None else f"  [default: {default}]"),
        )(function)
    return function


def _type_of(field: dict[str, Any]) -> click.ParamType:
    if "choices" in field:
        return click.Choice(field["choices"])
    low, high = field.get("ge", field.get("gt")), field.get("lt", field.get("le"))
    if low is None:
        return click.FLOAT if field["kind"] == "float" else click.INT
    kind: Any = click.FloatRange if field["kind"] == "float" else click.IntRange
    return kind(low, high, min_open="gt" in field, max_open="lt" in field)


def _method(name: str, settings: dict[str, str], printed: dict[str, Any] | None = None) -> Any:
    """The method with its settings as their types; the annotation is the type of a setting whose default is None.

    `printed` are the hyper-parameters of a recipe, used for parameters without a setting or a value in the variant.
    """
    from cselab.methods import Method, get_method
    from cselab_lab.parameters import typed_parameters

    method = get_method(name)
    for needed in ("views", "loss"):
        if getattr(method, needed) is getattr(Method, needed):
            raise ValueError(f"the method {name!r} has no {needed}(): a method must define views() and loss()")
    values = typed_parameters(name, {"variant": "default", **method.hyperparameters()}, settings)
    for parameter, value in values.items():
        wanted = method.__signature__.parameters[parameter].annotation
        kinds = get_args(wanted)
        if NoneType in kinds and not isinstance(value, (*kinds, int) if float in kinds else kinds):
            raise ValueError(f"{name}: parameter {parameter!r} must be {wanted}; got {value!r}")
    chosen = method.variants.get(str(values.get("variant")), {})
    return method(**{**{key: value for key, value in (printed or {}).items() if key not in chosen}, **values})


@dataclass(frozen=True)
class _Plan:
    """One run: a method, its settings, a seed, and the output folder."""

    method: Any
    settings: dict[str, str]
    seed: int
    folder: Path

    @property
    def label(self) -> str:
        return f"{self.method.name}, seed {self.seed}"


def _plans(
    methods: Sequence[str], settings: dict[str, str], seeds: list[int], single: bool, output: Path
) -> list[_Plan]:
    """A run for each method and seed, in `output` if it is a single run, else in METHOD/seed-SEED.

    A setting applies to the methods that have it; if no method has it, that is an error.
    """
    from cselab.methods import get_method

    known = {name: {"variant", *get_method(name).hyperparameters()} for name in methods}
    for key in settings:
        if not any(key in parameters for parameters in known.values()):
            _method(methods[0], {key: settings[key]})  # raises an error with the known parameters
    chosen = {name: {key: settings[key] for key in settings if key in known[name]} for name in known}
    single = single and len(known) == 1
    return [
        _Plan(_method(name, chosen[name]), chosen[name], n, output if single else output / name / f"seed-{n}")
        for name in known
        for n in seeds
    ]


@click.command(cls=Train)
@options.argument(
    "methods",
    nargs=-1,
    required=True,
    metavar="METHOD...",
    type=options.METHOD,
    is_eager=True,
    help="see `cselab methods`",
)
@click.option(
    "--corpus",
    required=True,
    type=options.CORPUS_FILE,
    help=f"{options.CORPUS}; methods with several columns need a table",
)
@click.option("--output", required=True, type=options.PATH, help="folder of the run; after training, an encoder")
@click.option("--encoder", default="micro", type=options.ENCODER, is_eager=True, help=options.ENCODERS)
@click.option(
    "--recipe",
    type=click.Choice(["bundled", "paper", "none"]),
    help="source of unset options: bundled (tuned for micro and mini), paper (the method's published settings for this "
    "kind of encoder, with --set variant=paper), none (the defaults below)  [default: bundled for micro and mini]",
)
@options.several(options.column, options.pooling, options.dev)
@click.option("--seeds", type=options.SEEDS, help="several seeds, such as 0,1,2 or 0-4: a run for each, and a table")
@click.option("--limit", help="use only the first N sentences", **options.COUNT)
@click.option(
    "--dropout",
    type=click.FloatRange(0, 1, max_open=True),
    metavar="RATE",
    help="dropout rate in all layers  [default: from the encoder]",
)
@click.option(
    "--lora", help="train only the head and adapters of rank N in the linear layers (needs peft)", **options.COUNT
)
@options.several(options.data_folder, options.settings, options.table_form, options.device, options.quiet)
@_settings_of_a_run
@click.pass_context
def train(
    context: click.Context,
    methods: Sequence[str],
    corpus: Path,
    encoder: str,
    recipe: str | None,
    column: str | None,
    pooling: str | None,
    dropout: float | None,
    lora: int | None,
    **asked: Any,
) -> None:
    """Train an encoder with a method.

    Continues an unfinished run of the same settings in OUTPUT.

    With several methods or --seeds, each run has a folder METHOD/seed-SEED in OUTPUT, and the command prints a table
    of all runs.
    """
    fields = {field["name"] for field in names.train_settings()}
    given = {name: value for name, value in asked.items() if name in fields and value is not None}
    tuned = names.names("recipes")
    recipe = recipe or ("bundled" if encoder in tuned else "none")
    if recipe == "bundled" and encoder not in tuned:
        raise ValueError(f"--recipe bundled is for {', '.join(tuned)}, not for {encoder}")
    from cselab.data import read_rows
    from cselab.encoders.encoder import SentenceEncoder
    from cselab.encoders.speed import chosen_precision
    from cselab.training import TrainConfig
    from cselab_lab.experiments.dev import CorpusRow, dev_evaluator

    settings, seed = options.read_settings(asked["settings"]), given.pop("seed", TrainConfig.seed)
    plans = _plans(methods, settings, asked["seeds"] or [seed], asked["seeds"] is None, asked["output"])
    if any(len(plan.method.columns) == 1 for plan in plans):
        options.print_column(corpus, column)
    _train_on(options.accelerator(asked["device"]), context)
    rows: dict[str, dict[str, Any]] = {}
    for plan in plans:
        corpus_rows: list[CorpusRow] = list(islice(read_rows(corpus, plan.method.columns, column), asked["limit"]))
        evaluator, sentences, dev = dev_evaluator(asked["dev"], corpus_rows, asked["data"])
        model = SentenceEncoder.from_pretrained(encoder, pooling=pooling)
        if dropout is not None:
            model.dropout = dropout
        if lora is not None:
            model.add_adapter(lora, plan.seed)
        printed = plan.method.recipe(model) if recipe == "paper" else None
        if pooling is None and (printed is not None or not model.pooling_given):
            model.pooling = printed.pooling if printed is not None else plan.method.pooling(model)
        if printed is not None:
            variant = {"variant": "paper"} if "paper" in plan.method.variants else {}
            method = _method(plan.method.name, {**variant, **plan.settings}, printed.hyperparameters)
            plan = replace(plan, method=method)
            _print_source(plan.method, model)
        chosen = (_of_bundled(recipe, encoder, given) if printed is None else printed.settings()) | given
        config = TrainConfig(seed=plan.seed, **chosen)
        if "eval_every" not in chosen:
            config = replace(config, eval_every=max(1, config.length(len(sentences)) // 8))
        _print(
            f"{_named(plan.method, model.backbone.config)} on {encoder} ({model.pooling}), "
            f"{len(sentences):,} sentences, dev: {dev}, "
            f"{chosen_precision(config.precision)}"
        )
        rows[plan.label] = _result(_run(model, plan, sentences, config, evaluator))
    if len(plans) > 1 and options.is_main_process():
        shown = {name: {column: _shown(column, cell) for column, cell in row.items()} for name, row in rows.items()}
        options.print_table(rows if asked["form"] == "json" else shown | _means(plans, rows), asked["form"])


def _named(method: Any, config: Any) -> str:
    """The name of a method, with its variant if the variants of the method differ on an encoder with this config.

    The default has the name of the variant that changes nothing, if there is one.
    """
    changed = {name: method.changes(name, config) for name in method.variants}
    if not any(changed.values()):
        return method.name
    usual = next((name for name, changes in changed.items() if not changes), "default")
    return f"{method.name} (variant {usual if method.variant == 'default' else method.variant})"


def _of_bundled(recipe: str, encoder: str, given: dict[str, Any]) -> dict[str, Any]:
    """The printed settings of a bundled encoder's recipe, without its length if the user gave a length."""
    if recipe != "bundled":
        return {}
    from cselab_lab.experiments.plan import RECIPES

    settings = RECIPES[encoder].settings()
    if "steps" in given or "epochs" in given:
        settings = {name: value for name, value in settings.items() if name not in ("steps", "eval_every")}
    used = [f"{name.replace('_', '-')} {value}" for name, value in settings.items() if name not in given]
    if used:
        _print(f"using the bundled recipe for {encoder}: {', '.join(used)} (disable with --recipe none)")
    return settings


def _print_source(method: Any, model: "SentenceEncoder") -> None:
    """Print the source of the recipe if the paper has no recipe for this kind of encoder; bundled ones never have."""
    from cselab.methods.recipe import family

    if (wanted := family(model)) not in method.recipes and model.name not in BUNDLED:
        used = next(name for name, recipe in method.recipes.items() if recipe is method.recipe(model))
        _print(f"{method.name}: the paper has no recipe for {wanted}; using its recipe for {used}")


def _run(
    model: "SentenceEncoder", plan: _Plan, sentences: list[Any], config: "TrainConfig", evaluator: "Evaluator | None"
) -> "Run":
    from cselab.training import train as run_training

    try:
        run = run_training(
            model, plan.method, sentences, config, evaluator, callbacks=[_print_score], output=plan.folder
        )
    except KeyboardInterrupt:
        click.echo(f"interrupted: {_saved(plan.folder)}", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    if run.resumed_from is not None and run.resumed_from == run.history[-1]["step"]:
        _print("already finished: read from the folder")
    if run.stopped is not None:
        _print(f"stopped early: {run.stopped}")
    if run.best is not None:
        _print(f"best at step {_scores(run.best)}")
        first = next(row["score"] for row in run.history if "score" in row)
        gain = run.best["score"] - first
        style = "bold green" if gain > 0 else "bold yellow"
        _print(f"dev {first:.2f} to {run.best['score']:.2f}: {gain:+.2f} points in {run.seconds:.0f} s", style)
    _print(f"encoder in {plan.folder} ({run.seconds:.0f} s)")
    _print(f"next: cselab evaluate {quote(str(plan.folder))}")
    return run


def _saved(folder: Path) -> str:
    """The saved step of an interrupted run, and how to continue."""
    from cselab.encoders.checkpoint import read_info
    from cselab.training.run_folder import RunFolder

    checkpoint = RunFolder(folder).checkpoint
    if not checkpoint.exists():
        return f"{folder} holds no checkpoint yet; run the same command to start again"
    return f"{folder} holds the run up to step {read_info(checkpoint)['step']}; run the same command to continue"


def _print_score(run: "Run", row: dict[str, Any]) -> None:
    if "score" in row:
        say(f"step {_scores(row)}")


def _scores(row: dict[str, Any]) -> str:
    scores = f"dev {row['score']:.2f}, alignment {row['alignment']:.3f}, uniformity {row['uniformity']:.3f}"
    return f"{row['step']}: {scores}"


def _result(run: "Run") -> dict[str, Any]:
    best = run.best or {}
    measured = {"dev": best.get("score")} | best
    return {name: measured[name] for name in DIGITS if measured.get(name) is not None} | {
        "best step": best.get("step", run.history[-1]["step"]),
        "seconds": round(run.seconds),
        "encoder": str(run.output),
    }


def _shown(column: str, cell: Any) -> str:
    return f"{cell:.{DIGITS[column]}f}" if column in DIGITS else str(cell)


def _means(plans: Sequence[_Plan], rows: dict[str, dict[str, Any]]) -> dict[str, dict[str, str]]:
    """Mean and standard deviation over the seeds of each method with several seeds."""
    from statistics import mean, stdev

    means = {}
    for name in dict.fromkeys(plan.method.name for plan in plans):
        seeds = [rows[plan.label] for plan in plans if plan.method.name == name]
        if len(seeds) > 1:
            means[f"{name}, mean ± sd"] = {
                column: " ± ".join(_shown(column, of([row[column] for row in seeds])) for of in (mean, stdev))
                for column in DIGITS
                if column in seeds[0]
            }
    return means


def _print(text: str, style: str = "") -> None:
    if not is_quiet() and options.is_main_process():
        terminal.print_line(text, style)


def _train_on(device: "torch.device", context: click.Context) -> None:
    """Make accelerate use this device, until the command ends."""
    if device.type == "cpu":
        context.with_resource(patch.dict(os.environ, ACCELERATE_USE_CPU="true"))
    elif device.index is not None:
        import torch

        torch.accelerator.set_device_index(device.index)
