"""Does cutting a batch into parts by length change what is learnt? The same seeds, in parts and in one pass.

    python scripts/trials/parts.py                       # micro, ten seeds: results/parts.json
    python scripts/trials/parts.py --encoder mini --seeds 3 --output parts-mini.json

Dropout draws other masks in parts, so that a seed's history is another one. The best dev scores of both must have the
same distribution: what is told is the mean difference of the seeds, in pairs, with its 95 % interval (Student's t).
"""

import argparse
import json
from pathlib import Path
from statistics import mean, stdev
from unittest.mock import patch

from cselab_lab.experiments.corpora import corpus
from cselab_lab.experiments.recipes import recipe

from cselab import SentenceEncoder, train
from cselab.evaluators import PairsEvaluator
from cselab.evaluators.versions import versions
from cselab.metrics.significance import paired_t_test
from cselab.world import World

RESULTS = Path(__file__).resolve().parents[2] / "results"
STEPS = {"micro": 50, "mini": 60}


def best_dev(encoder: str, seed: int, in_parts: bool) -> float:
    model = SentenceEncoder.from_pretrained(encoder, pooling=recipe(encoder).pooling)
    config = recipe(encoder).config(seed=seed, steps=STEPS[encoder])
    dev, texts = PairsEvaluator(World().sts(600, "dev")), corpus("world:20000")

    def whole(lengths: list[int], _: int) -> list[slice]:
        return [slice(0, len(lengths))]

    if in_parts:
        run = train(model, "simcse", texts, config, dev, show_progress_bar=False)
    else:
        with patch("cselab.encoders.encoding.parts_by_length", whole):
            run = train(model, "simcse", texts, config, dev, show_progress_bar=False)
    return round(max(row["score"] for row in run.history[1:] if "score" in row), 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", choices=sorted(STEPS), default="micro")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--output", type=Path, default=RESULTS / "parts.json")
    asked = parser.parse_args()
    scores: dict[str, list[float]] = {"one pass": [], "in parts": []}
    for seed in range(asked.seeds):
        for name, sample in scores.items():
            sample.append(best_dev(asked.encoder, seed, name == "in parts"))
        print(seed, *(sample[-1] for sample in scores.values()), flush=True)
    test = paired_t_test(scores["one pass"], scores["in parts"])
    for name, sample in scores.items():
        print(f"{name}: {mean(sample):.2f} ± {stdev(sample):.2f}")
    print(f"difference: {test}")
    about = {"encoder": asked.encoder, "steps": STEPS[asked.encoder], "corpus": "world:20000", "dev": "World-STS dev"}
    asked.output.write_text(json.dumps(about | scores | {"versions": versions()}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
