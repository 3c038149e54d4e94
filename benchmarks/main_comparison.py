"""Compare the methods on one plain encoder, under one protocol: what is trained on, selected on and scored on.

    python benchmarks/main_comparison.py --corpus simplewiki-1m.txt.xz --pooling emb_last_mean --lr 1e-4
    python benchmarks/main_comparison.py --protocol classroom --encoder mini --name classroom-mini

* `papers`: trained on a text file, selected on STS-B dev, scored on the seven STS sets. Wants the SentEval folder
  (CSELAB_DATA).
* `classroom`: trained on 10,000 sentences of the bundled world, selected on the dev part of Classroom-STS, scored on
  World-STS, Classroom-STS and, where the SentEval folder is, STS-B.

Each finished run is one line of results/NAME.jsonl and is not computed again; the table made from all lines is
results/NAME.md.
"""

import argparse
import json
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cselab import SentenceEncoder, TrainConfig, evaluate, train
from cselab.data import Pairs, data_root, load_sts, read_sentences
from cselab.evaluators import PairsEvaluator, RandomEncoder, word_overlap
from cselab.methods import create_method
from cselab.versions import versions
from cselab.world import World
from cselab.world.classroom import classroom_sts

RESULTS = Path(__file__).resolve().parents[1] / "results"
METHODS = {
    "SimCSE": ("simcse", {}),
    "WhitenedCSE": ("whitenedcse", {}),
    "WhitenedCSE, one backbone pass": ("whitenedcse", {"backbone_passes": 1}),
    "ImSimCSE": ("imsimcse", {}),
    "Focal-InfoNCE": ("focal", {}),
}
POOLINGS = ("cls", "cls_pooler", "mean", "emb_last_mean", "layer1_last_mean", "last2_mean")
GEOMETRY = ("alignment", "uniformity", "mean_cosine", "effective_rank")


@dataclass(frozen=True)
class Protocol:
    """Where texts, dev pairs and scores come from. `averaged` tasks make the column "avg"."""

    texts: Callable[[str | None], list[str]]
    dev: Callable[[], Pairs]
    suites: tuple[str, ...]
    tasks: tuple[str, ...]
    averaged: bool


def world_sentences(_: str | None) -> list[str]:
    return [sentence.text for sentence in World(seed=0).sentences(10_000)]


PROTOCOLS = {
    "papers": Protocol(
        lambda corpus: list(read_sentences(corpus)),
        lambda: load_sts("STS-B", split="dev"),
        ("sts", "geometry"),
        ("STS12", "STS13", "STS14", "STS15", "STS16", "STS-B", "SICK-R"),
        averaged=True,
    ),
    "classroom": Protocol(
        world_sentences,
        lambda: classroom_sts("dev"),
        ("world", "sts"),
        ("World-STS", "Classroom-STS") + ("STS-B",) * bool(data_root()),
        averaged=False,
    ),
}


def scored(model, protocol: Protocol, evaluator: PairsEvaluator) -> dict:
    """Test scores, the dev score, and the geometry: of STS-B's dev sentences, or else of the dev pairs."""
    dev = evaluator(model) if hasattr(model, "encode") else {}
    wanted = protocol.tasks + GEOMETRY * ("geometry" in protocol.suites and bool(dev))
    suites = [suite for suite in protocol.suites if dev or suite != "geometry"]
    found = evaluate(model, suites, tasks=None if "geometry" in suites else protocol.tasks).scores
    scores = {name: found[name] for name in wanted} | {
        name: dev[name] for name in GEOMETRY if name in dev and name not in wanted
    }
    line = {"scores": {name: round(value, 3) for name, value in scores.items()}, "dev": dev.get("score")}
    if protocol.averaged:
        line["avg"] = round(statistics.mean(scores[task] for task in protocol.tasks), 3)
    return line


def runs(arguments, protocol: Protocol):
    """(key of a run, function that computes it), baselines first."""
    evaluator = PairsEvaluator(protocol.dev())

    def plain(pooling):
        return lambda: scored(
            SentenceEncoder.from_pretrained(arguments.encoder, pooling=pooling), protocol, evaluator
        )

    yield {"row": "random vectors"}, lambda: scored(RandomEncoder(), protocol, evaluator)
    yield {"row": "word overlap"}, lambda: scored(word_overlap, protocol, evaluator)
    for pooling in POOLINGS:
        yield {"row": "plain", "encoder": arguments.encoder, "pooling": pooling}, plain(pooling)
    texts: list[str] = []

    def trained(method, parameters, config):
        def compute():
            if not texts:
                texts.extend(protocol.texts(arguments.corpus))
            encoder = SentenceEncoder.from_pretrained(arguments.encoder, pooling=arguments.pooling)
            run = train(encoder, create_method(method, **parameters), texts, config, evaluator)
            return {
                **scored(encoder, protocol, evaluator),
                "best_step": run.best["step"],
                "seconds": round(run.seconds),
            }

        return compute

    corpus = Path(arguments.corpus).name if arguments.corpus else "world"
    for seed in arguments.seeds:
        for row, (method, parameters) in METHODS.items():
            if arguments.only and row not in arguments.only:
                continue
            config = TrainConfig(
                steps=arguments.steps, lr=arguments.lr, eval_every=arguments.eval_every, seed=seed
            )
            if arguments.head != "mlp":
                parameters = {**parameters, "head": arguments.head}
            key = {"row": row, "encoder": arguments.encoder, "pooling": arguments.pooling, "method": method,
                   "parameters": parameters, "seed": seed, "steps": config.steps, "lr": config.lr,
                   "batch_size": config.batch_size, "eval_every": config.eval_every, "corpus": corpus}  # fmt: skip
            yield key, trained(method, parameters, config)


def table(lines: list[dict], protocol: Protocol) -> str:
    """Mean and standard deviation over the seeds of each row, as Markdown."""
    groups: dict[tuple, list[dict]] = {}
    for line in lines:
        label = line["row"] + (f", {line['pooling']}" if "pooling" in line else "")
        label += ", no head" if line.get("parameters", {}).get("head") == "none" else ""
        groups.setdefault((label, line.get("lr"), line.get("steps")), []).append(line)

    def cell(values, digits=1):
        values = [value for value in values if value is not None]
        if not values:
            return ""
        spread = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
        return f"{statistics.mean(values):.{digits}f}{spread}"

    columns = ["", "seeds", "dev", *protocol.tasks, *["avg"] * protocol.averaged, *GEOMETRY]
    rows = ["| " + " | ".join(name.replace("_", " ") for name in columns) + " |", "|---" * len(columns) + "|"]
    for (label, *_), group in groups.items():
        cells = [label, str(sum("seed" in line for line in group) or "")]
        cells.append(cell([line["dev"] for line in group]))
        cells += [cell([line["scores"].get(task) for line in group]) for task in protocol.tasks]
        cells += [cell([line["avg"] for line in group])] if protocol.averaged else []
        cells += [cell([line["scores"].get(name) for line in group], 2) for name in GEOMETRY]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--protocol", choices=PROTOCOLS, default="papers")
    parser.add_argument("--encoder", default="micro")
    parser.add_argument("--pooling", default="mean")
    parser.add_argument("--corpus", help="text file to train on, for the protocol `papers`")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--lr", type=float, default=3e-4)
    parser.add_argument("--head", choices=("mlp", "none"), default="mlp")
    parser.add_argument("--eval-every", type=int, default=25)
    parser.add_argument("--only", nargs="*", help="rows of METHODS")
    parser.add_argument("--name", default="main-comparison", help="of the files in results/")
    arguments = parser.parse_args()
    if (arguments.corpus is None) != (arguments.protocol == "classroom"):
        parser.error("--corpus belongs to the protocol `papers`, and to it alone")
    protocol = PROTOCOLS[arguments.protocol]
    store = RESULTS / f"{arguments.name}.jsonl"
    done = [json.loads(line) for line in store.read_text().splitlines()] if store.exists() else []
    for key, compute in runs(arguments, protocol):
        if any(all(line.get(name) == value for name, value in key.items()) for line in done):
            continue
        line = {**key, **compute(), "versions": versions()}
        done.append(line)
        with open(store, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(f"{line['row']} {line.get('seed', '')}: dev {line['dev']}, {line['scores']}", flush=True)
        (RESULTS / f"{arguments.name}.md").write_text(table(done, protocol), encoding="utf-8")
    print(table(done, protocol))


if __name__ == "__main__":
    main()
