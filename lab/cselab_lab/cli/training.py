"""`cselab train`."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, get_args

import click

from cselab._util.progress import is_quiet, say
from cselab.encoders.open import BUNDLED
from cselab_lab.cli import options, registered
from cselab_lab.cli.frame import INTERRUPTED, Command
from cselab_lab.cli.tables import print_table

if TYPE_CHECKING:
    from cselab.encoders.encoder import SentenceEncoder
    from cselab.training.run import Evaluator, Run, TrainConfig

DIGITS = {"dev": 2, "alignment": 3, "uniformity": 3}
ELSEWHERE = {"eval_every": "an eighth of the steps"}  # a default that is the command's


class Train(Command):
    """The command, which knows that hyper-parameters of a method are no options."""

    def no_such_option(self, name: str) -> str:
        parameter = name.lstrip("-").replace("-", "_")
        if not registered.is_hyperparameter(parameter):
            return super().no_such_option(name)
        from cselab.methods import METHODS

        having = [name for name, method in METHODS.items() if parameter in method.hyperparameters()]
        return f"No such option: {name}. It is a hyper-parameter of {', '.join(having)}: --set {parameter}=VALUE"


def _settings_of_a_run(function: Any) -> Any:
    """An option for each field of `TrainConfig`; one that is not given is None."""
    for field in reversed(registered.train_settings()):
        default = ELSEWHERE.get(field["name"], field["default"])
        told = "" if default is None else f"  [default: {default}]"
        function = click.option(
            f"--{field['name'].replace('_', '-')}",
            type=_type_of(field),
            metavar={"int": "N", "float": "NUMBER"}.get(field["kind"]),
            help=field["help"] + told,
        )(function)
    return function


def _type_of(field: dict[str, Any]) -> click.ParamType:
    if "choices" in field:
        return click.Choice(field["choices"])
    low, high = field.get("least", field.get("above")), field.get("below", field.get("most"))
    if low is None:
        return click.FLOAT if field["kind"] == "float" else click.INT
    kind: Any = click.FloatRange if field["kind"] == "float" else click.IntRange
    return kind(low, high, min_open="above" in field, max_open="below" in field)


def _method(name: str, settings: dict[str, str], printed: dict[str, Any] | None = None) -> Any:
    """The method with its settings as their types; where a default is None, the annotation is the type.

    `printed` are the hyper-parameters of a recipe, used where there is no setting and the variant has none.
    """
    from cselab.methods import Method, get_method
    from cselab_lab.headless.parameters import typed_parameters

    method = get_method(name)
    for needed in ("views", "loss"):
        if getattr(method, needed) is getattr(Method, needed):
            raise ValueError(f"the method {name!r} has no {needed}(): a method says its views and its loss")
    values = typed_parameters(name, {"variant": "default", **method.hyperparameters()}, settings)
    for parameter, value in values.items():
        wanted = method.__signature__.parameters[parameter].annotation
        kinds = get_args(wanted)
        if NoneType in kinds and not isinstance(value, (*kinds, int) if float in kinds else kinds):
            raise ValueError(f"{name}: parameter {parameter!r} takes {wanted}; got {value!r}.")
    chosen = method.variants.get(str(values.get("variant")), {})
    return method(**{**{key: value for key, value in (printed or {}).items() if key not in chosen}, **values})


@dataclass(frozen=True)
class _Plan:
    """One run: a method, the settings that were asked for, a seed, and the folder it goes to."""

    method: Any
    settings: dict[str, str]
    seed: int
    folder: Path


def _plans(names: Sequence[str], settings: dict[str, str], seeds: list[int], one: bool, output: Path) -> list[_Plan]:
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
    alone = one and len(names) == 1
    return [
        _Plan(_method(name, chosen[name]), chosen[name], n, output if alone else output / name / f"seed-{n}")
        for name in names
        for n in seeds
    ]


@click.command(cls=Train)
@click.argument(
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
    help=f"{options.CORPUS}; for methods of several columns a table",
)
@click.option("--output", required=True, type=options.PATH, help="folder of the run; when finished, an encoder")
@click.option("--encoder", default="micro", type=options.ENCODER, is_eager=True, help=options.ENCODERS)
@click.option(
    "--recipe",
    type=click.Choice(["bundled", "paper", "none"]),
    help="settings for what is not said: bundled, those found for micro and mini; paper, what the method's paper has "
    "for this kind of encoder; none, the defaults below  [default: bundled for micro and mini]",
)
@options.several(options.column, options.pooling, options.dev)
@click.option("--seeds", type=options.SEEDS, help="several, such as 0,1,2 or 0-4: a run for each, and a table of all")
@click.option("--limit", help="use only the first N sentences", **options.COUNT)
@click.option(
    "--dropout",
    type=click.FloatRange(0, 1, max_open=True),
    metavar="RATE",
    help="the encoder's rate, in all places; default: its own",
)
@click.option(
    "--lora",
    help="train adapters of rank N in the encoder's linear layers, and the head, alone (needs peft)",
    **options.COUNT,
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

    Where OUTPUT holds an unfinished run of the same settings, that run is continued.

    With several methods or --seeds each run has a folder METHOD/seed-SEED in OUTPUT, and a table of all stands at
    the end.
    """
    fields = {field["name"] for field in registered.train_settings()}
    given = {name: value for name, value in asked.items() if name in fields and value is not None}
    recipe = recipe or ("bundled" if encoder in registered.names("recipes") else "none")
    if recipe == "bundled" and encoder not in registered.names("recipes"):
        raise ValueError(f"--recipe bundled is for {', '.join(registered.names('recipes'))}, not for {encoder}")
    from cselab.data import read_rows
    from cselab.encoders.encoder import SentenceEncoder
    from cselab.encoders.speed import chosen_precision
    from cselab.training import TrainConfig
    from cselab_lab.experiments.run import CorpusRow, dev_evaluator

    settings, seed = options.read_settings(asked["settings"]), given.pop("seed", TrainConfig.seed)
    plans = _plans(methods, settings, asked["seeds"] or [seed], asked["seeds"] is None, asked["output"])
    if any(len(plan.method.columns) == 1 for plan in plans):
        options.tell_column(corpus, column)
    context.with_resource(_training_on(asked["device"]))
    rows: dict[str, dict[str, Any]] = {}
    for plan in plans:
        corpus_rows: list[CorpusRow] = list(islice(read_rows(corpus, plan.method.columns, column), asked["limit"]))
        evaluator, sentences, what = dev_evaluator(asked["dev"], corpus_rows, asked["data"])
        model = SentenceEncoder.from_pretrained(encoder, pooling=pooling)
        if dropout is not None:
            model.dropout = dropout
        if lora is not None:
            model.add_adapter(lora, plan.seed)
        printed = plan.method.recipe(model) if recipe == "paper" else None
        if pooling is None and (printed is not None or not model.pooling_given):
            model.pooling = printed.pooling if printed is not None else plan.method.pooling(model)
        if printed is not None:
            plan = replace(plan, method=_method(plan.method.name, plan.settings, printed.hyperparameters))
            _tell_whose(plan.method, model)
        chosen = (_of_bundled(recipe, encoder, given) if printed is None else printed.settings()) | given
        config = TrainConfig(seed=plan.seed, **chosen)
        if "eval_every" not in chosen:
            config = replace(config, eval_every=max(1, config.length(len(sentences)) // 8))
        _tell(
            f"{plan.method.name} on {encoder} ({model.pooling}), {len(sentences):,} sentences, dev: {what}, "
            f"{chosen_precision(config.precision)}"
        )
        run = _run(model, plan, sentences, config, evaluator)
        rows[f"{plan.method.name}, seed {plan.seed}"] = _result(run)
    if len(plans) > 1 and options.is_main_process():
        shown = {name: {column: _shown(column, cell) for column, cell in row.items()} for name, row in rows.items()}
        print_table(rows if asked["form"] == "json" else shown | _means(plans, rows), asked["form"])


def _of_bundled(recipe: str, encoder: str, given: dict[str, Any]) -> dict[str, Any]:
    """The settings of a bundled encoder's recipe, told; its length only where none was given."""
    if recipe != "bundled":
        return {}
    from cselab_lab.experiments.plan import RECIPES

    settings = RECIPES[encoder].settings()
    if "steps" in given or "epochs" in given:
        settings = {name: value for name, value in settings.items() if name not in ("steps", "eval_every")}
    taken = {name: value for name, value in settings.items() if name not in given}
    if taken:
        told = ", ".join(f"{name.replace('_', '-')} {value}" for name, value in taken.items())
        _tell(f"the recipe of {encoder} for what was not said: {told} (--recipe none: without)")
    return settings


def _tell_whose(method: Any, model: "SentenceEncoder") -> None:
    """Where the paper prints no recipe for this kind of encoder: whose is taken. Bundled encoders are in no paper."""
    from cselab.methods.recipe import family

    if (asked := family(model)) not in method.recipes and model.name not in BUNDLED:
        taken = next(name for name, recipe in method.recipes.items() if recipe is method.recipe(model))
        _tell(f"{method.name}: its paper prints no recipe for {asked}; the one for {taken} is taken")


def _run(
    model: "SentenceEncoder", plan: _Plan, sentences: list[Any], config: "TrainConfig", evaluator: "Evaluator | None"
) -> "Run":
    from cselab.training import train as run_training

    try:
        run = run_training(
            model, plan.method, sentences, config, evaluator, callbacks=[_tell_score], output=plan.folder
        )
    except KeyboardInterrupt:
        click.echo(f"interrupted: {_standing(plan.folder)}", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
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

    means = {}
    for name in dict.fromkeys(plan.method.name for plan in plans):
        own = [rows[f"{name}, seed {plan.seed}"] for plan in plans if plan.method.name == name]
        if len(own) > 1:
            means[f"{name}, mean ± sd"] = {
                column: " ± ".join(_shown(column, of([row[column] for row in own])) for of in (mean, stdev))
                for column in DIGITS
                if column in own[0]
            }
    return means


def _tell(text: str) -> None:
    if not is_quiet() and options.is_main_process():
        click.echo(text)


@contextmanager
def _training_on(device: str | None) -> Iterator[None]:
    """The device that accelerate takes inside."""
    where = options.accelerator(device)
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
