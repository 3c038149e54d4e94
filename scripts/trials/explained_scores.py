"""`explain-score` on trial: twenty numbers that come from a setting it is not told, and ten that come from none.

    python scripts/trials/explained_scores.py results/explained-scores.jsonl

The hidden numbers are computed here, with scipy and scikit-learn, and rounded to two digits. Tasks are the world's
and the classroom's, and STS16 where CSELAB_DATA has it. The encoder is `micro` with a head and a prompt.
"""

import json
import random
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from cselab_lab.diagnosis import ScoreExplainer
from scipy.stats import pearsonr, spearmanr
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import paired_cosine_distances, paired_euclidean_distances

from cselab import SentenceEncoder
from cselab.data import MissingFile, Pairs, load_sts
from cselab.encoders.heads import MLPHead
from cselab.evaluators.world import classroom_sts, world_sts

CASES = 20
ELSEWHERE = 10


def subject() -> SentenceEncoder:
    encoder = SentenceEncoder("micro", pooling="mean")
    encoder.attach_head(MLPHead(encoder.hidden_size, torch.Generator().manual_seed(1)))
    torch.nn.init.normal_(encoder.head.layers[0].weight, std=0.2, generator=torch.Generator().manual_seed(2))
    encoder.untrained.clear()
    encoder.prompts = {"query": "sentence: "}
    return encoder


def by_hand(pairs: Pairs, chosen: Mapping[str, Any]) -> float:
    """The score under these settings, without the code that is on trial."""
    encoder = subject()
    encoder.pooling, encoder.representation = chosen["pooling"], chosen["representation"]
    encoder.max_length = chosen["max length"]
    texts = list(dict.fromkeys([*pairs.sentences1, *pairs.sentences2]))
    given = [encoder.prompts.get(chosen["prompt"], "") + text for text in texts]
    vectors = encoder.encode(given)
    if chosen["transform"] == "centred":
        vectors = vectors - vectors.mean(axis=0)
    if chosen["transform"] == "whitening":  # the last direction has no variance: a layer norm takes it
        spanned = np.linalg.matrix_rank(vectors - vectors.mean(axis=0))
        vectors = PCA(spanned, whiten=True, svd_solver="full").fit_transform(vectors)
    row = {text: number for number, text in enumerate(texts)}
    one, two = (vectors[[row[text] for text in side]] for side in (pairs.sentences1, pairs.sentences2))
    similarity = {
        "cosine": lambda: 1 - paired_cosine_distances(one, two),
        "dot product": lambda: np.einsum("nd,nd->n", one, two),
        "Euclidean distance": lambda: -paired_euclidean_distances(one, two),
    }[chosen["similarity"]]()
    measure = {"Spearman": spearmanr, "Pearson": pearsonr}[chosen["metric"]]
    gold, subsets = np.array(pairs.scores), np.array(pairs.subsets or [""] * len(pairs))
    if chosen["aggregation"] == "all":
        return 100 * float(measure(similarity, gold).statistic)
    names, sizes = np.unique(subsets, return_counts=True)
    scores = [measure(similarity[subsets == name], gold[subsets == name]).statistic for name in names]
    weights = sizes if chosen["aggregation"] == "weighted_mean" else None
    return 100 * float(np.average(scores, weights=weights))


def tasks() -> list[str]:
    names = ["World-STS", "Classroom-STS"]
    try:
        load_sts("STS16", None, "test")
    except MissingFile:
        return names
    return [*names, "STS16"]


def pairs_of(task: str, split: str) -> Pairs:
    if task == "STS16":
        return load_sts("STS16", None, split)
    pairs = world_sts(split) if task == "World-STS" else classroom_sts(split)
    return Pairs(pairs.sentences1, pairs.sentences2, pairs.scores, task)


def main(output: Path) -> None:
    warnings.filterwarnings("ignore")
    draw, names = random.Random(30), tasks()
    explainers = {name: ScoreExplainer(subject(), name) for name in names}
    with open(output, "w", encoding="utf-8") as lines:

        def tell(row: dict[str, Any]) -> None:
            print(json.dumps(row), flush=True)
            print(json.dumps(row), file=lines, flush=True)

        for number in range(CASES):
            task = names[number % len(names)]
            bench = explainers[task]
            free = [name for name, values in bench.axes.items() if len(values) > 1]
            hidden = {
                name: draw.choice([value for value in bench.axes[name] if value != bench.base[name]])
                for name in draw.sample(free, 1 + number % 2)
            }
            chosen = bench.base | hidden
            expected = f"{by_hand(pairs_of(task, chosen['split']), chosen):.2f}"
            explanation = bench.explain(expected)
            told = [dict(one.changes) for one in explanation.explained]
            named = hidden in told
            tell({"task": task, "hidden": hidden, "expected": expected, "named": named, "told": told})
        for number in range(ELSEWHERE):
            task = names[number % len(names)]
            base = explainers[task].score(explainers[task].base)
            expected = f"{base + draw.uniform(-10, 10):.2f}"
            explanation = explainers[task].explain(expected)
            told = [dict(one.changes) for one in explanation.explained]
            tell({"task": task, "hidden": None, "expected": expected, "named": not told, "told": told})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
