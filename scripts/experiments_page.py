"""Write results/experiments.md: what was run of the papers' experiments, and what becomes of each claim.

python scripts/experiments_page.py
"""

from pathlib import Path

from cselab_lab.experiments import EXPERIMENTS, Results, get_profile, read_results

RESULTS = Path(__file__).resolve().parents[1] / "results"
PROFILE = get_profile("classroom")
OPENING = f"""\
# The papers' experiments, run again

`{PROFILE.name}`: `{PROFILE.encoders["base"].name}`, {PROFILE.recipe["steps"]} steps on `{PROFILE.corpus}`, the
best step by {PROFILE.dev} dev; in brackets the number of seeds (mean ± standard deviation). Gains are over the
baseline, paired by seed, with their 95 % interval. What the words say: *holds here*, the interval lies above 0;
*the opposite here*, below it; *no effect here*, it has 0 in it and leaves out what the paper found; *undecided*, it
has both in it, or the paper printed no number. Of sixty claims of no effect, three would leave 0 out by chance.

`cselab experiment run NAME` makes the lines of a table (`NAME.{PROFILE.name}.jsonl`), `python
scripts/experiments_page.py` this page. More: [Running the papers' experiments](../docs/experiments.md).
"""


def section(results: Results) -> str:
    """An experiment: its question, table and claims."""
    experiment = results.experiment
    printed = "no published numbers." if experiment.published is None else experiment.published.title
    claims = [f"* {verdict}" for verdict in results.verdicts()]
    return "\n".join([f"## {experiment.question}", "", f"`{experiment.name}`: {printed}", "", *claims, "",
                      results.shown(form="md"), ""])  # fmt: skip


def page(folder: Path = RESULTS) -> str:
    """All experiments of which a row with seeds was run, in the order in which they are declared."""
    read = [read_results(name, PROFILE, folder) for name in EXPERIMENTS]
    trained = [found for found in read if any(seed is not None for line in found.lines.values() for seed in line)]
    return "\n".join([OPENING, *map(section, trained)])


if __name__ == "__main__":
    (RESULTS / "experiments.md").write_text(page(), encoding="utf-8")
