"""How the papers' effects grow with training: ten rows over steps, batch size and corpus.

    python benchmarks/effects_grow.py steps --seeds 0-2         # 60, 200, 600, 1000 and 2000 steps
    python benchmarks/effects_grow.py batch corpus --seeds 0-2  # of 200 steps
    python benchmarks/effects_grow.py show                      # each claim at each size of which lines are there

Every size is the profile `study` with one thing changed, and is run as every experiment is: a finished job is a line of
results/effects-grow.<size>.jsonl and never computed twice. The papers' size is one epoch, 15,600 steps of 64 sentences
of Wikipedia: `cselab experiment run all --profile paper`. Half Wikipedia wants `cselab data fetch simplewiki`.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from cselab_lab.cli.options import read_seeds
from cselab_lab.experiments import PROFILES, Above, Experiment, Profile, Row, declare, read_results, run_experiment
from cselab_lab.experiments.experiment import SEVEN
from cselab_lab.experiments.imsimcse import missing_rank

RESULTS = Path(__file__).resolve().parents[1] / "results"
STUDY = PROFILES["study"]

EFFECTS = declare(
    Experiment(
        name="effects-grow",
        question="How do the papers' effects grow with steps, batch and corpus?",
        columns=SEVEN,
        baseline="SimCSE",
        rows=(
            Row("plain, whitened", posthoc="whitening"),
            Row("SimCSE", "simcse"),
            Row("Focal-InfoNCE", "focal"),
            Row("ImSimCSE", "imsimcse"),
            Row("WhitenedCSE", "whitenedcse"),
            Row("Barlow Twins, M = 0", "barlow_twins"),
            Row("Barlow Twins, full rank", "barlow_twins", {"artificial_rows": missing_rank(1)}),
            Row("+noise on negatives", "noise", {"on": "negatives", "variance": 0.1}),
            Row("+noise on positives", "noise", {"on": "positives", "variance": 0.1}),
            Row("SimCSE at Focal's temperature", "simcse", {"temperature": 0.07}),
        ),
        claims=(
            Above("SimCSE is above the plain encoder", "SimCSE", "plain"),
            Above("SimCSE is above the plain vectors whitened", "SimCSE", "plain, whitened"),
            Above("Focal-InfoNCE is above SimCSE", "Focal-InfoNCE", "SimCSE"),
            Above("it is not the temperature", "Focal-InfoNCE", "SimCSE at Focal's temperature"),
            Above("ImSimCSE is above SimCSE", "ImSimCSE", "SimCSE"),
            Above("WhitenedCSE is above SimCSE", "WhitenedCSE", "SimCSE"),
            Above("at the rank of the batch Barlow Twins costs points", "SimCSE", "Barlow Twins, M = 0"),
            Above("full rank wins them back", "Barlow Twins, full rank", "Barlow Twins, M = 0"),
            Above("noise on the negatives costs points", "SimCSE", "+noise on negatives"),
            Above("noise on the positives costs points", "SimCSE", "+noise on positives"),
        ),
    )
)


def sized(**recipe: int) -> Profile:
    """`study` with something else in its recipe; itself, where that is what it has."""
    same = all(STUDY.recipe[name] == value for name, value in recipe.items())
    name = "-".join(f"{value}-{name}" for name, value in recipe.items())
    return STUDY if same else replace(STUDY, name=name, recipe={**STUDY.recipe, **recipe})


SIZES = {
    "steps": tuple(sized(steps=steps) for steps in (60, 200, 600, 1000, 2000)),
    "batch": tuple(sized(batch_size=rows) for rows in (32, 64, 128, 256)),
    "corpus": (STUDY, replace(STUDY, name="half-world", corpus="half-world:20000")),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=(*SIZES, "show"))
    parser.add_argument("--seeds", default="0-2")
    asked = parser.parse_args()
    for axis in asked.what:
        for profile in SIZES.get(axis, ()):
            run_experiment(EFFECTS, profile, read_seeds(asked.seeds), folder=RESULTS)
    if "show" in asked.what:
        for name, profile in {size.name: size for sizes in SIZES.values() for size in sizes}.items():
            verdicts = read_results(EFFECTS, profile, RESULTS).verdicts()
            print(name, *(f"  {verdict}" for verdict in verdicts), sep="\n")


if __name__ == "__main__":
    main()
