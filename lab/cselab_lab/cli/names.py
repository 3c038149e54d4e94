"""The names that a command line may hold, known before torch is imported: checked at once, completed by the shell."""

import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import cselab
from cselab.data.nearest import did_you_mean
from cselab.encoders.bundled import BUNDLED

METHOD_FILES = Path(cselab.__file__).parent / "methods"
SUITES = ("sts", "geometry", "transfer", "clustering", "world", "world-transfer", "world-clustering")
DEV = ("auto", "sts-b", "world", "corpus", "none")
REFERENCES = ("random", "word-overlap")
PACKED = (".gz", ".xz")


@cache
def packaged_methods() -> tuple[str, ...]:
    """The names under which the package's method files register themselves, read without running them."""
    sources = (file.read_text(encoding="utf-8") for file in sorted(METHOD_FILES.glob("*.py")))
    return tuple(sorted({name for text in sources for name in re.findall(r'^@register\(\s*"([^"]+)"', text, re.M)}))


def method_names() -> tuple[str, ...]:
    """All methods: the package's, and those that the file of `--code` registered."""
    registered = getattr(sys.modules.get("cselab.methods"), "METHODS", ())
    return tuple(sorted({*packaged_methods(), *registered}))


def check_name(what: str, name: str, known: Iterable[str], also: str = "") -> str:
    """The name, if it is known.

    Raises:
        ValueError: it is not; with the nearest, all that there are, and what else may be given.
    """
    known = tuple(known)
    if name not in known:
        raise ValueError(f"unknown {what} {name!r}.{did_you_mean(name, known)} Choose one of {', '.join(known)}{also}")
    return name


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


def looks_like_a_file(name: str) -> bool:
    """Whether pairs of one's own are meant: a file that is there, or a name with the ending of one."""
    path = Path(name.removesuffix(".gz").removesuffix(".xz"))
    return Path(name).is_file() or path.suffix in (".tsv", ".txt", ".csv")
