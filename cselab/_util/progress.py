"""Progress of long work: a bar in a terminal and a live notebook, nothing in a pipe.

A tqdm bar in an executed notebook stays frozen at 0 %. With `CSELAB_HEADLESS` set, one line per tenth is printed
instead, which also suits the log of a batch job.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

_quiet = False


@contextmanager
def be_quiet() -> Iterator[None]:
    """A context that shows no progress, even if the caller requests it; `-q` uses it."""
    global _quiet
    before, _quiet = _quiet, True
    try:
        yield
    finally:
        _quiet = before


def is_quiet() -> bool:
    """Whether only results and errors are printed."""
    return _quiet


def say(text: str) -> None:
    """A line above the bars that are running, where progress is shown."""
    if is_quiet():
        return
    if _is_watched():
        from tqdm.auto import tqdm

        tqdm.write(text, file=sys.stderr if sys.stderr.isatty() else None)
    elif _is_headless():
        print(text, flush=True)


def _is_headless() -> bool:
    """Whether lines of progress are wanted: an executed notebook, or a log."""
    return bool(os.environ.get("CSELAB_HEADLESS"))


def _is_watched() -> bool:
    """Whether the output is read while the code runs (a terminal, or a notebook that is not run headless)."""
    if _is_headless():
        return False
    if sys.stderr.isatty():
        return True
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


class Progress:
    """Count `total` steps of named work; use as a context manager; an unknown `total` is None.

    Resumed work starts with `done` steps.

    >>> with Progress(4, "encode", show=False) as progress:
    ...     progress.update(4)
    """

    def __init__(self, total: int | None, name: str, *, show: bool = True, lines: int = 10, done: int = 0) -> None:
        self.total, self.name, self.lines = total, name, lines
        self.done, self.note = done, ""
        self.started = time.monotonic()
        self.bar = None
        show = show and not is_quiet()
        self.prints = show and _is_headless()
        if show and _is_watched():
            from tqdm.auto import tqdm

            self.bar = tqdm(total=total, desc=name)

    def update(self, steps: int = 1, note: str = "") -> None:
        before, self.done = self.done, self.done + steps
        self.note = note or self.note
        if self.bar is not None:
            if note:
                self.bar.set_postfix_str(note, refresh=False)
            self.bar.update(self.done - self.bar.n)
        elif self.prints and self._part(self.done) > self._part(before):
            seconds = time.monotonic() - self.started
            of = "" if self.total is None else f"/{self.total}"
            print(f"{self.name}: {self.done}{of}  {seconds:.0f} s  {self.note}".rstrip(), flush=True)

    def _part(self, done: int) -> int:
        """The number of lines that are due by then; one per call if the end is unknown."""
        return done if self.total is None else done * self.lines // max(self.total, 1)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.bar is not None:
            self.bar.close()
