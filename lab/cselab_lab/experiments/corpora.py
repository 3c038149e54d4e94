"""The texts that experiments train on, by name.

"world:N"       N sentences of the bundled world
"half-world:N"  half of them of the world, half of Simple English Wikipedia, shuffled: `cselab data fetch simplewiki`
"wiki:N"        N sentences of Simple English Wikipedia
"wiki1m"        the million sentences of Wikipedia that SimCSE publishes
anything else   a text file, a sentence a line
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import lru_cache
from itertools import islice
from pathlib import Path

from cselab.data import MissingFile, data_root, read_sentences
from cselab.data.corpora import CORPORA

TEXTS = {
    "simplewiki": ("corpora/simplewiki-1m.txt.xz", "simplewiki-1m.txt.xz", CORPORA["simplewiki"].file),
    "wiki1m": ("corpora/wiki1m.txt", "corpora/wiki1m_for_simcse.txt", "wiki1m_for_simcse.txt", "wiki1m.txt"),
}
"""By the name under which `cselab data fetch` gets them: where they may lie in the data folder."""

NEEDS = {"half-world": "simplewiki", "wiki": "simplewiki", "wiki1m": "wiki1m"}
FROM_LINE = 300_000
"""The first lines of the text of a million sentences are few long articles; from here on they are many short ones."""

WORDS = (5, 40)


@lru_cache(maxsize=4)
def corpus(name: str, columns: tuple[str, ...] = ("sentence",)) -> list:
    """The rows of a corpus: sentences, or for a method with several columns tuples of texts, from the world alone.

    Raises:
        MissingFile: the text is not in the data folder; says where it was looked for.
    """
    kind, _, number = name.partition(":")
    if kind == "world":
        return _world(int(number)) if columns == ("sentence",) else _rows(columns, int(number))
    if kind == "half-world":
        return half_world(int(number))
    if kind == "wiki":
        return shuffled(simple_wikipedia(int(number)))
    if name == "wiki1m":
        return list(read_sentences(_text("wiki1m")))
    return list(read_sentences(name))


def half_world(n: int, keep: Callable[[str], bool] | None = None) -> list[str]:
    """Half of the world, half of Simple English Wikipedia: all of its sentences, or those to keep."""
    return shuffled(_world(n // 2) + simple_wikipedia(n // 2, keep))


def shuffled(sentences: list[str]) -> list[str]:
    """Always in the same order: neighbours in a text are on one subject, and would be false negatives in a batch."""
    random.Random(0).shuffle(sentences)
    return sentences


def _rows(columns: tuple[str, ...], n: int) -> list:
    from cselab.evaluators.world import the_world

    return the_world().rows(columns, n)


def _world(n: int) -> list[str]:
    from cselab.evaluators.world import the_world

    return [sentence.text for sentence in the_world().sentences(n)]


def simple_wikipedia(n: int, keep: Callable[[str], bool] | None = None) -> list[str]:
    """N of its sentences from all over the file; see `half_world`."""
    path = _text("simplewiki")
    lines = islice(read_sentences(path), FROM_LINE if "1m" in path.name else 0, None)
    short = [line for line in lines if WORDS[0] <= len(line.split()) <= WORDS[1] and (keep is None or keep(line))]
    return short[:: max(1, len(short) // n)][:n]  # from all over the file: neighbours are on one subject


def require_text(name: str) -> None:
    """Of a corpus that needs a text in the data folder: that it is there.

    Raises:
        MissingFile: it is not; says where it was looked for, and what gets it.
    """
    kind = name.partition(":")[0]
    if kind in NEEDS:
        _text(NEEDS[kind])


def _text(name: str) -> Path:
    root, places = data_root(), TEXTS[name]
    for place in places:
        if root is not None and (root / place).is_file():
            return root / place
    where = root or "the data folder (there is none: set CSELAB_DATA, or let the command make one)"
    raise MissingFile(
        f"no {places[-1]} in {where}: looked for {', '.join(places)}; get it with: cselab data fetch {name}"
    )
