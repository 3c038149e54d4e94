"""Reading text with checks for damage: every error names the file and, if possible, the line."""

import gzip
import lzma
import shlex
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cselab._util.arguments import checked
from cselab._util.reading import NOT_FETCHED, is_pointer

SAVE_AS = "save text (UTF-16, Latin-1 ...) as UTF-8, and a workbook or document (.xlsx, .docx, .pdf) as .csv or .txt"


OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}


def ending(path: str | Path) -> str:
    """The form of a file by its ending, ignoring compression.

    >>> ending("corpus.CSV.gz"), ending("corpus")
    ('.csv', '')
    """
    path = Path(path)
    return (path.with_suffix("") if path.suffix in OPENERS else path).suffix.lower()


class DataError(ValueError):
    """A data file is invalid; the message names the file, the content and the expected content."""


class MissingFile(DataError, FileNotFoundError):
    """A data file is missing."""


def check_file(path: str | Path) -> Path:
    """The path, if a file is there.

    Raises:
        MissingFile: no file, or a pointer of git-lfs or git-annex in its place.
    """
    path = Path(path)
    if path.is_dir():
        raise MissingFile(f"{path} is a folder; a text file was expected")
    try:
        pointer = is_pointer(path)
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}): choose a different file") from None
    if pointer:
        raise MissingFile(f"{path} {NOT_FETCHED}")
    if not path.is_file():
        stream = " is a stream, which can be read only once: give - for standard input, or write it to a file first"
        raise MissingFile(f"{path}{stream if path.exists() else ': no such file'}")
    if path.suffix == ".zst":
        raise DataError(
            f"{path}: cselab cannot decompress .zst: run zstd -d {shlex.quote(str(path))}, and name the unpacked file"
        )
    return path


def is_blank(text: str) -> bool:
    """Whether a text shows nothing: white space, characters of no width (U+200B), a byte order mark."""
    return not any(map(str.isprintable, text.replace(" ", "")))


def check_characters(text: str, place: str) -> None:
    """Refuse half a character: an unpaired surrogate, which JSON and Python can hold and UTF-8 cannot.

    Raises:
        DataError: the text has one; names the place.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = text[error.start]
        raise DataError(f"{place}: {half!r} is half a character (a lone surrogate): remove it from the text") from None


@checked
def read_lines(path: str | Path, encoding: str = "utf-8") -> Iterator[str]:
    """The lines of a text file, one at a time, without line ends; .gz and .xz are decompressed while reading.

    Lines end at "\\n", "\\r\\n" or "\\r" and nowhere else: `str.splitlines` would also break at U+2028 and
    similar characters, which occur inside sentences. A byte order mark is dropped.

    Raises:
        MissingFile: the path is not a file.
        DataError: a line is not valid in the encoding or has a NUL byte, or a packed file is cut short.
    """
    return _decoded_lines(check_file(path), encoding)


def read_fields(path: str | Path, encoding: str = "utf-8", header: str = "") -> Iterator[tuple[str, list[str]]]:
    """The tab-separated fields of each line, never quoted, after the place of the line in words.

    Args:
        path, encoding: as `read_lines`.
        header: the beginning of a first line that is not a row; empty if there is none.

    Raises:
        MissingFile, DataError: as `read_lines`; a wrong first line.
    """
    for number, line in enumerate(read_lines(path, encoding), start=1):
        if number > 1 or not header:
            yield f"{path}, line {number}", line.split("\t")
        elif not line.startswith(header):
            raise DataError(f"{path}, line 1: a header that starts with {header!r} was expected, not {line[:40]!r}")


def _decoded_lines(path: Path, encoding: str) -> Iterator[str]:
    number = 0
    try:
        with OPENERS.get(path.suffix, open)(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                text = line.decode(encoding).removesuffix("\n").rstrip("\r")
                if "\0" in text:
                    raise DataError(f"{path}, line {number}: a NUL byte, which text never has; {SAVE_AS}")
                yield from (text.removeprefix("\ufeff") if number == 1 else text).split("\r")
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise DataError(f"{path}, line {number}: byte 0x{byte:02x} is not {encoding}; {SAVE_AS}") from None
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise DataError(f"{path}: cannot be unpacked after line {number} ({error}); is the file complete?") from None
