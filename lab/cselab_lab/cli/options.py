"""Options that several commands share, and what is checked before any work."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cselab.data.files import check_file
from cselab.encoders.bundled import BUNDLED
from cselab.encoders.progress import be_quiet
from cselab_lab.cli.names import DEV, REFERENCES, SUITES, check_encoder, check_name, looks_like_a_file, method_names
from cselab_lab.tables import FORMS, check_form

if TYPE_CHECKING:
    import torch


OR_PAIRS = ", or a file of pairs"
SIZES = "how much is computed: smoke (enough to see that it runs), classroom (for a laptop), paper (for a GPU)"


def _each(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A check of one name as the callback of an option that may hold several or none."""

    def callback(value: Any) -> Any:
        try:
            for name in value if isinstance(value, list) else [value] if value is not None else []:
                check(name)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
        return value

    return callback


def _complete(names: Iterable[str] | Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [name for name in (names() if callable(names) else names) if name.startswith(incomplete)]

    return complete


def _check_scored(name: str) -> str:
    return name if name.startswith("static:") else check_encoder(name, REFERENCES)


def _check_suite(name: str) -> Any:
    return check_file(name) if looks_like_a_file(name) else check_name("suite", name, SUITES, OR_PAIRS)


def _check_dev(name: str) -> Any:
    return check_file(name) if looks_like_a_file(name) else check_name("dev", name, DEV, OR_PAIRS)


def _check_fit(name: str) -> Any:
    return name if name == "world" else check_file(name)


def _check_device(name: str) -> str:
    if not re.fullmatch(r"cpu|(cuda|xpu|mps)(:\d+)?", name):
        raise ValueError(f"unknown device {name!r}: choose cpu, cuda, cuda:1, mps ...")
    return name


def _quieten(context: typer.Context, quiet: bool) -> bool:
    if quiet:
        context.with_resource(be_quiet())
    return quiet


SEEDS = {"callback": _each(lambda text: read_seeds(text))}
FILE = {"callback": _each(check_file)}  # looked for before torch is imported
FIT = {"callback": _each(_check_fit)}
OF_YOURS = "; one of yours is found with `cselab --code FILE`, before the command"
METHOD = {
    "is_eager": True,  # a name is looked at first, and a slip answered without pydantic
    "callback": _each(lambda name: check_name("method", name, method_names(), also=OF_YOURS)),
    "autocompletion": _complete(method_names),
}
ENCODER = {"is_eager": True, "callback": _each(check_encoder), "autocompletion": _complete(BUNDLED)}
SCORED = {"is_eager": True, "callback": _each(_check_scored), "autocompletion": _complete((*BUNDLED, *REFERENCES))}

EncoderName = Annotated[str, typer.Argument(help="bundled name (micro, mini), folder, or hub name", **ENCODER)]
ScoredName = Annotated[
    str, typer.Argument(help="bundled name, folder, hub name, random, word-overlap or static:FILE", **SCORED)
]
TextFile = Annotated[Path, typer.Argument(help="text, one sentence per line; .gz and .xz too", **FILE)]
Pooling = Annotated[
    str | None,
    typer.Option(
        help="how tokens become a vector: cls, mean, emb_last_mean ...; default: what the encoder's folder says"
    ),
]
DataFolder = Annotated[
    Path | None, typer.Option("--data", help="SentEval folder; default: CSELAB_DATA, or ~/.cache/cselab/data")
]
Suites = Annotated[
    list[str] | None,
    typer.Option(
        help=f"{', '.join(SUITES)}, or a file of pairs (sentence, tab, sentence, tab, score); may be repeated; "
        "default: world, and sts where its data are found",
        is_eager=True,
        callback=_each(_check_suite),
        autocompletion=_complete(SUITES),
    ),
]
Dev = Annotated[
    str,
    typer.Option(
        help="what selects the best step: sts-b, world, corpus (label-free), none, auto, or a file of pairs",
        is_eager=True,
        callback=_each(_check_dev),
        autocompletion=_complete(DEV),
    ),
]
Precision = Annotated[
    Literal["auto", "fp32", "bf16"],
    typer.Option(help="of the encoder's arithmetic; auto: bf16 where this machine is faster with it"),
]
Tasks = Annotated[list[str] | None, typer.Option(help="only this task, such as STS-B; may be repeated")]
Protocol = Annotated[
    str | None, typer.Option(help="for transfer tasks: senteval (the default), senteval-fast or lbfgs")
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="a parameter and its value; may be repeated")
]
Device = Annotated[
    str | None,
    typer.Option(
        help="cpu, cuda, cuda:1, mps ...; default: the accelerator, where there is one",
        callback=_each(_check_device),
        autocompletion=_complete(("cpu", "cuda", "mps")),
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="no progress, only results and errors", callback=_quieten)]


def _format(forms: Sequence[str]) -> Any:
    return typer.Option(
        "--format",
        metavar="|".join(forms),
        help="form of the table on standard output",
        callback=_each(lambda form: check_form(form, forms)),
        autocompletion=_complete(forms),
    )


Format = Annotated[str, _format(("text", "md", "csv", "json"))]
PaperFormat = Annotated[str, _format((*FORMS, "json"))]


def writable(file: Path) -> Path:
    """The file, if it can be written: better asked before the work than after."""
    if file.is_dir() or not os.access(file if file.exists() else file.parent, os.W_OK):
        raise ValueError(f"cannot write {file}: give a file in a folder that exists and may be written")
    return file


def read_settings(assignments: Iterable[str] | None) -> dict[str, str]:
    """The NAME=VALUE of --set as a dict of texts."""
    settings = {}
    for assignment in assignments or ():
        name, equals, value = assignment.partition("=")
        if not equals or not name:
            raise ValueError(f"--set wants NAME=VALUE, got {assignment!r}")
        settings[name.strip()] = value.strip()
    return settings


def read_seeds(text: str) -> list[int]:
    """Seeds as people write them.

    >>> read_seeds("0-2,7")
    [0, 1, 2, 7]

    Raises:
        ValueError: not numbers and ranges of them, or a range that goes down.
    """
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = (side.strip() for side in part.partition("-"))
        if not first.isdigit() or (dash and not last.isdigit()) or int(last or first) < int(first):
            raise ValueError(f"--seeds takes numbers and ranges such as 0-4 or 0,3,7; got {text!r}")
        found += range(int(first), int(last or first) + 1)
    return found


def is_main_process() -> bool:
    """Of the processes that `accelerate launch` or torchrun started one speaks."""
    return os.environ.get("RANK", "0") == "0"


def over_processes(context: typer.Context, encoder: Any) -> Any:
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

    if device is None:
        found = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
        return found or torch.device("cpu")
    wanted = torch.device(device)
    if wanted.type != "cpu":
        kind = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
        many = torch.accelerator.device_count() if kind else 0
        if kind is None or kind.type != wanted.type or (wanted.index or 0) >= many:
            there = f"cpu and {many} of {kind.type}" if kind else "cpu alone"
            raise ValueError(f"--device {device}: this machine has {there}")
    return wanted
