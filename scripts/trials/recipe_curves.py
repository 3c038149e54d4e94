"""How long to train, and on what: curves of the dev score, for the recipes of the profiles `classroom` and `study`.

    python scripts/trials/recipe_curves.py run               # the declared trials, in their order; each ends in a line
    python scripts/trials/recipe_curves.py table             # what the lines say, as Markdown

Each trial trains `mini` at the recipe's rate and batch for so many steps, the rate falling to zero over them, and looks
at the dev pairs of Classroom-STS every 20 steps: natural pairs that come with cselab. No test set is read. A trial is
a line of results/recipe-curves.jsonl; one that stands there is not computed again.

Declared before the first trial. The length of `study` is the shortest whose mean best dev score, over the methods and
seeds that every length has, is less than 0.3 points below the highest. The corpus is the bundled world alone, unless
half world, half Simple English Wikipedia is above it with every seed, and by more than SimCSE's standard deviation over
seeds. `classroom` is the longest of these lengths that SimCSE trains within two minutes of a core, on the same corpus.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from cselab_lab.experiments.corpora import corpus
from cselab_lab.experiments.recipes import recipe
from cselab_lab.tables import table

from cselab import SentenceEncoder, train
from cselab.evaluators import PairsEvaluator
from cselab.evaluators.versions import versions
from cselab.evaluators.world import classroom_sts
from cselab.methods import create_method

STORE = Path(__file__).resolve().parents[2] / "results" / "recipe-curves.jsonl"
ENCODER = "mini"
WORLD, HALF = "world:20000", "half-world:20000"

TRIALS = (
    *(("simcse", text, steps, 0) for steps in (600, 200) for text in (WORLD, HALF)),
    *(("simcse", WORLD, steps, 0) for steps in (60, 1000)),
    *((method, WORLD, 600, 0) for method in ("focal", "imsimcse", "whitenedcse")),
    *(("simcse", text, 600, seed) for seed in (1, 2) for text in (WORLD, HALF)),
    *(("simcse", WORLD, steps, seed) for seed in (1, 2) for steps in (200, 60)),
    *((method, WORLD, 200, 0) for method in ("focal", "imsimcse", "whitenedcse")),
    *((method, WORLD, 600, seed) for seed in (1, 2) for method in ("focal", "imsimcse")),
    *(("simcse", WORLD, 1000, seed) for seed in (1, 2)),
    *((method, WORLD, 1000, 0) for method in ("focal", "imsimcse")),
)
"""Method, corpus, steps, seed: what decides most comes first."""


def key_of(method: str, text: str, steps: int, seed: int) -> dict[str, Any]:
    chosen = recipe(ENCODER)
    return {"encoder": ENCODER, "pooling": chosen.pooling, "method": method, "corpus": text, "steps": steps,
            "lr": chosen.lr, "batch_size": chosen.batch_size, "seed": seed}  # fmt: skip


def trial(method: str, text: str, steps: int, seed: int) -> dict[str, Any]:
    encoder = SentenceEncoder.from_pretrained(ENCODER, pooling=recipe(ENCODER).pooling)
    config = recipe(ENCODER).config(steps=steps, seed=seed, eval_every=20)
    dev = PairsEvaluator(classroom_sts("dev"))
    started = time.process_time()
    history = train(encoder, create_method(method), corpus(text), config, dev, show_progress_bar=False).history
    seen = [row for row in history if "score" in row]
    best = max(seen[1:], key=lambda row: row["score"])
    curve = [[row["step"], round(row["score"], 2), round(row["mean_cosine"], 3)] for row in seen]
    return {
        "best": round(best["score"], 3),
        "best step": best["step"],
        "curve [step, Classroom-STS dev, mean cosine]": curve,
        "processor seconds": round(time.process_time() - started),
        "versions": versions(),
    }


def read() -> list[dict[str, Any]]:
    return [json.loads(line) for line in STORE.read_text(encoding="utf-8").splitlines()] if STORE.exists() else []


def missing() -> Iterator[tuple[str, str, int, int]]:
    """The trials without a line, as the file is when each is asked for."""
    for one in TRIALS:
        key = key_of(*one)
        if not any(all(line.get(name) == value for name, value in key.items()) for line in read()):
            yield one


def run() -> None:
    for one in missing():
        line = key_of(*one) | trial(*one)
        with open(STORE, "a", encoding="utf-8") as store:
            store.write(json.dumps(line) + "\n")
        print(*one, line["best"], "at", line["best step"], flush=True)


def in_words(lines: list[dict[str, Any]]) -> str:
    """A row for each method, corpus and length: the best dev score over seeds, its step, and what the run cost."""
    groups: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for line in lines:
        groups.setdefault((line["method"], line["corpus"], line["steps"]), []).append(line)
    rows = {}
    for (method, text, steps), trials in sorted(groups.items()):
        best = [line["best"] for line in trials]
        spread = f" ± {stdev(best):.1f}" if len(best) > 1 else ""
        rows[f"{method}, {text}, {steps} steps"] = {
            "seeds": str(len(trials)),
            "best dev": f"{mean(best):.1f}{spread}",
            "at step": ", ".join(str(line["best step"]) for line in trials),
            "processor seconds": f"{mean(line['processor seconds'] for line in trials):.0f}",
        }
    return table(rows, form="md")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "table"))
    if parser.parse_args().what == "run":
        run()
    else:
        print(in_words(read()))


if __name__ == "__main__":
    main()
