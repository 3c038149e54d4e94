"""Options that several commands share, checks that run before any work, and the output of results."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from inspect import signature
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from cselab._util.progress import be_quiet
from cselab.data.files import check_file, ending, is_blank
from cselab.data.tables import TABLES, check_corpus, text_column
from cselab.encoders.open import BUNDLED
from cselab_lab.tables import FORMS, check_form, table

from . import names, terminal

if TYPE_CHECKING:
    import torch

INSTALL = "pip install '.[notebooks]'"
ENCODERS = "bundled name (micro, mini), folder, or hub name"
CORPUS = (
    "text with one sentence per line, or a table (.csv, .tsv, .jsonl, .json, .parquet), also compressed (.gz, "
    ".xz); a data set folder; or - for standard input"
)


class CheckedValue(click.ParamType):
    """A value that a function checks or converts, and the names that the shell completes."""

    def __init__(self, name: str, check: Callable[[str], Any], known: Callable[[], Iterable[str]] = tuple) -> None:
        self.name, self.check, self.known = name, check, known

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        return None if isinstance(param, click.Argument) else self.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            if is_blank(str(value)):
                raise ValueError("it is empty")
            return self.check(value)
        except (ValueError, OSError) as error:
            reason = getattr(error, "strerror", None)  # of the system, for example of a name that is too long
            self.fail(f"{str(value)[:400]!r} cannot be opened ({reason})" if reason else str(error), param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in self.known() if name.startswith(incomplete)]


def argument(name: str, help: str, **settings: Any) -> Callable:
    """`click.argument`; click before 8.5 prints no help of an argument."""
    described: dict[str, Any] = {"help": help} if "help" in signature(click.Argument).parameters else {}
    return click.argument(name, **settings, **described)


def read_seeds(text: str | list[int]) -> list[int]:
    """Numbers and ranges as a list of seeds; a list is returned unchanged.

    >>> read_seeds("0-2,7")
    [0, 1, 2, 7]

    Raises:
        ValueError: text without numbers and ranges, or a descending range.
    """
    if isinstance(text, list):
        return text
    numbers: list[int] = []
    for part in text.split(","):
        first, dash, last = (side.strip() for side in part.partition("-"))
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ValueError(f"--seeds must be numbers and ranges such as 0-4 or 0,3,7; got {text!r:.60}")
        if len(first + last) > 18 or int(last or first) - int(first) >= 1000:
            raise ValueError(f"--seeds {text:.40} is more than 1000 seeds, or has numbers of more than 18 digits")
        if int(last or first) < int(first):
            raise ValueError(f"--seeds must be ascending ranges such as 0-4; got {text!r}")
        numbers += range(int(first), int(last or first) + 1)
    return list(dict.fromkeys(numbers))


def _check_device(name: str) -> str:
    if not re.fullmatch(r"cpu|(cuda|xpu|mps)(:\d+)?", name):
        raise ValueError(f"unknown device {name!r}: choose cpu, cuda, cuda:1, mps ...")
    return name


def writable(file: str | Path) -> Path:
    """The path of a file that can be written; checked before the work starts."""
    file = Path(file)
    waits = file.is_fifo() and file.parts[:2] != ("/", "dev")  # but /dev/stdout
    if waits or file.is_dir() or not os.access(file if file.exists() else file.parent, os.W_OK):
        raise ValueError(f"cannot write {file}: name a file in an existing, writable folder")
    return file


def _quieten(context: click.Context, option: click.Parameter, quiet: bool) -> None:
    if quiet:
        context.with_resource(be_quiet())


def _named(kind: str, names_of: str, also: str = "", pairs: bool = False) -> CheckedValue:
    """A type: a name in a registry, or with `pairs` a file of pairs."""

    def check(name: str) -> str:
        known = names.names(names_of)
        if pairs and name not in known and (Path(name).exists() or ending(name) in (".txt", *TABLES)):
            return str(check_corpus(name))
        return names.check_name(kind, name, known, also)

    return CheckedValue(kind.upper(), check, lambda: names.names(names_of))


def _corpus(name: str) -> Path:
    """A file, a data set folder, or a temporary copy of standard input."""
    if name != "-":
        return check_corpus(name)
    if sys.stdin is None:
        raise ValueError("- means standard input, which is closed: name a file, or send text with a pipe")
    lines = sys.stdin.buffer
    if not (first := lines.readline()):
        raise ValueError("- means standard input, which is empty: send text with a pipe, or name a file")
    # the root's context ends even where a later option is wrong
    folder = Path(click.get_current_context().find_root().with_resource(TemporaryDirectory(prefix="cselab-")))
    form = "jsonl" if first.startswith(b'{"') else "json" if re.match(rb'\[\s*([{"]|$)', first) else "txt"
    file = folder / f"standard-input.{form}"
    with open(file, "wb") as copy:
        copy.write(first)
        copyfileobj(lines, copy)
    return file


OR_PAIRS = ", or a file of pairs"
COUNT: dict[str, Any] = {"type": click.IntRange(1), "metavar": "N"}
PATH = CheckedValue("PATH", lambda name: Path(os.path.expanduser(name)))
TEXT_FILE = CheckedValue("FILE", check_file)  # checked before torch is imported
OUTPUT_FILE = CheckedValue("FILE", writable)
CORPUS_FILE = CheckedValue("FILE", _corpus)
FIT = CheckedValue("FILE", lambda name: name if name == "world" else str(check_file(name)))
METHOD = _named("method", "methods", "; register your method with `cselab --code FILE`")
SEEDS = CheckedValue("SEEDS", read_seeds)
TEXT = CheckedValue("TEXT", str)
PROFILE = _named("profile", "profiles")
LESSON_PROFILE = _named("profile", "lessons")
ENCODER = CheckedValue("ENCODER", names.check_encoder, lambda: BUNDLED)
SCORED = CheckedValue("ENCODER", names.check_scored, lambda: (*BUNDLED, *names.BASELINES))
TASK = _named("task", "tasks")
TRANSFORM = CheckedValue("NAME", names.check_transform, lambda: names.names("transforms"))

encoder = argument("encoder", type=ENCODER, is_eager=True, help=ENCODERS)
scored = argument(
    "encoder", type=SCORED, is_eager=True, help="bundled name, folder, hub name, random, word-overlap or static:ENCODER"
)
pooling = click.option(
    "--pooling",
    type=_named("pooling", "poolings"),
    help="from token vectors to a sentence vector: cls, mean, emb_last_mean ...  [default: from the encoder's folder; "
    "when training a plain checkpoint, from the paper]",
)
column = click.option(
    "--column",
    metavar="NAME",
    help="table column with the sentences; a number from 1 if the table has no header  [default: sentence, text ...]",
)
data_folder = click.option("--data", type=PATH, help="SentEval folder  [default: CSELAB_DATA, or ~/.cache/cselab/data]")
suites = click.option(
    "--suite",
    "suites",
    multiple=True,
    type=_named("suite", "suites", OR_PAIRS, pairs=True),
    is_eager=True,
    help="sts, geometry, transfer, world ..., or a file of pairs (sentence1, sentence2, score); "
    "may be repeated  [default: world, and sts if the data are found]",
)
tasks = click.option("--task", "tasks", multiple=True, type=TASK, help="only this task, e.g. STS-B; may be repeated")
dev = click.option(
    "--dev",
    default="auto",
    is_eager=True,
    type=_named("dev", "dev", OR_PAIRS, pairs=True),
    help="data to select the best step: sts-b, world, corpus (label-free), none, auto, or a file of pairs",
)
precision = click.option(
    "--precision",
    default="fp32",
    type=click.Choice(["auto", "fp32", "bf16"]),
    help="arithmetic of the encoder; auto: bf16 if faster on this machine",
)
prompt_name = click.option(
    "--prompt-name", metavar="NAME", help="encoder prompt to put before each sentence: query ..."
)
posthoc = (
    click.option(
        "--posthoc",
        type=TRANSFORM,
        help="transform the vectors: centred, 'without K' (components), whitening (BERT-whitening), flow (BERT-flow)",
    ),
    click.option("--fit", type=FIT, help="text file to fit --posthoc on  [default: world, 5000 of its sentences]"),
)
settings = click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="a parameter and its value; may be repeated"
)
device = click.option(
    "--device",
    type=CheckedValue("DEVICE", _check_device, lambda: ("cpu", "cuda", "mps")),
    help="cpu, cuda, cuda:1, mps ...  [default: the accelerator if available]",
)
quiet = click.option(
    "--quiet", "-q", is_flag=True, expose_value=False, callback=_quieten, help="print only results and errors"
)


def form(*forms: str) -> Callable[[Any], Any]:
    """The option --format."""
    kind = CheckedValue("|".join(forms), lambda name: check_form(name, forms), lambda: forms)
    return click.option("--format", "form", default="text", type=kind, help="output format")


table_form = form("text", "md", "csv", "json")
paper_form = form(*FORMS, "json")
text_form = form("text", "json")


def several(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several options as one decorator, in the order of the help page."""

    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def print_json(content: Any) -> None:
    """Print JSON for programs."""
    click.echo(json.dumps(content, indent=1, ensure_ascii=False))


def print_result(result: Any, form: str) -> None:
    """Print a result as text, or its `to_dict()` as JSON."""
    print_json(result.to_dict()) if form == "json" else click.echo(str(result))


def print_table(rows: Mapping[str, Mapping[str, Any]], form: str, digits: int = 2, corner: str = "name") -> None:
    """Print rows of named cells in a form of `--format`; JSON keeps all digits, in a list of objects.

    Args:
        corner: the key of the row names in JSON.
    """
    if form == "json":
        print_json([{corner: name, **row} for name, row in rows.items()])
    elif form == "text" and terminal.is_rich():
        terminal.print_rows(rows, digits)
    else:
        click.echo(table(rows, digits=digits, form=form).rstrip("\n"))


def print_column(file: Path, chosen: str | None) -> None:
    """Print the column that holds the sentences of a table, unless the user chose one."""
    if chosen is None and (text := text_column(file)) is not None:
        click.echo(f"{file}: reading the sentences from column {text[0]!r} (change with --column)", err=True)


def read_settings(assignments: Iterable[str]) -> dict[str, str]:
    """The NAME=VALUE of --set as a dictionary of texts."""
    values = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name:
            raise ValueError(f"--set must be NAME=VALUE, got {assignment!r}")
        values[name.strip()] = value.strip()
    return values


def suites_or_default(named: Sequence[str], data: Path | None) -> list[str]:
    """The named suites; by default the world, and STS if a SentEval folder is found.

    Raises:
        MissingFile: the named folder has no data.
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


def check_fit(posthoc: str | None, fit: str | None) -> None:
    """Raise ValueError if a text is given to fit nothing on."""
    if fit is not None and posthoc is None:
        raise ValueError("--fit needs a transform: add --posthoc")


def is_main_process() -> bool:
    """Whether this process prints; of the processes of `accelerate launch` or torchrun only the first does."""
    return os.environ.get("RANK", "0") == "0"


def over_processes(context: click.Context, encoder: Any) -> Any:
    """The encoder; with several processes each encodes a share of the sentences, and only the first prints."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return encoder
    from cselab.encoders.distributed import DistributedEncoder

    if not is_main_process():
        context.with_resource(redirect_stdout(context.with_resource(open(os.devnull, "w"))))
    return DistributedEncoder(encoder)


def open_encoder(name: str, given: dict[str, Any]) -> Any:
    """An encoder on the device, and with the pooling and precision, that a command was given."""
    from cselab.encoders.encoder import SentenceEncoder

    how = {"pooling": given["pooling"], "precision": given.get("precision", "fp32")}
    return SentenceEncoder.from_pretrained(name, device=accelerator(given["device"]), **how)


def accelerator(device: str | None) -> "torch.device":
    """The named device; by default the accelerator of this machine, or its CPU.

    Raises:
        ValueError: this machine does not have the device.
    """
    import torch

    kind = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    if device is None:
        return kind or torch.device("cpu")
    wanted = torch.device(device)
    many = torch.accelerator.device_count() if kind else 0
    if wanted.type != "cpu" and (kind is None or kind.type != wanted.type or (wanted.index or 0) >= many):
        raise ValueError(
            f"--device {device}: this machine has {f'cpu and {many} of {kind.type}' if kind else 'cpu only'}"
        )
    return wanted
