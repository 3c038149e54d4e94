"""Vectors of more sentences than fit into memory: encoded window by window, straight into a file."""

import os
import warnings
from collections.abc import Iterable
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from cselab._util.arguments import PositiveInt, checked
from cselab._util.progress import Progress
from cselab._util.writing import written_whole
from cselab.data.rows import check_sentences

from .encoder import WINDOW, TextWarning, Truncation


@checked
def encode_to_file(
    encoder: Any,
    sentences: Iterable[str],
    path: str | Path,
    batch_size: PositiveInt = 64,
    show_progress_bar: bool = True,
    normalize_embeddings: bool = False,
    prompt_name: str | None = None,
) -> np.memmap:
    """The vectors of `encoder.encode(sentences)` in a `.npy` file, in the sentences' order: float32 [n, d].

    Sentences may come from a generator: memory holds at most a window of 16,384 of them and does not grow with their
    number. The file takes its name when it is whole. With a `DistributedEncoder` every process encodes its share of a
    window and the main one writes; all must see the same files.

    Args:
        encoder: a `SentenceEncoder` or a `DistributedEncoder`.
        sentences: any iterable of non-empty strings, such as `cselab.data.read_sentences(file)`.
        path: ends in `.npy`; an existing file is replaced.
        batch_size: sentences per forward pass.
        show_progress_bar: whether the sentences done are counted.
        normalize_embeddings: scale each vector to length one.
        prompt_name: the name of one of the encoder's `prompts`, put before each sentence.

    Returns:
        The file's array, mapped into memory and read-only.

    Raises:
        TypeError, ValueError: a path with a different ending; no sentences, or an element that is not a sentence (its
            index is named).
        OSError: the file cannot be written; an existing file remains.
    """
    path = Path(path)
    if path.suffix != ".npy":
        raise ValueError(f"path must end in .npy, got {path}")
    remaining, rows, cut, unknown = iter(sentences), 0, 0, 0
    writes = getattr(encoder, "is_main_process", True)
    progress = Progress(None, "encode", show=show_progress_bar and writes)
    with written_whole(path) if writes else nullcontext(os.devnull) as aside, open(aside, "wb") as file, progress:
        _write_header(file, rows, encoder.embedding_dimension)
        while window := list(islice(remaining, WINDOW)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", TextWarning)  # reported once, for all
                vectors = encoder.encode(
                    check_sentences(window, first=rows),
                    batch_size,
                    False,
                    normalize_embeddings=normalize_embeddings,
                    prompt_name=prompt_name,
                )
            file.write(np.ascontiguousarray(vectors, dtype="<f4").data)
            file.flush()
            rows += len(window)
            if encoder.last_truncation:
                cut, unknown = cut + encoder.last_truncation.cut, unknown + encoder.last_truncation.unknown
            progress.update(len(window))
        if not rows:
            raise ValueError("sentences is empty: nothing to encode")
        file.seek(0)  # the number of rows is known now
        _write_header(file, rows, encoder.embedding_dimension)
    encoder.last_truncation = Truncation(cut, rows, encoder.max_length, unknown)
    if writes:
        encoder.last_truncation.warn(stacklevel=3)
    if processes := getattr(encoder, "processes", None):
        processes.wait_for_everyone()
    return np.load(path, mmap_mode="r")


def _write_header(file: BinaryIO, rows: int, width: int) -> None:
    """The same number of bytes for any number of rows: numpy leaves room for the first dimension to grow."""
    header = {"descr": "<f4", "fortran_order": False, "shape": (rows, width)}
    np.lib.format.write_array_header_1_0(file, header)
