"""Options that several commands share, and what is checked before any work."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from cselab._util.progress import be_quiet
from cselab.data.files import check_file
from cselab.data.tables import check_corpus
from cselab.encoders.open import BUNDLED
from cselab_lab.cli import names, registered
from cselab_lab.cli.frame import Checked
from cselab_lab.tables import FORMS, check_form

if TYPE_CHECKING:
    import torch

ENCODERS = "bundled name (micro, mini), folder, or hub name"
CORPUS = (
    "text, one sentence per line, or a table (.csv, .tsv, .jsonl, .json, .parquet), packed or not (.gz, .xz, .zst); "
    "the folder of a data set; or - for standard input"
)


def read_seeds(text: str) -> list[int]:
    """Seeds as people write them.

    >>> read_seeds("0-2,7")
    [0, 1, 2, 7]

    Raises:
        ValueError: not numbers and ranges of them, or a range that goes down.
    """
    numbers: list[int] = []
    for part in text.split(","):
        first, dash, last = (side.strip() for side in part.partition("-"))
        if not first.isdigit() or (dash and not last.isdigit()) or int(last or first) < int(first):
            raise ValueError(f"--seeds takes numbers and ranges such as 0-4 or 0,3,7; got {text!r}")
        if len(first + last) > 18 or int(last or first) - int(first) >= 1000:
            raise ValueError(f"--seeds {text:.40} is more than 1000 seeds, or numbers of more than 18 digits")
        numbers += range(int(first), int(last or first) + 1)
    return list(dict.fromkeys(numbers))


def _check_device(name: str) -> str:
    if not re.fullmatch(r"cpu|(cuda|xpu|mps)(:\d+)?", name):
        raise ValueError(f"unknown device {name!r}: choose cpu, cuda, cuda:1, mps ...")
    return name


def _quieten(context: click.Context, option: click.Parameter, quiet: bool) -> None:
    if quiet:
        context.with_resource(be_quiet())


def _names(kind: str, what: Any) -> Checked:
    """A type: one of the names in a registry."""
    return Checked(
        "NAME", lambda name: names.check_name(kind, name, registered.names(what)), lambda: registered.names(what)
    )


def _corpus(name: str) -> Path:
    """A file, the folder of a data set, or standard input, which is put into a file for as long as the command runs."""
    if name != "-":
        return check_corpus(name)
    folder = Path(click.get_current_context().with_resource(TemporaryDirectory(prefix="cselab-")))
    lines = sys.stdin.buffer
    first = lines.readline()
    form = "jsonl" if first.startswith(b'{"') else "json" if re.match(rb'\[\s*([{"]|$)', first) else "txt"
    file = folder / f"standard-input.{form}"
    with open(file, "wb") as copy:
        copy.write(first)
        copyfileobj(lines, copy)
    return file


COUNT: dict[str, Any] = {"type": click.IntRange(1), "metavar": "N"}
PATH = click.Path(path_type=Path)
TEXT_FILE = Checked("FILE", check_file)  # looked for before torch is imported
CORPUS_FILE = Checked("FILE", _corpus)
FIT = Checked("FILE", lambda name: name if name == "world" else str(check_file(name)))
METHOD = Checked("METHOD", names.check_method, registered.methods)
SEEDS = Checked("SEEDS", lambda text: text if isinstance(text, list) else read_seeds(text))
PROFILE = _names("profile", "profiles")
LESSON_PROFILE = _names("profile", "lessons")
ENCODER = Checked("ENCODER", names.check_encoder, lambda: BUNDLED)
SCORED = Checked("ENCODER", names.check_scored, lambda: (*BUNDLED, *names.BASELINES))
SUITE = Checked("SUITE", names.check_suite, registered.suites)
TRANSFORM = Checked("NAME", names.check_transform, lambda: registered.names("transforms"))
PRECISION = click.Choice(["auto", "fp32", "bf16"])

encoder = click.argument("encoder", type=ENCODER, is_eager=True, help=ENCODERS)
scored = click.argument(
    "encoder", type=SCORED, is_eager=True, help="bundled name, folder, hub name, random, word-overlap or static:FILE"
)
pooling = click.option(
    "--pooling",
    type=_names("pooling", "poolings"),
    help="how tokens become a vector: cls, mean, emb_last_mean ...  [default: what the encoder's folder says; in "
    "training of a plain checkpoint, what the paper takes]",
)
column = click.option(
    "--column",
    metavar="NAME",
    help="the column of a table that holds the sentences; a number, from 1 on, where it has no header  "
    "[default: sentence, text ...]",
)
data_folder = click.option("--data", type=PATH, help="SentEval folder  [default: CSELAB_DATA, or ~/.cache/cselab/data]")
suites = click.option(
    "--suite",
    "suites",
    multiple=True,
    type=SUITE,
    is_eager=True,
    help="sts, geometry, transfer, dimensions, world ..., or a file of pairs (sentence1, sentence2, score); "
    "may be repeated  [default: world, and sts where its data are found]",
)
tasks = click.option(
    "--task",
    "tasks",
    multiple=True,
    type=Checked("TASK", names.check_task, names.all_tasks),
    help="only this task, such as STS-B; may be repeated",
)
dev = click.option(
    "--dev",
    default="auto",
    is_eager=True,
    type=Checked("DEV", names.check_dev, lambda: registered.names("dev")),
    help="what selects the best step: sts-b, world, corpus (label-free), none, auto, or a file of pairs",
)
precision = click.option(
    "--precision",
    default="fp32",
    type=PRECISION,
    help="of the encoder's arithmetic; auto: bf16 where this machine is faster with it",
)
prompt_name = click.option(
    "--prompt-name", metavar="NAME", help="of the encoder's prompts, such as query; put before every sentence"
)
protocol = click.option("--protocol", help="for transfer tasks: senteval or senteval-fast  [default: senteval]")
settings = click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="a parameter and its value; may be repeated"
)
device = click.option(
    "--device",
    type=Checked("DEVICE", _check_device, lambda: ("cpu", "cuda", "mps")),
    help="cpu, cuda, cuda:1, mps ...  [default: the accelerator, where there is one]",
)
quiet = click.option(
    "--quiet", "-q", is_flag=True, expose_value=False, callback=_quieten, help="no progress, only results and errors"
)


def form(*forms: str) -> Callable[[Any], Any]:
    """The option --format."""
    kind = Checked("|".join(forms), lambda name: check_form(name, forms), lambda: forms)
    return click.option("--format", "form", default="text", type=kind, help="form of the table on standard output")


table_form = form("text", "md", "csv", "json")
paper_form = form(*FORMS, "json")


def several(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Options that go together, as one decorator, in the order in which help lists them."""

    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def writable(file: Path) -> Path:
    """The file, if it can be written: better asked before the work than after."""
    if file.is_dir() or not os.access(file if file.exists() else file.parent, os.W_OK):
        raise ValueError(f"cannot write {file}: give a file in a folder that exists and may be written")
    return file


def tell_column(file: Path, asked: str | None) -> None:
    """Say which column of a table was taken for the sentences, where nobody named one."""
    from cselab.data.tables import text_column

    if asked is None and (text := text_column(file)) is not None:
        click.echo(f"{file}: the sentences are those of its column {text[0]!r} (--column takes another)", err=True)


def read_settings(assignments: Iterable[str]) -> dict[str, str]:
    """The NAME=VALUE of --set as a dict of texts."""
    values = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name:
            raise ValueError(f"--set wants NAME=VALUE, got {assignment!r}")
        values[name.strip()] = value.strip()
    return values


def suites_or_default(named: Sequence[str], data: Path | None) -> list[str]:
    """The suites that were named; without any the world, and STS where a SentEval folder is found.

    Raises:
        MissingFile: a folder was named that has no data.
    """
    from cselab.data import MissingFile, senteval_folder

    if named:
        return list(named)
    try:
        senteval_folder(data)
    except MissingFile:
        if data is not None:
            raise
        return ["world"]
    return ["world", "sts"]


def is_main_process() -> bool:
    """Of the processes that `accelerate launch` or torchrun started one speaks."""
    return os.environ.get("RANK", "0") == "0"


def over_processes(context: click.Context, encoder: Any) -> Any:
    """The encoder; of several processes each takes its share of the sentences, and the main one speaks."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return encoder
    from cselab.encoders.distributed import DistributedEncoder

    if not is_main_process():
        context.with_resource(redirect_stdout(context.with_resource(open(os.devnull, "w"))))
    return DistributedEncoder(encoder)


def accelerator(device: str | None) -> "torch.device":
    """The device of that name; without one the accelerator of this machine, or its CPU.

    Raises:
        ValueError: this machine does not have it.
    """
    import torch

    kind = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    if device is None:
        return kind or torch.device("cpu")
    wanted = torch.device(device)
    many = torch.accelerator.device_count() if kind else 0
    if wanted.type != "cpu" and (kind is None or kind.type != wanted.type or (wanted.index or 0) >= many):
        there = f"cpu and {many} of {kind.type}" if kind else "cpu alone"
        raise ValueError(f"--device {device}: this machine has {there}")
    return wanted
