"""How fast, beside what a user would pick instead: same weights, same work, both in one run.

    python benchmarks/speed.py                      # every case, 7 rounds: results/speed.json and results/speed.md
    python benchmarks/speed.py encode train --rounds 3
    CSELAB_DATA=... python benchmarks/speed.py sts --rounds 2 --output sts.json     # the seven sets; only if asked

In each round both sides do the same work on fresh sentences, one after the other; which one begins changes. Before
anything is timed, both must give the same result. What is told is the median of the rounds' ratios, other time over
ours (above 1: cselab is faster), with their lowest and highest. Run it on a machine that does nothing else;
`OMP_NUM_THREADS=1` measures one core.
"""

import argparse
import copy
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import losses
from sentence_transformers.sentence_transformer.evaluation import EmbeddingSimilarityEvaluator

from cselab import SentenceEncoder, TrainConfig, evaluate, train
from cselab.data import STS_TASKS, Pairs, load_sts
from cselab.evaluators import PairsEvaluator
from cselab.evaluators.versions import versions
from cselab.methods import SimCSE, create_method
from cselab.world import World

RESULTS = Path(__file__).resolve().parents[1] / "results"


@dataclass(frozen=True)
class Case:
    """Two ways through the same work; what they give must agree."""

    what: str
    work: Callable[[int], Any]  # of a round; made before the clock starts
    ours: Callable[[Any], Any]
    other: Callable[[Any], Any]
    beside: str
    tolerance: float | None = 1e-4  # None: the two are no equals, and only their cost is compared

    def check(self) -> None:
        work = self.work(-1)
        ours, other = self.ours(work), self.other(work)
        if self.tolerance is not None:
            np.testing.assert_allclose(ours, other, rtol=0, atol=self.tolerance)

    def ratios(self, rounds: int) -> list[float]:
        found = []
        for number in range(rounds):
            sides = [self.ours, self.other] if number % 2 == 0 else [self.other, self.ours]
            work = self.work(number)
            seconds = {side: timed(side, work) for side in sides}
            found.append(seconds[self.other] / seconds[self.ours])
        return found


def timed(side: Callable[[Any], Any], work: Any) -> float:
    start = time.perf_counter()
    side(work)
    return time.perf_counter() - start


def sentences(count: int) -> Callable[[int], list[str]]:
    """Other sentences for every round."""
    return lambda number: [sentence.text for sentence in World(1000 + number).sentences(count)]


def encoding(encoder: SentenceEncoder, other: SentenceTransformer) -> Case:
    return Case(
        "encode 2,000 sentences",
        sentences(2000),
        lambda texts: encoder.encode(texts, show_progress_bar=False),
        lambda texts: other.encode(texts, batch_size=64, show_progress_bar=False),
        "`SentenceTransformer.encode`",
    )


def spearman_of(model: SentenceTransformer, pairs: Pairs) -> float:
    evaluator = EmbeddingSimilarityEvaluator(pairs.sentences1, pairs.sentences2, pairs.scores, batch_size=64)
    return 100 * next(value for name, value in evaluator(model).items() if name.endswith("spearman_cosine"))


def scoring(encoder: SentenceEncoder, other: SentenceTransformer) -> Case:
    return Case(
        "score 600 pairs",
        lambda number: World(1000 + number).sts(600),
        lambda pairs: PairsEvaluator(pairs)(encoder)["score"],
        lambda pairs: spearman_of(other, pairs),
        "`EmbeddingSimilarityEvaluator`",
        tolerance=0.05,
    )


def seven_sets(encoder: SentenceEncoder, other: SentenceTransformer) -> Case:
    """Every round has the same pairs: those of the seven sets."""
    sets = {task: load_sts(task) for task in STS_TASKS}

    return Case(
        f"score the {len(sets)} STS sets",
        lambda number: number,
        lambda _: list(map(evaluate(encoder, "sts").scores.get, sets)),
        lambda _: [spearman_of(other, pairs) for pairs in sets.values()],
        "`EmbeddingSimilarityEvaluator`, set by set",
        tolerance=0.05,
    )


CONFIG = TrainConfig(steps=12, batch_size=64, lr=1e-4, precision="fp32", seed=0, eval_every=12)


def training(encoder: SentenceEncoder, other: SentenceTransformer) -> Case:
    """Without dropout and without a head both see the same vectors: their first loss is the same number."""

    def ours(texts: list[str]) -> float:
        bare = without_dropout(encoder.copy())
        run = train(bare, SimCSE(head="none"), texts, CONFIG, show_progress_bar=False)
        return run.history[1]["loss"]

    def theirs(texts: list[str]) -> float:
        model = without_dropout(copy.deepcopy(other))
        loss = losses.MultipleNegativesRankingLoss(model, scale=20)
        optimizer = torch.optim.AdamW(model.parameters(), lr=CONFIG.lr)
        model.train()
        seen = []
        for _ in range(CONFIG.steps):
            value = loss([model.preprocess(texts) for _ in range(2)], None)
            value.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), CONFIG.clip)
            optimizer.step()
            optimizer.zero_grad()
            seen.append(value.item())
        return seen[0]

    what = f"{CONFIG.steps} steps of SimCSE, batch {CONFIG.batch_size}"
    return Case(what, sentences(CONFIG.batch_size), ours, theirs, "`MultipleNegativesRankingLoss`, AdamW, a plain loop")


def steps_of(method: str, **hyperparameters: Any) -> Callable[[SentenceEncoder, SentenceTransformer], Case]:
    """What a method costs beside SimCSE: below 1 it is slower."""

    def case(encoder: SentenceEncoder, _: SentenceTransformer) -> Case:
        def steps(name: str, **given: Any) -> Callable[[list[str]], Any]:
            made = create_method(name, **given)
            return lambda texts: train(encoder.copy(), made, texts, CONFIG, show_progress_bar=False)

        settings = "".join(f", {name} {value}" for name, value in hyperparameters.items())
        return Case(
            f"{CONFIG.steps} steps of {method}{settings}",
            sentences(CONFIG.batch_size),
            steps(method, **hyperparameters),
            steps("simcse"),
            "as many of SimCSE, here",
            tolerance=None,
        )

    return case


def without_dropout(model: torch.nn.Module) -> torch.nn.Module:
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
        for name in ("attention_dropout", "dropout_prob"):
            if isinstance(getattr(part, name, None), float):
                setattr(part, name, 0.0)
    return model


CASES: dict[str, Callable[[SentenceEncoder, SentenceTransformer], Case]] = {
    "encode": encoding,
    "score": scoring,
    "train": training,
    "whitenedcse": steps_of("whitenedcse"),
    "imsimcse": steps_of("imsimcse"),
    "focal": steps_of("focal"),
    "sts": seven_sets,
}
WITH_DATA = ("sts",)


def table(results: Sequence[dict]) -> str:
    lines = ["| work | beside | ratio, median of rounds | lowest to highest |", "|---|---|---|---|"]
    lines += [
        f"| {row['what']} | {row['beside']} | {row['ratio']:.2f} "
        f"| {min(row['ratios']):.2f} to {max(row['ratios']):.2f} |"
        for row in results
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="case", help=f"of {', '.join(CASES)}; default: those without data")
    parser.add_argument("--encoder", default="mini")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--output", type=Path, default=RESULTS / "speed.json")
    asked = parser.parse_args()
    if unknown := set(asked.cases) - set(CASES):
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    encoder = SentenceEncoder.from_pretrained(asked.encoder, pooling="mean", device="cpu")
    with tempfile.TemporaryDirectory() as folder:
        encoder.save_pretrained(folder)
        other = SentenceTransformer(folder, device="cpu")
    results = []
    for name in asked.cases or [name for name in CASES if name not in WITH_DATA]:
        case = CASES[name](encoder, other)
        case.check()
        ratios = case.ratios(asked.rounds)
        results.append(
            {"name": name, "what": case.what, "beside": case.beside, "ratio": median(ratios), "ratios": ratios}
        )
        print(f"{case.what}: {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})", flush=True)
    content = {
        "date": date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {torch.get_num_threads()} threads",
        "load before": os.getloadavg()[0],
        "encoder": asked.encoder,
        "versions": versions(),
        "results": results,
    }
    asked.output.write_text(json.dumps(content, indent=1) + "\n")
    header = f"`{asked.encoder}`, {content['machine']}, {content['date']}: `python benchmarks/speed.py`.\n\n"
    asked.output.with_suffix(".md").write_text(header + table(results) + "\n")


if __name__ == "__main__":
    main()
