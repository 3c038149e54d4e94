"""The main comparison: each method on one plain encoder, selected on STS-B dev, scored on the seven STS sets.

    python benchmarks/main_comparison.py --corpus simplewiki-1m.txt.xz --seeds 0 1 2

Each finished run is one line of results/main-comparison.jsonl and is not computed again; the table made from all
lines is results/main-comparison.md. Wants the SentEval folder (CSELAB_DATA).
"""

import argparse
import json
import statistics
from pathlib import Path

from cselab import SentenceEncoder, TrainConfig, evaluate, train
from cselab.data import load_sts, read_sentences
from cselab.evaluators import PairsEvaluator, RandomEncoder, word_overlap
from cselab.methods import create_method
from cselab.versions import versions

RESULTS = Path(__file__).resolve().parents[1] / "results"
METHODS = {
    "SimCSE": ("simcse", {}),
    "WhitenedCSE": ("whitenedcse", {}),
    "WhitenedCSE, one backbone pass": ("whitenedcse", {"backbone_passes": 1}),
    "ImSimCSE": ("imsimcse", {}),
    "Focal-InfoNCE": ("focal", {}),
}
POOLINGS = ("cls", "cls_pooler", "mean", "emb_last_mean", "layer1_last_mean", "last2_mean")
TASKS = ("STS12", "STS13", "STS14", "STS15", "STS16", "STS-B", "SICK-R")


def scored(model, evaluator) -> dict:
    encodes = hasattr(model, "encode")
    scores = evaluate(model, ["sts", "geometry"] if encodes else "sts")
    dev = evaluator(model)["score"] if encodes else None
    return {"scores": {name: round(value, 3) for name, value in scores.scores.items()},
            "avg": round(sum(scores.scores[name] for name in TASKS) / len(TASKS), 3), "dev": dev}  # fmt: skip


def runs(arguments):
    """(key of a run, function that computes it), baselines first."""
    evaluator = PairsEvaluator(load_sts("STS-B", split="dev"))

    def plain(pooling):
        return lambda: scored(SentenceEncoder.from_pretrained(arguments.encoder, pooling=pooling), evaluator)

    yield {"row": "random vectors"}, lambda: scored(RandomEncoder(), evaluator)
    yield {"row": "word overlap"}, lambda: scored(word_overlap, evaluator)
    for pooling in POOLINGS:
        yield {"row": "plain", "encoder": arguments.encoder, "pooling": pooling}, plain(pooling)
    corpus: list[str] = []

    def trained(method, parameters, config):
        def compute():
            if not corpus:
                corpus.extend(read_sentences(arguments.corpus))
            encoder = SentenceEncoder.from_pretrained(arguments.encoder, pooling=arguments.pooling)
            run = train(encoder, create_method(method, **parameters), corpus, config, evaluator)
            return {
                **scored(encoder, evaluator),
                "best_step": run.best["step"],
                "seconds": round(run.seconds),
            }

        return compute

    for seed in arguments.seeds:
        for row, (method, parameters) in METHODS.items():
            if arguments.only and row not in arguments.only:
                continue
            config = TrainConfig(
                steps=arguments.steps, lr=arguments.lr, eval_every=arguments.eval_every, seed=seed
            )
            key = {"row": row, "encoder": arguments.encoder, "pooling": arguments.pooling, "method": method,
                   "parameters": parameters, "seed": seed, "steps": config.steps, "lr": config.lr,
                   "batch_size": config.batch_size, "eval_every": config.eval_every,
                   "corpus": Path(arguments.corpus).name}  # fmt: skip
            yield key, trained(method, parameters, config)


def table(lines: list[dict]) -> str:
    """Mean and standard deviation over the seeds of each row, as Markdown."""
    groups: dict[tuple, list[dict]] = {}
    for line in lines:
        label = line["row"] + (f", {line['pooling']}" if "pooling" in line else "")
        groups.setdefault((label, line.get("lr"), line.get("steps")), []).append(line)

    def cell(values):
        values = [value for value in values if value is not None]
        if not values:
            return ""
        spread = f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""
        return f"{statistics.mean(values):.1f}{spread}"

    names = ("alignment", "uniformity", "effective_rank")
    rows = ["| | seeds | dev | " + " | ".join(TASKS) + " | avg | alignment | uniformity | effective rank |"]
    rows.append("|---" * (len(TASKS) + 7) + "|")
    for (label, *_), group in groups.items():
        seeds = sum("seed" in line for line in group) or ""
        cells = [cell([line["dev"] for line in group])]
        cells += [cell([line["scores"][task] for line in group]) for task in TASKS]
        cells.append(cell([line["avg"] for line in group]))
        for name in names:
            values = [line["scores"][name] for line in group if name in line["scores"]]
            cells.append(f"{statistics.mean(values):.2f}" if values else "")
        rows.append(f"| {label} | {seeds} | " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--encoder", default="micro")
    parser.add_argument("--pooling", default="mean")
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--lr", type=float, default=3e-4)
    parser.add_argument("--eval-every", type=int, default=25)
    parser.add_argument("--only", nargs="*", help="rows of METHODS")
    parser.add_argument("--name", default="main-comparison", help="of the files in results/")
    arguments = parser.parse_args()
    store = RESULTS / f"{arguments.name}.jsonl"
    done = [json.loads(line) for line in store.read_text().splitlines()] if store.exists() else []
    for key, compute in runs(arguments):
        if any(all(line.get(name) == value for name, value in key.items()) for line in done):
            continue
        line = {**key, **compute(), "versions": versions()}
        done.append(line)
        with open(store, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(f"{line['row']} {line.get('seed', '')}: dev {line['dev']}, avg {line['avg']}", flush=True)
        text = table(done)
        (RESULTS / f"{arguments.name}.md").write_text(text, encoding="utf-8")
    print(table(done))


if __name__ == "__main__":
    main()
