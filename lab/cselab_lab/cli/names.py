"""Names that a command line may hold: checked at once, before torch is imported, and completed by the shell."""

import re
from collections.abc import Iterable
from pathlib import Path

from cselab._util.choices import check_choice, did_you_mean
from cselab.data.files import ending
from cselab.data.tables import TABLES, check_corpus
from cselab.encoders.open import BUNDLED
from cselab_lab.cli import registered

BASELINES = ("random", "word-overlap")


def check_name(what: str, name: str, known: Iterable[str], also: str = "") -> str:
    """The name as it is known, whatever its case.

    Raises:
        ValueError: it is not known; with the nearest, all that there are, and what else may be given.
    """
    known = tuple(known)
    spelled = {one.lower(): one for one in known}.get(name.lower(), name)
    check_choice(what, spelled, known, also=also)
    return spelled


def check_encoder(name: str, others: Iterable[str] = ()) -> str:
    """The name of an encoder, unless it is plainly a slip: nearly a bundled one, or a folder that is not there.

    Any other name may be one of the hub's, which is asked when the encoder is opened.

    Raises:
        ValueError: a slip.
    """
    known, path = (*BUNDLED, *others), Path(name).expanduser()
    if name in known or path.exists():
        return name
    if "/" not in name and (hint := did_you_mean(name, known, likeness=0.75)):
        raise ValueError(f"no encoder {name!r}.{hint} Bundled are {', '.join(BUNDLED)}")
    beside = [folder.name for folder in path.parent.iterdir() if folder.is_dir()] if path.parent.is_dir() else []
    if "/" in name and (hint := did_you_mean(path.name, beside)):
        raise ValueError(f"there is no encoder folder {path}.{hint}")
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise ValueError(f"there is no encoder folder {path}")
    return name


def check_method(name: str) -> str:
    """The name of a method."""
    return check_name("method", name, registered.methods(), "; one of yours is found with `cselab --code FILE`")


def check_scored(name: str) -> str:
    """The name of what `evaluate` can score."""
    return name if name.startswith("static:") else check_encoder(name, BASELINES)


def check_suite(name: str) -> str:
    """The name of a suite, or a file of pairs."""
    return _or_pairs("suite", name, registered.suites())


def check_dev(name: str) -> str:
    """What selects the best step, or a file of pairs."""
    return _or_pairs("dev", name, registered.names("dev"))


def all_tasks() -> list[str]:
    """The tasks of all suites."""
    from cselab.evaluators import SUITES

    return [task for suite in SUITES.values() for task in suite.tasks]


def check_task(name: str) -> str:
    """The name of a task of some suite."""
    return check_name("task", name, all_tasks())


def check_transform(name: str) -> str:
    """The name of a post-hoc transform, its K a number."""
    if name.endswith(" K"):
        raise ValueError(f"{name!r}: K is the number of components, as in {name.replace('K', '3')!r}")
    check_name("transform", re.sub(r"^without \d+$", "without K", name), registered.names("transforms"), ", K a number")
    return name


def _or_pairs(what: str, name: str, known: Iterable[str]) -> str:
    if name not in known and (Path(name).exists() or ending(name) in (".txt", *TABLES)):
        return str(check_corpus(name))
    return check_name(what, name, known, ", or a file of pairs")
