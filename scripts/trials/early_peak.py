"""Does WhitenedCSE's dev score peak early on half Wikipedia? 600 steps, read through three vectors.

    python scripts/trials/early_peak.py run --seeds 0   # the trials, each ends in a line
    python scripts/trials/early_peak.py table           # what the lines say, as Markdown

`mini`, half world, half Simple English Wikipedia; every 40 steps the pairs of Classroom-STS dev are scored by the
vector that is evaluated, by the head's, which the loss saw, and by the first one whitened on these sentences. A trial
is a line of results/early-peak.jsonl; one that stands there is not computed again.

Three more were declared, each to take one suspect away (a third of the rate, larger groups, three views without
whitening). They were not run: the first two trials showed no peak.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from cselab_lab.experiments.corpora import corpus
from cselab_lab.experiments.recipes import recipe
from cselab_lab.tables import table

from cselab import SentenceEncoder, train
from cselab.data import Pairs
from cselab.evaluators import PairsEvaluator
from cselab.evaluators.references import TransformedEncoder
from cselab.evaluators.versions import versions
from cselab.evaluators.world import classroom_sts
from cselab.methods import create_method
from cselab.transforms import fit

STORE = Path(__file__).resolve().parents[2] / "results" / "early-peak.jsonl"
STEPS = 600
CORPUS = "half-world:20000"
TRIALS = {"WhitenedCSE": "whitenedcse", "SimCSE": "simcse"}


class ThreeVectors:
    """The dev score of the evaluated vector, of the head's, and of the evaluated one whitened."""

    def __init__(self, pairs: Pairs) -> None:
        self.dev = PairsEvaluator(pairs)
        self.identity = self.dev.identity

    def __call__(self, encoder: SentenceEncoder) -> Mapping[str, float]:
        scores = self.dev(encoder)
        whitening = fit("whitening", np.asarray(encoder.encode(self.dev.pairs.sentences, show_progress_bar=False)))
        whitened = self.dev(TransformedEncoder(encoder, whitening, "whitened"))["score"]
        if encoder.untrained:  # before the first step
            return scores | {"whitened": whitened}
        evaluated, encoder.representation = encoder.representation, "head"
        try:
            return scores | {"whitened": whitened, "head": self.dev(encoder)["score"]}
        finally:
            encoder.representation = evaluated


def trial(method: str, seed: int) -> dict[str, Any]:
    encoder = SentenceEncoder.from_pretrained("mini", pooling=recipe("mini").pooling)
    config = recipe("mini").config(steps=STEPS, seed=seed, eval_every=40)
    dev = ThreeVectors(classroom_sts("dev"))
    run = train(encoder, create_method(method), corpus(CORPUS), config, dev, show_progress_bar=False)
    looks = [row for row in run.history if "score" in row]
    names = ("step", "score", "head", "whitened", "mean_cosine", "uniformity")
    return {name: [round(row[name], 3) for row in looks if name in row] for name in names} | {"versions": versions()}


def read() -> list[dict[str, Any]]:
    return [json.loads(line) for line in STORE.read_text(encoding="utf-8").splitlines()] if STORE.exists() else []


def run(seeds: Sequence[int]) -> None:
    for seed in seeds:
        for label, method in TRIALS.items():
            key = {"trial": label, "seed": seed}
            if not any(key.items() <= line.items() for line in read()):
                line = key | {"method": method} | trial(method, seed)
                with open(STORE, "a", encoding="utf-8") as store:
                    store.write(json.dumps(line) + "\n")


def in_words(lines: list[dict[str, Any]]) -> str:
    """A row for each trial: of each vector the score before training, the best one and its step, and the last one."""
    rows: dict[str, dict[str, Any]] = {}
    for label in TRIALS:
        same = [line for line in lines if line["trial"] == label]
        if same:
            rows[label] = {"seeds": str(len(same))}
            for title, name in (("evaluated", "score"), ("head", "head"), ("whitened", "whitened")):
                curves = [dict(zip(line["step"][::-1], line[name][::-1], strict=False)) for line in same]
                best = mean(max(curve.values()) for curve in curves)
                steps = ", ".join(str(max(curve, key=curve.__getitem__)) for curve in curves)
                last = mean(line[name][-1] for line in same)
                rows[label][title] = f"{best:.1f} at {steps}; last {last:.1f}"
            rows[label]["mean cosine, last"] = f"{mean(line['mean_cosine'][-1] for line in same):.2f}"
    return table(rows, form="md")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    asked = parser.parse_args()
    if asked.what == "run":
        run(asked.seeds)
    else:
        print(in_words(read()))


if __name__ == "__main__":
    main()
