"""How fast, beside what a user would pick instead: same weights, same work, both in one run.

    python scripts/benchmarks/speed.py                   # every case, 7 rounds: results/speed.json and results/speed.md
    python scripts/benchmarks/speed.py encode train --rounds 3
    python scripts/benchmarks/speed.py half-32 half-64   # Wikipedia too: `cselab data fetch simplewiki`, or CSELAB_DATA
    python scripts/benchmarks/speed.py sts --rounds 2 --output sts.json    # the seven sets (CSELAB_DATA); only if asked

In each round both sides do the same work on fresh sentences, one after the other; which one begins changes. Before
anything is timed, both must give the same result. What is told is the median of the rounds' ratios, other time over
ours (above 1: cselab is faster), with their lowest and highest: of processor time, which another program on the machine
disturbs little, and by the clock. `OMP_NUM_THREADS=1` measures one core. Cases not asked for keep their results.
"""

import argparse
import contextlib
import copy
import json
import os
import platform
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from cselab_lab.experiments.corpora import CORPORA
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.sentence_transformer import losses
from sentence_transformers.sentence_transformer.evaluation import EmbeddingSimilarityEvaluator
from transformers import BertConfig, BertModel

from cselab import SentenceEncoder, TrainConfig, evaluate, train
from cselab._util.versions import versions
from cselab.data import STS_TASKS, Pairs, data_root, load_sts, read_sentences
from cselab.evaluators import PairsEvaluator
from cselab.methods import SimCSE
from cselab.world import World

RESULTS = Path(__file__).resolve().parents[2] / "results"


@dataclass(frozen=True)
class Case:
    """Two ways through the same work; what they give must agree."""

    what: str
    work: Callable[[int], Any]  # of a round; made before the clock starts
    ours: Callable[[Any], Any]
    other: Callable[[Any], Any]
    beside: str
    tolerance: float = 1e-4

    def check(self) -> None:
        work = self.work(-1)
        np.testing.assert_allclose(self.ours(work), self.other(work), rtol=0, atol=self.tolerance)

    def ratios(self, rounds: int) -> dict[str, list[float]]:
        """Of processor time and by the clock, a number a round."""
        by_clock: dict[str, list[float]] = {clock: [] for clock in CLOCKS}
        for number in range(rounds):
            sides = [self.ours, self.other] if number % 2 == 0 else [self.other, self.ours]
            work = self.work(number)
            seconds = {side: timed(side, work) for side in sides}
            for clock, ratios in by_clock.items():
                ratios.append(seconds[self.other][clock] / seconds[self.ours][clock])
        return by_clock


CLOCKS: dict[str, Callable[[], float]] = {"processor": time.process_time, "clock": time.perf_counter}


def timed(side: Callable[[Any], Any], work: Any) -> dict[str, float]:
    start = {name: clock() for name, clock in CLOCKS.items()}
    side(work)
    return {name: clock() - start[name] for name, clock in CLOCKS.items()}


def sentences(count: int) -> Callable[[int], list[str]]:
    """Other sentences for every round."""
    return lambda number: [sentence.text for sentence in World(1000 + number).sentences(count)]


def half_wikipedia(count: int) -> Callable[[int], list[str]]:
    """Half of the world, half of Simple English Wikipedia: other ones in every round."""

    def some(number: int) -> list[str]:
        first = (number + 1) * count
        return half_world()[first : first + count]

    return some


@cache
def half_world(half: int = 10_000) -> list[str]:
    """Lines of 5 to 40 words from all over the text of `cselab data fetch simplewiki`, mixed with the world's."""
    root = data_root()
    if root is None:
        raise SystemExit("no data folder: cselab data fetch simplewiki")
    lines = [line for line in read_sentences(root / CORPORA["simplewiki"].file) if 5 <= len(line.split()) <= 40]
    mixed = [sentence.text for sentence in World().sentences(half)] + lines[:: max(1, len(lines) // half)][:half]
    random.Random(0).shuffle(mixed)
    return mixed


SENTENCES = {"the world": sentences, "half Wikipedia": half_wikipedia}


def encoding(encoder: SentenceEncoder, other: SentenceTransformer) -> Case:
    return Case(
        f"encode 2,000 sentences, {encoder.pooling}",
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


STEPS = 12
CONFIG = TrainConfig(steps=STEPS, batch_size=64, lr=1e-4, precision="fp32", seed=0, eval_every=STEPS)


TRANSFORMERS, SENTENCE_TRANSFORMERS, TRAINER = (
    "transformers, AdamW, a plain loop",
    "`MultipleNegativesRankingLoss`, AdamW, a loop",
    "`MultipleNegativesRankingLoss`, `SentenceTransformerTrainer`",
)


def training(text: str, length: int, beside: str) -> Callable[[SentenceEncoder, SentenceTransformer], Case]:
    """Without dropout and without a head all see the same vectors: their first loss is the same number."""

    def case(encoder: SentenceEncoder, other: SentenceTransformer) -> Case:
        config = replace(CONFIG, max_length=length)

        def ours(texts: list[str]) -> float:
            bare = without_dropout(encoder.copy())
            with patch("cselab.training.loop.check_views_differ"):  # which they are, on purpose
                run = train(bare, SimCSE(head="none"), texts, config, show_progress_bar=False)
            return run.history[1]["loss"]

        def theirs(texts: list[str]) -> float:
            model = without_dropout(copy.deepcopy(other))
            model.max_seq_length = length
            loss = losses.MultipleNegativesRankingLoss(model, scale=20)
            return descended(model, lambda: loss([model.preprocess(texts) for _ in range(2)], None))

        def trainer(texts: list[str]) -> float:
            model = without_dropout(copy.deepcopy(other))
            model.max_seq_length = length
            return trained(model, texts)

        def plain(texts: list[str]) -> float:
            model, tokenizer = without_dropout(copy.deepcopy(encoder.backbone)), encoder.tokenizer

            def loss() -> torch.Tensor:
                tokens = tokenizer(texts + texts, padding=True, truncation=True, max_length=length, return_tensors="pt")
                states, seen = model(**tokens).last_hidden_state, tokens["attention_mask"][..., None]
                vectors = states[:, 0] if encoder.pooling == "cls" else (states * seen).sum(1) / seen.sum(1)
                one, two = torch.nn.functional.normalize(vectors, dim=1).chunk(2)
                return torch.nn.functional.cross_entropy(20 * one @ two.T, torch.arange(len(texts)))

            return descended(model, loss)

        what = f"{STEPS} steps of SimCSE, {encoder.pooling}, batch {CONFIG.batch_size}, {text}, {length} tokens"
        sides = {TRANSFORMERS: plain, SENTENCE_TRANSFORMERS: theirs, TRAINER: trainer}
        return Case(what, SENTENCES[text](CONFIG.batch_size), ours, sides[beside], beside)

    return case


def descended(model: Any, loss: Callable[[], torch.Tensor]) -> float:
    """The first loss of as many steps as ours takes."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=CONFIG.lr)
    model.train()
    seen = []
    for _ in range(STEPS):
        value = loss()
        value.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CONFIG.clip)
        optimizer.step()
        optimizer.zero_grad()
        seen.append(value.item())
    return seen[0]


def trained(model: SentenceTransformer, texts: list[str]) -> float:
    """The same by sentence-transformers' own trainer, its checkpoints and reports switched off."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = SentenceTransformerTrainingArguments(
            folder,
            max_steps=STEPS,
            per_device_train_batch_size=len(texts),
            learning_rate=CONFIG.lr,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            use_cpu=True,
            disable_tqdm=True,
        )
        rows = Dataset.from_dict({"anchor": texts, "positive": texts})
        loss = losses.MultipleNegativesRankingLoss(model, scale=20)
        trainer = SentenceTransformerTrainer(model, arguments, train_dataset=rows, loss=loss)
        with contextlib.redirect_stdout(None):
            trainer.train()
        return trainer.state.log_history[0]["loss"]


def without_dropout(model: Any) -> Any:
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
        for name in ("attention_dropout", "dropout_prob"):
            if isinstance(getattr(part, name, None), float):
                setattr(part, name, 0.0)
    return model


CASES: dict[str, Callable[[SentenceEncoder, SentenceTransformer], Case]] = {
    "encode": encoding,
    "encode-cls": encoding,
    "score": scoring,
    "train": training("the world", 32, SENTENCE_TRANSFORMERS),
    "train-mean": training("the world", 32, SENTENCE_TRANSFORMERS),
    "train-plain": training("the world", 32, TRANSFORMERS),
    "train-trainer": training("the world", 32, TRAINER),
    "half-32": training("half Wikipedia", 32, SENTENCE_TRANSFORMERS),
    "half-32-plain": training("half Wikipedia", 32, TRANSFORMERS),
    "half-64": training("half Wikipedia", 64, SENTENCE_TRANSFORMERS),
    "half-64-plain": training("half Wikipedia", 64, TRANSFORMERS),
    "half-64-trainer": training("half Wikipedia", 64, TRAINER),
    "sts": seven_sets,
}
POOLED_BY_MEAN = ("encode", "score", "train-mean", "sts")
"""As most encoders are; all other cases read [CLS], as SimCSE does."""

WITH_DATA = ("half-32", "half-32-plain", "half-64", "half-64-plain", "half-64-trainer", "sts")


def table(results: Sequence[dict]) -> str:
    lines = ["| work | beside | processor time | by the clock | measured |", "|---|---|---|---|---|"]
    lines += [
        f"| {row['what']} | {row['beside']} | {in_words(row['processor'])} | {in_words(row['clock'])} | {row['date']} |"
        for row in results
    ]
    return "\n".join(lines)


def in_words(ratios: Sequence[float]) -> str:
    """The median, and the lowest and the highest."""
    return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


BERT_BASE = "bert-base shape"


def opened(name: str, case: str) -> tuple[SentenceEncoder, SentenceTransformer]:
    """The encoder of a case, here and in sentence-transformers."""
    pooling = "mean" if case in POOLED_BY_MEAN else "cls"
    if name == BERT_BASE:
        tokenizer = SentenceEncoder.from_pretrained("mini", device="cpu").tokenizer
        encoder = SentenceEncoder(BertModel(BertConfig(vocab_size=30522)), tokenizer, pooling, name=name)
    else:
        encoder = SentenceEncoder.from_pretrained(name, pooling=pooling, device="cpu")
    with tempfile.TemporaryDirectory() as folder:
        encoder.save_pretrained(folder)
        return encoder, SentenceTransformer(folder, device="cpu")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="case", help=f"of {', '.join(CASES)}; default: those without data")
    parser.add_argument("--encoder", default="mini", help=f"or {BERT_BASE!r}, of random weights")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--output", type=Path, default=RESULTS / "speed.json")
    asked = parser.parse_args()
    if unknown := set(asked.cases) - set(CASES):
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    results = []
    for name in asked.cases or [name for name in CASES if name not in WITH_DATA]:
        case = CASES[name](*opened(asked.encoder, name))
        case.check()
        load = os.getloadavg()[0]
        ratios = case.ratios(asked.rounds)
        case_row = {"name": name, "what": case.what, "beside": case.beside, **ratios, "load before": load}
        results.append(case_row | {"date": date.today().isoformat()})
        print(f"{case.what}, beside {case.beside}: {in_words(ratios['processor'])}", flush=True)
    kept = json.loads(asked.output.read_text())["results"] if asked.output.exists() else []
    by_name = {row["name"]: row for row in (*kept, *results)}
    results = [by_name[name] for name in CASES if name in by_name]
    content = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {torch.get_num_threads()} threads",
        "encoder": asked.encoder,
        "versions": versions(),
        "results": results,
    }
    asked.output.write_text(json.dumps(content, indent=1) + "\n")
    command = f"`python scripts/benchmarks/speed.py --encoder {asked.encoder}`"
    header = f"# Speed\n\n{command}: {content['machine']}; medians of the rounds' ratios.\n\n"
    asked.output.with_suffix(".md").write_text(header + table(results) + "\n")


if __name__ == "__main__":
    main()
