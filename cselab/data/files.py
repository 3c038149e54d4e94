"""Reading text so that damage is noticed: every error names the file, and the line where there is one."""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}


class DataError(ValueError):
    """A data file is not what it should be; the message names it and says what was found and expected."""


class MissingFile(DataError, FileNotFoundError):
    """A data file is not there."""


def check_file(path: str | Path) -> Path:
    """The path, if it is that of a file.

    Raises:
        MissingFile: it is not.
    """
    path = Path(path)
    if path.is_dir():
        raise MissingFile(f"{path} is a folder; a text file was expected")
    if not path.is_file():
        raise MissingFile(f"{path}: no such file")
    return path


def read_lines(path: str | Path, encoding: str = "utf-8") -> Iterator[str]:
    """The lines of a text file, one at a time, without line ends; .gz and .xz are unpacked on the way.

    Lines end at "\\n" (or "\\r\\n") and nowhere else: `str.splitlines` would also break at U+2028 and its
    kin, which occur inside sentences. A byte order mark is dropped.

    Raises:
        MissingFile: the path is not a file.
        DataError: a line is not valid in the encoding, or a packed file is cut short.
    """
    return _decoded_lines(check_file(path), encoding)


def _decoded_lines(path: Path, encoding: str) -> Iterator[str]:
    number = 0
    try:
        with OPENERS.get(path.suffix, open)(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                text = line.decode(encoding).removesuffix("\n").removesuffix("\r")
                yield text.removeprefix("\ufeff") if number == 1 else text
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise DataError(
            f"{path}, line {number}: byte 0x{byte:02x} is not {encoding}; save the file as {encoding}"
        ) from None
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise DataError(f"{path}: cannot be unpacked after line {number} ({error}); is it complete?") from None


def read_sentences(path: str | Path) -> Iterator[str]:
    """The sentences of a corpus, one a line, streamed: plain UTF-8 text, or the same packed as .gz or .xz.

    Surrounding white space is dropped and blank lines are passed over. Nothing is held in memory, so a
    corpus of any length may be read.

    Raises:
        MissingFile: the path is not a file.
        DataError: no sentence in the file, a line that is not UTF-8, a packed file cut short.

    See also: `cselab.data.read_pairs` for sentence pairs with a score.
    """
    sentences = (text for line in read_lines(path) if (text := line.strip()))
    first = next(sentences, None)
    if first is None:
        raise DataError(f"{path}: no sentence in it; a corpus is plain text with one sentence a line")
    return chain([first], sentences)
