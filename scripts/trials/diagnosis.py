"""The doctor on trial: twenty healthy runs, and runs with one planted fault each.

    python scripts/trials/diagnosis.py counted results/diagnosis.jsonl    # what docs/diagnosis.md tells
    python scripts/trials/diagnosis.py fixing work/fixing.jsonl           # other seeds and settings, for the thresholds

A run is `micro` on 1,200 sentences of the bundled world, 40 steps of 64 (30 where it is counted). Every line of the
output has all numbers.
"""

import dataclasses
import json
import random
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from cselab_lab.diagnosis import diagnose

from cselab import SentenceEncoder, TrainConfig, train
from cselab.encoders.heads import MLPHead
from cselab.methods import Contrastive, Views, create_method, register
from cselab.world import World
from cselab.world.classroom import classroom_sts

HEALTHY = {
    "fixing": [
        *[("simcse", {}, "mean", seed) for seed in (10, 11, 12)],
        *[("simcse", {}, "cls", seed) for seed in (10, 11)],
        ("simcse", {"temperature": 0.1}, "mean", 13),
        ("simcse", {"temperature": 0.03}, "mean", 13),
        ("imsimcse", {}, "mean", 10),
        ("imsimcse", {}, "cls", 11),
        ("focal", {}, "mean", 10),
        ("whitenedcse", {}, "mean", 10),
        ("whitenedcse", {}, "cls", 11),
        ("esimcse", {}, "mean", 10),
        ("mixcse", {}, "mean", 10),
        ("arccse", {}, "mean", 10),
        ("barlow_twins", {}, "mean", 10),
        ("dclr", {}, "cls", 10),
        ("moco", {}, "mean", 10),
        ("simcse", {"head": "none"}, "emb_last_mean", 10),
        ("simcse", {"num_views": 4}, "mean", 10),
    ],
    "counted": [
        *[("simcse", {}, "mean", seed) for seed in (0, 1, 2)],
        *[("simcse", {}, "cls", seed) for seed in (0, 1)],
        ("simcse", {"symmetric": True}, "mean", 3),
        ("simcse", {"temperature": 0.07}, "mean", 3),
        ("simcse", {"head": "none"}, "last2_mean", 3),
        ("imsimcse", {}, "mean", 1),
        ("focal", {}, "cls", 1),
        ("focal", {}, "mean", 2),
        ("whitenedcse", {}, "mean", 1),
        ("esimcse", {}, "cls", 1),
        ("mixcse", {}, "cls", 1),
        ("arccse", {}, "mean", 1),
        ("consert", {}, "mean", 1),
        ("matryoshka", {}, "mean", 1),
        ("mocose", {}, "mean", 1),
        ("simclr", {}, "mean", 1),
        ("simcse", {}, "layer1_last_mean", 4),
    ],
}

Case = tuple[Any, dict[str, Any]]
"""A subject, and what else `diagnose` is told."""


class Bench:
    """What all cases share: corpora and seeds of one part of the trial, and a folder."""

    def __init__(self, part: str, folder: Path) -> None:
        self.folder, self.fixing = folder, part == "fixing"
        self.steps = 40 if self.fixing else 30
        self.seed = 20 if self.fixing else 5
        self.corpus = [sentence.text for sentence in World(self.seed).sentences(1200)]
        self.draw = random.Random(self.seed)

    def run(self, name: str, method: str = "simcse", corpus: Any = None, encoder: Any = None, **given: Any) -> Case:
        """A run in a folder of its own."""
        settings = given.pop("settings", {})
        fields = {field.name for field in dataclasses.fields(TrainConfig)}
        options = {"steps": self.steps, "lr": 5e-4, "precision": "fp32", "eval_every": self.steps, "seed": self.seed}
        options |= {key: value for key, value in given.items() if key in fields}
        encoder = encoder or SentenceEncoder("micro", pooling=given.get("pooling", "mean"))
        if "dropout" in given:
            encoder.dropout = given["dropout"]
        corpus = corpus or self.corpus
        train(
            encoder,
            create_method(method, **settings),
            corpus,
            TrainConfig(**options),
            output=self.folder / name,
            show_progress_bar=False,
        )
        return self.folder / name, {"corpus": corpus}


@register("out_of_order", "Pairs out of order")
class OutOfOrder(Contrastive):
    """A bug in the reading of pairs: the positive of each sentence is the view of the next."""

    def views(self, encode: Any, batch: Any) -> Views:
        views = super().views(encode, batch)
        return Views(views.anchor, views.positive.roll(1, dims=0))


class Altered:
    """An encoder whose vectors are changed afterwards, by what its vectors of other sentences are like."""

    def __init__(self, change: Any) -> None:
        self.encoder, self.change = SentenceEncoder("micro", pooling="mean"), change
        vectors = self.encoder.encode(classroom_sts("dev").sentences)
        self.mean = vectors.mean(0)
        self.axes = np.linalg.svd(vectors - self.mean, full_matrices=False)[2]

    def encode(self, sentences: list[str]) -> np.ndarray:
        return self.change(self, self.encoder.encode(sentences), sentences)


class Leaking:
    """A mean over all positions of the batch, padding among them."""

    def __init__(self) -> None:
        self.encoder = SentenceEncoder("micro")

    @torch.no_grad()
    def encode(self, sentences: list[str]) -> np.ndarray:
        parts = [self.encoder.tokenize(sentences[at : at + 32]) for at in range(0, len(sentences), 32)]
        return np.concatenate([self.encoder.backbone(**one).last_hidden_state.mean(1).numpy() for one in parts])


FAULTS: dict[str, Any] = {}


def plant(name: str) -> Any:
    """A fault, by the name of the sign that should see it; the function makes a case of a bench."""
    return lambda make: FAULTS.setdefault(name, make)


def shrunk(share: float) -> Case:
    return Altered(lambda self, vectors, _: self.mean + share * (vectors - self.mean)), {}


@plant("complete collapse")
def collapse(bench: Bench) -> Case:
    return shrunk(0.05 if bench.fixing else 0.07)


@plant("dimensional collapse")
def dimensions(bench: Bench) -> Case:
    most = 6 if bench.fixing else 10

    def change(self: Altered, vectors: np.ndarray, _: Any) -> np.ndarray:
        centred = vectors - self.mean
        return centred @ self.axes[:most].T @ self.axes[:most] + 0.01 * centred

    return Altered(change), {}


@plant("cone")
def cone(bench: Bench) -> Case:
    return shrunk(0.4 if bench.fixing else 0.45)


@plant("norms that differ by length")
def norms(bench: Bench) -> Case:
    def change(_: Altered, vectors: np.ndarray, sentences: list[str]) -> np.ndarray:
        return vectors * np.array([[len(sentence.split())] for sentence in sentences])

    return Altered(change), {"texts": bench.corpus[:300]} if bench.fixing else {}


@plant("dropout missing")
def dropout(bench: Bench) -> Case:
    return bench.run("dropout", dropout=0.0005 if bench.fixing else 0.001)


@plant("temperature too low")
def cold(bench: Bench) -> Case:
    return bench.run("cold", settings={"temperature": 0.002 if bench.fixing else 0.003})


@plant("temperature too high")
def hot(bench: Bench) -> Case:
    return bench.run("hot", settings={"temperature": 2.0 if bench.fixing else 1.0})


@plant("duplicates in the corpus")
def copies(bench: Bench) -> Case:
    few = bench.draw.sample(bench.corpus, 60 if bench.fixing else 100)
    return bench.run("copies", corpus=[*bench.draw.choices(few, k=600), *bench.corpus[:600]])


@plant("false negatives")
def near_copies(bench: Bench) -> Case:
    few = bench.corpus[: 150 if bench.fixing else 200]
    ends = (".", "!", " today.", " again.", " now.", " indeed.")
    return bench.run("near", corpus=[text.rstrip(".") + end for text in few for end in ends])


@plant("learning rate too high")
def fast(bench: Bench) -> Case:
    return bench.run("fast", lr=0.02 if bench.fixing else 0.01)


@plant("loss at log N")
def out_of_order(bench: Bench) -> Case:
    return bench.run("order", "out_of_order", pooling="mean" if bench.fixing else "cls")


@plant("loss at 0 from the start")
def solved(bench: Bench) -> Case:
    return bench.run("solved", settings={"temperature": 0.005}, dropout=0.01 if bench.fixing else 0.02)


@plant("untrained head or pooler")
def untrained(bench: Bench) -> Case:
    encoder = SentenceEncoder("micro", pooling="cls" if bench.fixing else "mean")
    encoder.attach_head(MLPHead(encoder.hidden_size, torch.Generator().manual_seed(bench.seed)))
    encoder.untrained.clear()
    encoder.representation = "head"
    return encoder, {}


@plant("truncated sentences")
def cut(bench: Bench) -> Case:
    return SentenceEncoder("micro", max_length=8 if bench.fixing else 10), {}


@plant("wrong pooling")
def pooling(bench: Bench) -> Case:
    folder, _ = bench.run("pooling")
    return SentenceEncoder(folder, pooling="cls"), {}


@plant("padding that leaks")
def padding(bench: Bench) -> Case:
    return Leaking(), {}


@plant("frozen encoder")
def frozen(bench: Bench) -> Case:
    return bench.run("frozen", lr=0.0 if bench.fixing else 1e-12)


@plant("seeds that give the same")
def seeds(bench: Bench) -> Case:
    for number in range(2):
        bench.run(f"seeds/seed-{number}", steps=10, eval_every=10)
    bench.run("seeds/seed-2", steps=10, eval_every=10, seed=bench.seed + 1)
    return bench.folder / "seeds", {}


def main(part: str, output: Path) -> None:
    warnings.filterwarnings("ignore")
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, open(output, "w", encoding="utf-8") as lines:

        def looked(kind: str, name: str, case: Case) -> None:
            told = diagnose(case[0], **case[1])
            names = [finding.name for finding in told.findings]
            row = {"kind": kind, "case": name, "found": names}
            print(json.dumps(row), flush=True)
            measures = {sign: float(f"{value:.4g}") for sign, value in told.metrics.items()}
            print(json.dumps(row | {"measures": measures}), file=lines, flush=True)

        bench = Bench(part, Path(place))
        for name, make in FAULTS.items():
            looked("fault", name, make(bench))
        for number, (method, settings, pooling, seed) in enumerate(HEALTHY[part]):
            case = bench.run(f"healthy-{number}", method, settings=settings, pooling=pooling, seed=seed)
            shown = "".join(f", {key} {value}" for key, value in settings.items())
            looked("healthy", f"{method}, {pooling}, seed {seed}{shown}", case)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
