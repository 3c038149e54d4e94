"""The doctor on trial: twenty healthy runs, and runs with one planted fault each.

    python benchmarks/diagnosis.py counted results/diagnosis.jsonl      # what docs/diagnosis.md tells
    python benchmarks/diagnosis.py fixing work/fixing.jsonl             # other seeds and settings: thresholds come from these

A run is `micro` on 1,200 sentences of the bundled world, 40 steps of 64. Every line of the output has all numbers.
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
from cselab.methods import create_method
from cselab.world import World

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
        self.seed = 20 if self.fixing else 5
        self.corpus = [sentence.text for sentence in World(self.seed).sentences(1200)]
        self.draw = random.Random(self.seed)

    def run(self, name: str, method: str = "simcse", corpus: Any = None, encoder: Any = None, **given: Any) -> Case:
        """A run in a folder of its own."""
        settings = given.pop("settings", {})
        fields = {field.name for field in dataclasses.fields(TrainConfig)}
        options = {"steps": 40, "lr": 5e-4, "precision": "fp32", "eval_every": 40, "seed": self.seed}
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


class Altered:
    """An encoder whose vectors are changed afterwards."""

    def __init__(self, change: Any) -> None:
        self.encoder, self.change = SentenceEncoder("micro", pooling="mean"), change

    def encode(self, sentences: list[str]) -> np.ndarray:
        return self.change(self.encoder.encode(sentences), sentences)


class Leaking:
    """A mean over all positions of the batch, padding among them."""

    def __init__(self) -> None:
        self.encoder = SentenceEncoder("micro")

    @torch.no_grad()
    def encode(self, sentences: list[str]) -> np.ndarray:
        parts = [self.encoder.tokenize(sentences[at : at + 32]) for at in range(0, len(sentences), 32)]
        return np.concatenate([self.encoder.backbone(**one).last_hidden_state.mean(1).numpy() for one in parts])


def shrunk(share: float) -> Any:
    def change(vectors: np.ndarray, sentences: list[str]) -> np.ndarray:
        return vectors.mean(0) + share * (vectors - vectors.mean(0))

    return Altered(change)


def flattened(directions: int) -> Any:
    def change(vectors: np.ndarray, sentences: list[str]) -> np.ndarray:
        mean = vectors.mean(0)
        axes = np.linalg.svd(vectors - mean, full_matrices=False)[2][:directions]
        return (vectors - mean) @ axes.T @ axes + 0.01 * (vectors - mean)

    return Altered(change)


def summed(vectors: np.ndarray, sentences: list[str]) -> np.ndarray:
    return vectors * np.array([[len(sentence.split())] for sentence in sentences])


def faults(bench: Bench) -> dict[str, Any]:
    """The planted faults by the name of the sign that should see them; each makes its case when it is called."""
    fixing, draw, corpus = bench.fixing, bench.draw, bench.corpus

    def collapse() -> Case:
        return shrunk(0.05 if fixing else 0.07), {}

    def dimensions() -> Case:
        return flattened(6 if fixing else 10), {}

    def cone() -> Case:
        return shrunk(0.4 if fixing else 0.45), {}

    def norms() -> Case:
        return Altered(summed), {"texts": corpus[:300]} if fixing else {}

    def copies() -> Case:
        few = draw.sample(corpus, 60 if fixing else 100)
        return bench.run("copies", corpus=[*draw.choices(few, k=600), *corpus[:600]])

    def near_copies() -> Case:
        few = corpus[: 150 if fixing else 200]
        ends = (".", "!", " today.", " again.", " now.", " indeed.")
        return bench.run("near", corpus=[text.rstrip(".") + end for text in few for end in ends])

    def dropout() -> Case:
        return bench.run("dropout", dropout=0.0005 if fixing else 0.001)

    def cold() -> Case:
        return bench.run("cold", settings={"temperature": 0.002 if fixing else 0.003})

    def hot() -> Case:
        return bench.run("hot", settings={"temperature": 2.0 if fixing else 1.0})

    def fast() -> Case:
        return bench.run("fast", lr=0.02 if fixing else 0.01)

    def blind() -> Case:
        encoder = SentenceEncoder("micro", pooling="mean")
        return bench.run("blind", encoder=encoder, lr=0.03 if fixing else 0.02, pooling="mean")

    def solved() -> Case:
        return bench.run("solved", settings={"temperature": 0.005}, dropout=0.01 if fixing else 0.02)

    def untrained() -> Case:
        encoder = SentenceEncoder("micro", pooling="cls" if fixing else "mean")
        encoder.attach_head(MLPHead(encoder.hidden_size, torch.Generator().manual_seed(bench.seed)))
        encoder.untrained.clear()
        encoder.representation = "head"
        return encoder, {}

    def cut() -> Case:
        return SentenceEncoder("micro", max_length=8 if fixing else 10), {}

    def pooling() -> Case:
        folder, known = bench.run("pooling", pooling="mean")
        about = json.loads((folder / "run.json").read_text())
        return SentenceEncoder(folder, pooling="cls"), known if about["finished"] else {}

    def frozen() -> Case:
        return bench.run("frozen", lr=0.0 if fixing else 1e-12)

    def seeds() -> Case:
        for number in range(2):
            bench.run(f"seeds/seed-{number}", steps=10, eval_every=10)
        bench.run("seeds/seed-2", steps=10, eval_every=10, seed=bench.seed + 1)
        return bench.folder / "seeds", {}

    return {
        "complete collapse": collapse,
        "dimensional collapse": dimensions,
        "cone": cone,
        "norms that differ by length": norms,
        "dropout missing": dropout,
        "temperature too low": cold,
        "temperature too high": hot,
        "duplicates in the corpus": copies,
        "false negatives": near_copies,
        "learning rate too high": fast,
        "loss at log N": blind,
        "loss at 0 from the start": solved,
        "untrained head or pooler": untrained,
        "truncated sentences": cut,
        "wrong pooling": pooling,
        "padding that leaks": lambda: (Leaking(), {}),
        "frozen encoder": frozen,
        "seeds that give the same": seeds,
    }


def main(part: str, output: Path) -> None:
    warnings.filterwarnings("ignore")
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, open(output, "w", encoding="utf-8") as lines:

        def looked(kind: str, name: str, case: Case) -> None:
            told = diagnose(case[0], **case[1])
            found = [finding.name for finding in told.findings]
            row = {"kind": kind, "case": name, "found": found}
            print(json.dumps(row), flush=True)
            measures = {sign: float(f"{value:.4g}") for sign, value in told.measures.items()}
            print(json.dumps(row | {"measures": measures}), file=lines, flush=True)

        bench = Bench(part, Path(place))
        for name, plant in faults(bench).items():
            looked("fault", name, plant())
        for number, (method, settings, pooling, seed) in enumerate(HEALTHY[part]):
            case = bench.run(f"healthy-{number}", method, settings=settings, pooling=pooling, seed=seed)
            shown = "".join(f", {key} {value}" for key, value in settings.items())
            looked("healthy", f"{method}, {pooling}, seed {seed}{shown}", case)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
