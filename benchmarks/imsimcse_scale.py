"""How large ImSimCSE's dimension-wise term should be: a small search, STS-B dev alone, under the recipe of effects.py.

    python benchmarks/imsimcse_scale.py

Five scales, two seeds; seven were declared, and two (weight 0; 0.001 with the sum) dropped for want of time when only
today's default had been seen. A scale other than today's (the first) becomes the default if its mean dev score is the
highest and it is above today's with each seed. A trial is a line of
results/recipe-search.jsonl, of the kind "dimension-wise term"; one that stands there is not computed again. Beside the
score stands the share of the gradient that the term has: its norm over the sum of both terms' norms, at the steps that
are evaluated. Wants the folder of real data (CSELAB_DATA).
"""

import json
from pathlib import Path

from cselab import SentenceEncoder, train
from cselab.data import load_sts
from cselab.evaluators import PairsEvaluator
from cselab.lab.experiments.corpora import corpus
from cselab.lab.recipes import recipe
from cselab.methods import create_method
from cselab.versions import versions

STORE = Path(__file__).resolve().parents[1] / "results" / "recipe-search.jsonl"
KIND = "dimension-wise term"
ENCODER, CORPUS, STEPS, SEEDS = "mini", "half-world:20000", 60, (0, 1)
SCALES = ((0.1, "mean"), (1.0, "mean"), (10.0, "mean"), (100.0, "mean"), (0.1, "sum"))
TERMS = ("off_dropout_info_nce", "dimension_contrastive")


def trial(weight: float, reduction: str, seed: int) -> dict:
    model = SentenceEncoder.from_pretrained(ENCODER, pooling="cls")
    method = create_method("imsimcse", weight=weight, reduction=reduction)
    dev = PairsEvaluator(load_sts("STS-B", split="dev"))
    config = recipe(ENCODER).config(seed=seed, steps=STEPS)
    run = train(model, method, corpus(CORPUS), config, dev, show_progress_bar=False)
    curve = [
        [row["step"], round(row["score"], 2), round(row["mean_cosine"], 3)] for row in run.history if "score" in row
    ]
    norms = {row["step"]: [row.get(f"gradient_norm/{term}") for term in TERMS] for row in run.history[1:]}
    shares = [[step, round(norms[step][1] / sum(norms[step]), 4)] for step, *_ in curve if step]
    return {
        "trained": {"dev": round(run.best["score"], 3), "mcos": round(run.best["mean_cosine"], 3)},
        "curve [step, STS-B dev, mean cosine]": curve,
        "best step": run.best["step"],
        "share of the gradient [step, dimension-wise / both]": shares,
        "versions": versions(),
    }


def main() -> None:
    lines = [json.loads(line) for line in STORE.read_text(encoding="utf-8").splitlines()]
    for seed in SEEDS:
        for weight, reduction in SCALES:
            use = recipe(ENCODER)
            key = {"kind": KIND, "encoder": ENCODER, "method": "imsimcse",
                   "parameters": {"weight": weight, "reduction": reduction}, "pooling": "cls", "corpus": CORPUS,
                   "steps": STEPS, "lr": use.lr, "batch_size": use.batch_size, "seed": seed}  # fmt: skip
            if any(all(line.get(name) == value for name, value in key.items()) for line in lines):
                continue
            found = trial(weight, reduction, seed)
            with open(STORE, "a", encoding="utf-8") as store:
                store.write(json.dumps(key | found) + "\n")
            print(weight, reduction, seed, found["trained"], *list(found.values())[1:4], flush=True)


if __name__ == "__main__":
    main()
