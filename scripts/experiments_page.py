"""Write the pages of the recorded experiments: experiments.md (classroom), effects.md, main-comparison.micro.md.

python scripts/experiments_page.py
"""

from pathlib import Path

from cselab_lab.experiments import EXPERIMENTS, Results, get_profile, read_results
from cselab_lab.experiments.claims import GEOMETRY
from cselab_lab.experiments.effects import SCORES

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
    return "\n".join([f"## {experiment.question}", "", f"`{experiment.name}`: {printed}", "", *claims(results), "",
                      results.shown(form="md"), ""])  # fmt: skip


def claims(results: Results, column: str | None = None) -> list[str]:
    """A line for each claim."""
    return [f"* {verdict}" for verdict in results.verdicts(column)]


def experiments_page(folder: Path) -> str:
    """All experiments of which a row with seeds was run under classroom, in the order in which they are declared."""
    read = [read_results(name, PROFILE, folder) for name in EXPERIMENTS]
    trained = [results for results in read if any(seed is not None for row in results.lines.values() for seed in row)]
    return "\n".join([OPENING, *map(section, trained)])


def effects_page(folder: Path) -> str:
    """The effects: one table of all that was measured, and each claim on three sets."""
    effects = read_results("effects", "mini", folder)
    measures = ["STS-B dev", *SCORES, *GEOMETRY, "effective_rank"]
    parts = [effects.table(list(effects.lines), measures, form="md"), ""]
    for score in SCORES:
        parts += [f"**{score}**", "", *claims(effects, score), ""]
    return "\n".join(parts)


def main_comparison_page(folder: Path) -> str:
    """The main comparison on `micro`: its table and claims."""
    results = read_results("main-comparison", "micro", folder)
    return "\n".join([results.shown(form="md"), "", *claims(results), ""])


PAGES = {
    "experiments.md": experiments_page,
    "effects.md": effects_page,
    "main-comparison.micro.md": main_comparison_page,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (RESULTS / name).write_text(page(RESULTS), encoding="utf-8")
