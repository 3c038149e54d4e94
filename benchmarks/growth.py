"""How cost grows with work: sentences, batch, length, width, groups, rows; seconds and peak memory of each.

    python benchmarks/growth.py                        # every line: results/growth.json
    python benchmarks/growth.py sentences ranks --largest 1000000
    python scripts/growth_picture.py docs/growth.png   # the picture in docs/scale.md

A point is the processor time of one thread, the least of three runs (one, where a run takes more than ten seconds), so
that a machine with other work gives the same. Each line is a process of its own, which takes its points from the
smallest up: the peak memory of a point is that of all up to it. The slope is that of the logarithms over the last
three points: 1 grows as the work, 2 as its square.
"""

import argparse
import json
import math
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cselab.evaluators.versions import versions

FILE = Path(__file__).resolve().parents[1] / "results" / "growth.json"
WORDS = "the a small red old quiet dog cat bird child teacher river sees likes follows paints under near today".split()


@dataclass(frozen=True)
class Line:
    """A kind of work in growing sizes: `prepare(size)` makes it, calling what it returns is measured."""

    what: str
    unit: str
    sizes: tuple[int, ...]
    prepare: Callable[[int], Callable[[], Any]]


def texts(count: int, words: int = 12) -> Iterator[str]:
    """So many different sentences of so many words, made as they are taken."""
    for number in range(count):
        yield " ".join([*(WORDS[(number * 7 + at * at) % len(WORDS)] for at in range(words - 1)), str(number)])


def encoding(sentences: int) -> Callable[[], Any]:
    from cselab import SentenceEncoder, encode_to_file

    encoder = SentenceEncoder.from_pretrained("micro", device="cpu")
    folder = tempfile.mkdtemp()

    def encode() -> None:
        encode_to_file(encoder, texts(sentences), Path(folder, "vectors.npy"), show_progress_bar=False)
        Path(folder, "vectors.npy").unlink()

    return encode


def starting(sentences: int) -> Callable[[], Any]:
    """All that `train` does before and after its steps: of one step the corpus is too large to matter."""
    return steps(batch=8, corpus=list(texts(sentences)))


def steps(batch: int = 32, length: int = 32, corpus: list[str] | None = None) -> Callable[[], Any]:
    from cselab import SentenceEncoder, TrainConfig, train

    encoder = SentenceEncoder.from_pretrained("micro", device="cpu")
    rows = corpus or list(texts(batch, words=length))
    config = TrainConfig(steps=1, batch_size=batch, max_length=length, precision="fp32", eval_every=10)
    return lambda: train(encoder.copy(), "simcse", rows, config, show_progress_bar=False)


def whitening(width: int = 768, groups: int | None = None) -> Callable[[], Any]:
    import torch

    from cselab.sgw import ShuffledGroupWhitening

    rows = torch.randn(1024, width, generator=torch.Generator().manual_seed(0))
    layer = ShuffledGroupWhitening(width, groups or max(width // 64, 1), momentum=None)
    return lambda: layer(rows)


def vectors(rows: int) -> np.ndarray:
    """Rows in a file, mapped into memory: they take no memory of their own."""
    file = Path(tempfile.mkdtemp(), "rows.npy")
    mapped = np.lib.format.open_memmap(file, "w+", np.float32, (rows, 768))
    generator = np.random.default_rng(0)
    for start in range(0, rows, 4096):
        mapped[start : start + 4096] = generator.standard_normal((min(4096, rows - start), 768), dtype=np.float32)
    mapped.flush()
    del mapped
    opened = np.load(file, mmap_mode="r")
    file.unlink()
    return opened


def measure(name: str, rows: int) -> Callable[[], Any]:
    from cselab.metrics import geometry

    return partial(getattr(geometry, name), vectors(rows))


def powers(first: int, last: int, factor: int = 4) -> tuple[int, ...]:
    return tuple(first * factor**power for power in range(1 + round(math.log(last / first, factor))))


LINES = {
    "sentences": Line("encode_to_file, micro", "sentences", (*powers(1024, 262144), 10**6), encoding),
    "start": Line("start of train, micro", "sentences", (*powers(1024, 262144), 10**6), starting),
    "batch": Line("a step of SimCSE, micro", "batch", powers(16, 1024, 2), steps),
    "length": Line("a step of SimCSE, micro, batch 32", "tokens", powers(8, 128, 2), lambda size: steps(length=size)),
    "width": Line("whitening of 1,024 rows, groups of 64", "width", powers(64, 1024, 2), whitening),
    "groups": Line("whitening of 1,024 x 768", "groups", (1, 3, 12, 48, 192, 384), lambda size: whitening(groups=size)),
    "uniformity": Line("uniformity, exact, width 768", "rows", powers(1024, 16384, 2), partial(measure, "uniformity")),
    "sampled": Line(
        "uniformity, 500,000 pairs, width 768", "rows", powers(4096, 65536), partial(measure, "sampled_uniformity")
    ),
    "ranks": Line(
        "effective rank, width 768", "rows", (*powers(4096, 65536), 10**6), partial(measure, "effective_rank")
    ),
}


def seconds(work: Callable[[], Any]) -> float:
    taken: list[float] = []
    while len(taken) < 3 and sum(taken) < 10:
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def points(line: Line, largest: int) -> Iterator[dict[str, Any]]:
    import torch

    torch.set_num_threads(1)
    line.prepare(line.sizes[0])()  # whatever is made once
    for size in line.sizes:
        if size > largest:
            return
        took = seconds(line.prepare(size))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield {line.unit: size, "seconds": round(took, 5), "peak memory, MB": round(peak)}


def slope(line: Line, points: list[dict[str, Any]]) -> float:
    last = np.log([[point[line.unit], point["seconds"]] for point in points[-3:]])
    return round(float(np.polyfit(*last.T, 1)[0]), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", nargs="*", metavar="line", help=f"of {', '.join(LINES)}; default: all")
    parser.add_argument("--largest", type=int, default=10**6, help="points above this are left out")
    parser.add_argument("--output", type=Path, default=FILE)
    asked = parser.parse_args()
    if unknown := set(asked.lines) - set(LINES):
        parser.error(f"no such line: {', '.join(sorted(unknown))}")
    if len(asked.lines) != 1:
        for name in asked.lines or LINES:
            again = [sys.executable, __file__, name, "--largest", str(asked.largest), "--output", str(asked.output)]
            subprocess.run(again, check=True)
        return
    (name,), file = asked.lines, asked.output
    line, measured = LINES[name], []
    for point in points(line, asked.largest):
        measured.append(point)
        print(name, point, flush=True)
    content = json.loads(file.read_text()) if file.exists() else {}
    content[name] = {
        "what": line.what,
        "unit": line.unit,
        "slope": slope(line, measured),
        "points": measured,
        "date": date.today().isoformat(),
        "machine": f"{platform.machine()}, one thread",
        "versions": versions(),
    }
    file.write_text(json.dumps(content, indent=1) + "\n")
    print(name, "slope", content[name]["slope"], flush=True)


if __name__ == "__main__":
    main()
