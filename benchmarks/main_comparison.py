"""The main comparison on `micro`, by the recipe of that encoder: all methods and all controls on the seven STS sets.

    python benchmarks/main_comparison.py              # seeds 0 to 4: results/main-comparison.micro.jsonl and .md
    python benchmarks/main_comparison.py --seeds 0 1

The rows are those of `cselab experiment show main-comparison`; `cselab experiment run main-comparison` trains them on
`mini`, overnight. Killed, it goes on where it was. STS-B dev chooses the step. Wants the folder of real data
(CSELAB_DATA).
"""

import argparse
from dataclasses import replace
from pathlib import Path

from cselab_lab.experiments import get_profile, run_experiment
from cselab_lab.experiments.profiles import bundled
from cselab_lab.experiments.recipes import recipe

RESULTS = Path(__file__).resolve().parents[1] / "results"
MICRO = replace(
    get_profile("classroom"),
    name="micro",
    encoders={"base": bundled("micro")},
    dev="STS-B",
    recipe=recipe("micro").settings(),
    pooling=recipe("micro").pooling,
    purpose="the smallest bundled encoder, minutes on a core",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="*", default=list(MICRO.seeds))
    results = run_experiment("main-comparison", MICRO, parser.parse_args().seeds, folder=RESULTS)
    claims = "\n".join(f"* {verdict}" for verdict in results.verdicts())
    page = RESULTS / "main-comparison.micro.md"
    page.write_text(f"{results.shown(form='markdown')}\n\n{claims}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
