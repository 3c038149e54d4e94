"""The effects in one table: every method of the papers on one bundled encoder, [CLS] with the head, under one recipe.

    python benchmarks/effects.py run --seeds 0 1 2 --steps 60
    python benchmarks/effects.py table

Each finished run is one line of results/effects.jsonl, written as it ends; asked for again, it is not computed again.
`table` makes results/effects.md of the lines: means over seeds, and a paired test for every claim. STS-B dev chooses
the step; test sets are only scored. Wants the folder of real data (CSELAB_DATA).
"""

import argparse
import json
import statistics
import time
from pathlib import Path

from cselab_lab.experiments.corpora import corpus
from cselab_lab.experiments.recipes import recipe
from cselab_lab.tables import table

from cselab import SentenceEncoder, TrainConfig, evaluate, train
from cselab.data import load_sts
from cselab.evaluators import PairsEvaluator, RandomEncoder, TransformedEncoder, word_overlap
from cselab.evaluators.versions import versions
from cselab.methods import create_method
from cselab.metrics import alignment, effective_rank, mean_cosine, uniformity
from cselab.metrics.significance import paired_t_test
from cselab.transforms import fit

RESULTS = Path(__file__).resolve().parents[1] / "results"
STORE = RESULTS / "effects.jsonl"
SCORES = ("STS-B", "World-STS", "Classroom-STS")
GEOMETRY = ("alignment", "uniformity", "mean cosine", "effective rank")
FIT_ON = 5000
"""Sentences of the training corpus on which the controls are fitted."""

WIDTH, BATCH = 256, 64
METHODS = {
    "SimCSE": ("simcse", {}),
    "WhitenedCSE, 3 passes": ("whitenedcse", {}),
    "ImSimCSE": ("imsimcse", {}),
    "+noise on negatives": ("noise", {"on": "negatives", "variance": 0.1}),
    "Barlow Twins, M = 0": ("barlow_twins", {}),
    "Barlow Twins, M = full": ("barlow_twins", {"artificial_rows": WIDTH - BATCH}),
    "+noise on positives": ("noise", {"on": "positives", "variance": 0.1}),
    "Focal-InfoNCE": ("focal", {}),
    "WhitenedCSE, 1 pass": ("whitenedcse", {"backbone_passes": 1}),
    "SimCSE, 3 dropout views": ("simcse", {"num_views": 3}),
    "WhitenedCSE, groups not shuffled": ("whitenedcse", {"kind": "group"}),
    "WhitenedCSE, as released": ("whitenedcse", {"variant": "released"}),
    "WhitenedCSE, 2 views": ("whitenedcse", {"num_views": 2}),
    "ImSimCSE, off-dropout alone": ("imsimcse", {"weight": 0.0}),
    "ImSimCSE, dimension-wise alone": ("imsimcse", {"off_dropout": False}),
    "Barlow Twins, M = half": ("barlow_twins", {"artificial_rows": (WIDTH - BATCH) // 2}),
    "-noise on negatives": ("noise", {"on": "negatives", "mean_of": 10}),
    "-noise on positives": ("noise", {"on": "positives", "mean_of": 10}),
}
CONTROLS = {
    "plain": None,
    "plain, mean subtracted": "centred",
    "plain, first component removed": "without 1",
    **{f"plain, first {k} components removed": f"without {k}" for k in (2, 4, 8)},
    "plain, whitened": "whitening",
}
CLAIMS = (
    ("SimCSE is above plain", "SimCSE", "plain"),
    ("SimCSE is above plain with its mean subtracted", "SimCSE", "plain, mean subtracted"),
    ("SimCSE is above plain whitened", "SimCSE", "plain, whitened"),
    ("WhitenedCSE is above SimCSE", "WhitenedCSE, 3 passes", "SimCSE"),
    ("several passes are above one", "WhitenedCSE, 3 passes", "WhitenedCSE, 1 pass"),
    ("shuffling the groups gains points", "WhitenedCSE, 3 passes", "WhitenedCSE, groups not shuffled"),
    ("three views are above two", "WhitenedCSE, 3 passes", "WhitenedCSE, 2 views"),
    ("whitening adds to three dropout views", "WhitenedCSE, 3 passes", "SimCSE, 3 dropout views"),
    ("a third dropout view gains points", "SimCSE, 3 dropout views", "SimCSE"),
    ("ImSimCSE is above SimCSE", "ImSimCSE", "SimCSE"),
    ("off-dropout alone is above SimCSE", "ImSimCSE, off-dropout alone", "SimCSE"),
    ("the dimension-wise term alone is above SimCSE", "ImSimCSE, dimension-wise alone", "SimCSE"),
    ("Focal-InfoNCE is above SimCSE", "Focal-InfoNCE", "SimCSE"),
    ("noise on the negatives costs points", "SimCSE", "+noise on negatives"),
    ("noise on the positives costs points", "SimCSE", "+noise on positives"),
    ("less noise on the negatives gains points", "-noise on negatives", "SimCSE"),
    ("less noise on the positives costs points", "SimCSE", "-noise on positives"),
    ("Barlow Twins at the rank of the batch costs points", "SimCSE", "Barlow Twins, M = 0"),
    ("Barlow Twins gains by full rank", "Barlow Twins, M = full", "Barlow Twins, M = 0"),
    ("Barlow Twins gains by half of it", "Barlow Twins, M = half", "Barlow Twins, M = 0"),
)


def measured(model) -> dict[str, float]:
    """Scores of the test sets, and the geometry of STS-B's test sentences."""
    found = evaluate(model, ["sts", "world"], tasks=SCORES).scores
    scores = {name: found[name] for name in SCORES}
    if hasattr(model, "encode"):
        test = load_sts("STS-B", split="test")
        vectors = model.encode(test.sentences1 + test.sentences2)
        alike = [row for row, score in enumerate(test.scores) if score > 4]
        other = [row + len(test.scores) for row in alike]
        scores |= {
            "alignment": alignment(vectors[alike], vectors[other]),
            "uniformity": uniformity(vectors),
            "mean cosine": mean_cosine(vectors),
            "effective rank": effective_rank(vectors),
        }
    return {name: round(float(value), 3) for name, value in scores.items()}


def control(name: str, encoder: str, texts: list[str]) -> dict:
    plain = SentenceEncoder.from_pretrained(encoder, pooling="cls")
    if name == "random vectors":
        model = RandomEncoder()
    elif name == "word overlap":
        model = word_overlap
    elif CONTROLS[name] is None:
        model = plain
    else:
        model = TransformedEncoder(plain, fit(CONTROLS[name], plain.encode(texts[:FIT_ON])), name=name)
    dev = load_sts("STS-B", split="dev")
    return {"STS-B dev": round(evaluate(model, dev).scores[dev.name], 3)} | measured(model)


def trained(name: str, encoder: str, texts: list[str], config: TrainConfig) -> dict:
    began = time.monotonic()
    method, parameters = METHODS[name]
    model = SentenceEncoder.from_pretrained(encoder, pooling="cls")
    dev = PairsEvaluator(load_sts("STS-B", split="dev"))
    run = train(model, create_method(method, **parameters), texts, config, dev, show_progress_bar=False)
    curve = [
        [row["step"], round(row["score"], 2), round(row["mean_cosine"], 3)] for row in run.history if "score" in row
    ]
    losses = [round(row["loss"], 4) for row in run.history if "loss" in row]
    seconds = round(time.monotonic() - began)
    scores = {"STS-B dev": round(run.best["score"], 3)} | measured(model)
    return {"scores": scores, "best step": run.best["step"], "curve": curve, "loss": losses, "seconds": seconds}


def compute(arguments) -> None:
    use = recipe(arguments.encoder)
    done = read()
    texts = corpus(arguments.corpus)
    about = {"encoder": arguments.encoder, "corpus": arguments.corpus}

    def keep(key: dict, found: dict) -> None:
        line = key | found | {"versions": versions()}
        done.append(line)
        with open(STORE, "a", encoding="utf-8") as store:
            store.write(json.dumps(line) + "\n")
        print(json.dumps(key), found["scores"], flush=True)

    for name in () if arguments.only else ("random vectors", "word overlap", *CONTROLS):
        key = {"row": name, **about}
        if not known(done, key):
            keep(key, {"scores": control(name, arguments.encoder, texts)})
    for seed in arguments.seeds:
        for name in arguments.only or METHODS:
            config = use.config(seed=seed, steps=arguments.steps or use.steps)
            key = {"row": name, **about, "seed": seed, "steps": config.steps, "lr": config.lr,
                   "batch_size": config.batch_size, "parameters": METHODS[name][1]}  # fmt: skip
            if not known(done, key):
                keep(key, trained(name, arguments.encoder, texts, config))


def known(done: list[dict], key: dict) -> bool:
    return any(all(line.get(name) == value for name, value in key.items()) for line in done)


def read() -> list[dict]:
    return [json.loads(line) for line in STORE.read_text().splitlines()] if STORE.exists() else []


def in_words(lines: list[dict]) -> str:
    """The table of all rows, and a line a claim: the difference over the seeds that both rows have."""
    groups: dict[tuple, dict] = {}
    for line in lines:
        group = (line["row"], line["corpus"], line.get("steps", ""))
        groups.setdefault(group, {})[line.get("seed")] = line["scores"]
    texts = [text for _, text, _ in groups]
    usual = max(texts, key=texts.count)
    order = ["random vectors", "word overlap", *CONTROLS, *METHODS]
    rows, by_row = {}, {}
    for (name, trained_on, steps), seeds in sorted(groups.items(), key=lambda one: order.index(one[0][0])):
        cells = {"seeds": "" if None in seeds else str(len(seeds)), "steps": str(steps)}
        for measure in ("STS-B dev", *SCORES, *GEOMETRY):
            values = [scores[measure] for scores in seeds.values() if measure in scores]
            digits = 2 if measure in GEOMETRY[:3] else 1
            spread = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
            cells[measure] = f"{statistics.mean(values):.{digits}f}{spread}" if values else ""
        rows[name if trained_on == usual else f"{name}, trained on {trained_on}"] = cells
        if trained_on == usual:
            by_row.setdefault(name, seeds)
    text = [table(rows, form="md"), ""]
    for measure in SCORES:
        text += [f"**{measure}**, difference in points, 95 % interval over seeds (paired t-test):", ""]
        for claim, higher, lower in CLAIMS:
            if higher in by_row and lower in by_row:
                text.append(f"* {claim}: {difference(by_row[higher], by_row[lower], measure)}")
        text.append("")
    return "\n".join(text)


def difference(higher: dict, lower: dict, measure: str) -> str:
    """What stands between two rows; a row without seeds is beside every seed of the other."""
    seeds = sorted(seed for seed in higher if seed is not None and (seed in lower or None in lower))
    pairs = [(lower.get(seed, lower.get(None))[measure], higher[seed][measure]) for seed in seeds]
    each = " ".join(f"{b - a:+.1f}" for a, b in pairs)
    if len(pairs) < 2:
        return f"{each} (one seed)" if pairs else "no seed in common"
    test = paired_t_test(*zip(*pairs, strict=True))
    low, high = test.interval
    return f"{test.difference:+.1f} ({low:+.1f} to {high:+.1f}), p = {test.p_value:.2g}; seed by seed {each}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("--encoder", default="mini")
    parser.add_argument("--corpus", default="half-world:20000")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2, 3, 4])
    parser.add_argument("--steps", type=int, help="default: those of the recipe")
    parser.add_argument("--only", nargs="*", choices=METHODS, help="rows; default: all, and the controls")
    arguments = parser.parse_args()
    if arguments.what == "run":
        compute(arguments)
    (RESULTS / "effects.md").write_text(in_words(read()), encoding="utf-8")


if __name__ == "__main__":
    main()
