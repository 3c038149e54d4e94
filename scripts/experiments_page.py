"""Write the pages of the recorded experiments (study.md, effects.md, effects-grow.md) into a folder, as the book does.

python scripts/experiments_page.py FOLDER
"""

import sys
from itertools import chain
from pathlib import Path
from typing import Any

from cselab_lab.experiments import EXPERIMENTS, PROFILES, ManyTests, Profile, Results, read_results
from cselab_lab.experiments.effects import SCORES
from cselab_lab.experiments.growth import PAPERS_STEPS, by_size
from cselab_lab.experiments.verdicts import GEOMETRY, MARGIN, MARGINS, signed
from cselab_lab.tables import table

RESULTS = Path(__file__).resolve().parents[1] / "results"
WORDS = f"""\
What the words say of a claim, by the 95 % interval of its difference over the seeds:

* *compatible with the paper*: in the direction claimed, and the interval reaches the paper's number (give or take the
  standard deviation that the paper prints, where it prints one);
* *the same direction, smaller* (or *larger*): in the direction claimed, and the paper's number lies outside; *the same
  direction* alone, where the paper prints no number;
* *smaller than D*: the whole interval lies within a margin D on both sides of 0, the same for all: {MARGIN:g} points,
  below every gain of an STS average that a paper of these prints for its method; {MARGINS["alignment"]:g} of alignment,
  {MARGINS["uniformity"]:g} of uniformity. "Hardly helps" is a claim of this kind;
* *the opposite*: in the other direction;
* *undecided*: 0 and more than the margin lie in the interval, so that more seeds would have to tell; *undecided,
  short of the paper*: and the paper's number lies above all of it.

D was chosen by the papers' gains, on 23 November 2026 (commit de56ea7), before any line of the profile `study` was
made; git has the dates of both.

p is that of the paired t-test; *by Holm* counts every different test of this page, so that one page in 20 would have a
mistake where nothing is there. *Exact* is the test over all changes of sign: with five seeds there are 32, so that it
cannot fall below 2 / 32 = 0.062, however clear the difference. Under `study` the rows of the three papers' own claims
run with seven seeds, where it can reach 2 / 128 = 0.016.
"""


def opening(profile: Profile) -> str:
    """What was trained, and the commands that make the lines and the page."""
    return f"""\
# The papers' experiments, run again: {profile.name}

`{profile.name}`: `{profile.encoders["base"].name}`, {profile.recipe["steps"]} steps on `{profile.corpus}`, the
best step after 0 by {profile.dev} dev; in brackets the number of seeds (mean ± standard deviation). Gains are over the
baseline, paired by seed, with their 95 % interval. What the profile is for: {profile.purpose}.

`cselab experiment run NAME --profile {profile.name}` makes the lines of a table (`NAME.{profile.name}.jsonl`). More:
[Running the papers' experiments](../docs/experiments.md).
"""


def section(results: Results, tests: ManyTests) -> str:
    """An experiment: its question, table and claims."""
    experiment = results.experiment
    printed = "no published numbers." if experiment.published is None else experiment.published.title
    return "\n".join([f"## {experiment.question}", "", f"`{experiment.name}`: {printed}", "",
                      *claims(results, tests), "", results.shown(form="md"), ""])  # fmt: skip


def claims(results: Results, tests: ManyTests, column: str | None = None) -> list[str]:
    """A line for each claim."""
    return [f"* {tests.sentence(verdict)}" for verdict in results.verdicts(column)]


def study_page(folder: Path) -> str:
    """All experiments of which a row with seeds was run under `study`, in the order in which they are declared."""
    read = [read_results(name, folder=folder) for name in EXPERIMENTS if f"{name}.md" not in PAGES]
    trained = [results for results in read if any(seed is not None for row in results.lines.values() for seed in row)]
    tests = ManyTests.of(chain.from_iterable(results.verdicts() for results in trained))
    return "\n".join(
        [opening(PROFILES["study"]), f"{WORDS}\n**{tests}**\n", *(section(results, tests) for results in trained)]
    )


def effects_page(folder: Path) -> str:
    """The effects: one table of all that was measured, and each claim on three sets."""
    effects = read_results("effects", folder=folder)
    measures = [*SCORES, *GEOMETRY, "effective_rank"]
    tests = ManyTests.of(chain.from_iterable(map(effects.verdicts, SCORES)))
    parts = [
        "# The effects on three sets\n",
        effects.table(list(effects.lines), measures, form="md"),
        "",
        f"{WORDS}\n**{tests}**\n",
    ]
    for score in SCORES:
        parts += [f"**{score}**", "", *claims(effects, tests, score), ""]
    return "\n".join(parts)


def growth_page(folder: Path) -> str:
    """How the effects grow: gain by steps, the papers' beside it, and by batch."""
    results = read_results("effects-grow", "study", folder)
    parts = [
        "# How the effects grow\n",
        f"{results.experiment.question}\n",
        "Points over SimCSE of the same size (of SimCSE: over the plain encoder), average of the seven STS sets;\n"
        "`mini` on the bundled world, else as under `study`; in brackets the 95 % interval over seeds, and how many.\n"
        "`cselab experiment run effects-grow --profile study --seeds 0-2` makes the lines.\n",
        f"The papers trained for one epoch of a million sentences, some {PAPERS_STEPS:,} steps of 64.\n",
    ]
    for name in ("steps", "batch"):
        rows: dict[str, dict[str, str]] = {}
        for line in by_size(results, name).itertuples():
            here = {"steps": "{:,} steps", "batch": "batch of {}"}[name].format(getattr(line, name))
            size = here if line.whose == "here" else "the paper"
            rows.setdefault(line.effect, {})[size] = grown(line)
        if max(map(len, rows.values())) > 1:  # one size is no growth
            parts += [table(rows, form="md"), ""]
    parts += [
        "With 256 sentences no rank is missing: both rows of Barlow Twins are one.\n",
        f"Machines: {machines(results)}. A seed draws the same sentences on all of them, and other dropout masks.\n",
        million(read_results("effects-grow", "million", folder)),
    ]
    return "\n".join(parts)


def machines(results: Results) -> str:
    """On which devices the sizes were computed."""
    sizes: dict[str, dict[str, None]] = {}
    for row, seeds in results.lines.items():
        size = row.rpartition(", ")[2] if " x " in row else "steps and batch as in the recipe"
        for line in seeds.values():
            sizes.setdefault(line.versions["device"], {})[size] = None
    return "; ".join(f"{device} ({', '.join(of)})" for device, of in sizes.items())


def million(results: Results) -> str:
    """What the effects are after one epoch of a million sentences, as long as the papers trained."""
    rows: dict[str, dict[str, str]] = {}
    for line in by_size(results).itertuples():
        if line.effect in results.lines:
            average = {"average": f"{results.mean(line.effect, 'Avg.'):.1f}"}
            rows.setdefault(line.effect, average)["the paper" if line.whose == "paper" else "gain"] = grown(line)
    devices = {line.versions["device"] for seeds in results.lines.values() for line in seeds.values()}
    told = (
        "One epoch of a million sentences of the world by SimCSE's own recipe (`million`: 15,625 steps of 64, rate\n"
        f"{results.profile.recipe['lr']:g}, not 3e-4); {' and '.join(sorted(devices))}:\n"
        "`cselab experiment run effects-grow --profile million --seeds 0-2`.\n"
    )
    return "\n".join([told, table(rows, form="md"), ""])


def grown(line: Any) -> str:
    """One cell: the gain, its interval and its seeds."""
    if line.whose == "paper":
        return signed(line.gain, 1)
    low, high = (signed(bound, 1) for bound in (line.gain_low, line.gain_high))
    interval = f"{low} to {high}; {line.seeds:.0f}" if line.gain_low == line.gain_low else "1"
    return f"{signed(line.gain, 1)} ({interval})"


PAGES = {"study.md": study_page, "effects.md": effects_page, "effects-grow.md": growth_page}


def write_pages(folder: Path) -> None:
    """Write all pages."""
    for name, page in PAGES.items():
        (folder / name).write_text(page(RESULTS).replace(" ± ", "\u00a0±\u00a0"), encoding="utf-8")


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
