"""The conclusions of the README and of the lessons, checked against the recorded numbers.

A lesson recorded its numbers with five seeds at two sizes: `micro` under smoke, `mini` under classroom. Its conclusion
must hold for four of the five seeds at both sizes, for all five where it says "every seed". The README's conclusions
and those of longer training come from results/.
"""

import json
import re
from functools import cache, partial
from pathlib import Path
from statistics import fmean

import nbformat
import numpy as np
import pictures
import pytest
from cells import table
from cselab_lab.experiments import Above, read_results, with_changes
from cselab_lab.experiments.growth import by_size
from cselab_lab.experiments.verdicts import judge
from cselab_lab.experiments.wiki import MEAN
from cselab_lab.headless.notebook_folder import bundled_notebooks
from cselab_lab.parameters import parameters_of
from pandas import DataFrame

from cselab.evaluators.records import read_scores
from cselab.metrics.significance import paired_t_test

ROOT = Path(__file__).resolve().parents[2]
RECORDED = bundled_notebooks() / "recorded"
TESTS = ("Avg.", "World-STS", "Classroom-STS")
PUBLISHED = {"STS12": 72.37, "STS13": 80.60, "STS14": 75.59, "STS15": 85.39, "STS16": 78.99, "STS-B": 82.03}


@cache
def records(lesson, profile):
    return json.loads((RECORDED / f"{lesson}.{profile}.json").read_text(encoding="utf-8"))["records"]


@cache
def runs(lesson, profile):
    """What each recorded seed gave, by the number's name."""
    return [{entry["name"]: entry["seeds"][str(seed)] for entry in records(lesson, profile)} for seed in range(5)]


LESSONS = table("""
00_tour | the vectors of a plain encoder lie in a cone | `plain: mean cosine` > 0.5
00_tour | its first loss is far below log N | `SimCSE: first loss` < 0.6 * log(64)
00_tour | the subtracted mean brings a part of the gain of SimCSE | \
    `plain: World-STS` < `mean subtracted: World-STS` < `SimCSE: World-STS`
01_anisotropy | averaging makes the cone | `mean cosine, mean of tokens` > `mean cosine, single tokens` + 0.2
01_anisotropy | shuffled words lie in it | `shuffled: mean cosine` > `real: mean cosine` - 0.03
01_anisotropy | random words lie in it | `random words: mean cosine` > `real: mean cosine` - 0.03
01_anisotropy | the score hardly moves without it | abs(`dev, without the mean` - `dev, as it is`) < 1
02_simcse | the encoder finds most sentences before training | `found by plain` > 0.9 * 64
02_simcse | few hard negatives carry half the push, fewer after training | \
    `half of the push by, at 0.05, trained` < `half of the push by, at 0.05` < 63 / 5
02_simcse | without two masks the loss is lower and dev, too | \
    `no dropout: gain on dev` < `two masks: gain on dev` and `same mask: gain on dev` < `two masks: gain on dev` \
    and `no dropout: mean loss of the last 10 steps` < `two masks: mean loss of the last 10 steps` \
    and `same mask: mean loss of the last 10 steps` < `two masks: mean loss of the last 10 steps`
03_whitening | whitening has most of what SimCSE gains | `whitening gain on dev` > `SimCSE gain on dev` / 2
03_whitening | equal weights gain, not the subtracted mean | `whitening gain on dev` > 3 * `mean gain on dev`
03_whitening | as many rows as channels are the worst | `rows with the lowest dev score` in [128, 256]
04_whitenedcse | a whitened loss starts low | `loss of a whitened batch` < `loss of a plain batch` / 3
04_whitenedcse | with one pass the loss is nothing and dev stays behind | \
    `one pass: mean loss of the last 10 steps` < 0.001 and `three passes: gain on dev` - `one pass: gain on dev` > 2
04_whitenedcse | the student's method is cselab's | `digits by hand and by cselab.train` >= 4
05_dropout_noise | noise on the negatives closes the cone with every seed | \
    `noisy: mean cosine` > `SimCSE: mean cosine` + 0.1
05_dropout_noise | it solves the task without the encoder | \
    `loss before training, noisy negatives` < 0.01 * `loss before training, SimCSE`
06_rank_bottleneck | 64 sentences have rank 64, 63 when centred | \
    `rank of 64 sentences` == 64 and `rank of 64 sentences, centred` == 63
06_rank_bottleneck | artificial rows switch Barlow Twins off | \
    `pull of Barlow Twins, full rank` < 0.05 and `pull of Barlow Twins, M = 0` > 1
06_rank_bottleneck | full rank ends above on dev | `dev gain, full rank` > `dev gain, M = 0`
07_focal_infonce | fewer negatives carry the push | \
    `half of the push by, Focal-InfoNCE` < `half of the push by, InfoNCE`
07_focal_infonce | its loss does not fall to nothing | \
    `Focal: mean loss of the last 10 steps` > 2 * `SimCSE: mean loss of the last 10 steps`
07_focal_infonce | at one temperature SimCSE keeps a small gradient | \
    `matched: mean gradient norm of the last 10 steps` < `Focal: mean gradient norm of the last 10 steps` / 2
08_alignment_uniformity | within a run geometry and score move together | \
    `SimCSE: uniformity and score over the steps` < -0.6
08_alignment_uniformity | over many methods they do not | abs(`uniformity and score, recorded runs`) < 0.3
08_alignment_uniformity | uniformity as a loss brings uniformity, not the score | \
    `uniformity alone: uniformity at the last step` < `SimCSE: uniformity at the last step` \
    and `uniformity alone: gain of the best step` < `SimCSE: gain of the best step` / 2
09_embedding_maps | t-SNE shows islands in noise | `noise: preservation by t-SNE` > 0.2
09_embedding_maps | half of a map's neighbours are true, fewer by PCA | \
    `sentences: preservation by PCA` < `sentences: preservation by t-SNE` < 0.65
09_embedding_maps | halves of a vector agree | `sentences: halves agree` > 3 * `noise: halves agree`
10_benchmarks | the pairs leave more than a point open | \
    `half the interval, Classroom-STS` > 1.5 and `pairs for one point` > 1200
11_survey | other words lead on the grammar's own test with every seed | \
    `BT-BERT: gain on World-STS` > `SimCSE: gain on World-STS`
11_survey | there are far fewer patterns than methods | `patterns` <= `methods that touch loss` / 2
12_your_own_method | SimCSE is above the control | `SimCSE less control, dev` > 1
12_your_own_method | two contrastive losses are close | abs(`hard negatives less SimCSE, dev`) < 1.6
13_modern_encoders | without dropout two views are one vector | \
    `ModernBERT: cosine of two views` > 0.9999 and `Qwen3: cosine of two views` > 0.9999
13_modern_encoders | a last token at the wrong place costs points | \
    `Qwen3, last token: dev` > `last token by column, padded right: dev` + 5
""")


@pytest.mark.parametrize("profile", ["smoke", "classroom"])
@pytest.mark.parametrize("lesson, conclusion, comparison", LESSONS)
def test_a_lessons_conclusion_holds(lesson, conclusion, comparison, profile):
    holds = DataFrame(runs(lesson, profile)).eval(comparison)
    assert len(holds) == 5 and holds.sum() >= (5 if "every seed" in conclusion else 4)


def effects(row, baseline, test="Avg."):
    """Points over a baseline in the table of effects, by seed."""
    return list(read_results("effects").over(row, baseline, test).values())


def decided(row, test, baseline="SimCSE"):
    """Whether the 95 % interval of a gain excludes 0."""
    *_, low, high = gains_of("effects", row, baseline, test)
    return not low <= 0 <= high


def answers(experiment):
    return {verdict.claim: verdict.answer for verdict in read_results(experiment).verdicts()}


@cache
def sizes(profile="study"):
    return by_size(read_results("effects-grow", profile)).set_index(["whose", "effect", "steps"]).sort_index()


def grown(effect, steps=200):
    """An effect after so many steps: its gain, and the interval."""
    return tuple(sizes().loc["here", effect, steps][["gain", "gain_low", "gain_high"]])


def survey():
    """The gains of the survey's systems over SimCSE, here and printed."""
    results = read_results("survey-table8")
    trained = [row.label for row in results.experiment.rows if row.method and row.label != "SimCSE"]
    frame = results.to_frame()
    return frame[frame["row"].isin(trained) & (frame["column"] == "Avg.")]


def minilm():
    return read_scores(ROOT / "results" / "suites-minilm.json")


RESULTS = {
    "SimCSE is above the subtracted mean and whitening on every test": lambda: (
        min(min(effects("SimCSE", f"plain, {how}", test)) for how in ("mean subtracted", "whitened") for test in TESTS)
        > 0
    ),
    "random vectors are the most uniform": lambda: (
        read_results("effects").mean("random vectors", "uniformity")
        < min(read_results("effects").mean(row, "uniformity") for row in ("SimCSE", "plain, whitened"))
    ),
    "one pass of WhitenedCSE ends below the plain encoder": lambda: (
        max(fmean(effects("WhitenedCSE, 1 pass", "plain", test)) for test in TESTS) < 0
    ),
    "less noise on the positives costs on every test": lambda: (
        max(max(effects("-noise on positives", "SimCSE", test)) for test in TESTS) < 0
    ),
    "SimCSE's gain is significant on both tests, the gain of no method over SimCSE is": lambda: (
        all(decided("SimCSE", test, "plain") for test in TESTS[:2])
        and not any(
            all(decided(row, test) for test in TESTS[:2])
            for row in ("ImSimCSE, paper", "ImSimCSE, released", "WhitenedCSE, 3 passes", "Focal-InfoNCE")
        )
    ),
    "each interval excludes the paper's gain over SimCSE": lambda: all(
        high < paper for _, _, high, paper in (pictures.gains_of(*of) for _, *of in pictures.EFFECTS[:4])
    ),
    "noise costs what it costs in the paper": lambda: all(
        answers("imsimcse-table1")[f"noise on the {side} costs points"] == "compatible with the paper"
        for side in ("negatives", "positives")
    ),
    "Barlow Twins falls less than in the paper": lambda: (
        answers("imsimcse-table2")["at the rank of the batch it costs points"] == "the same direction, smaller"
    ),
    "whether less noise on negatives and full rank help is undecided, less noise on positives costs": lambda: (
        answers("imsimcse-table1")["less noise in the negatives gains points"] == "undecided, short of the paper"
        and answers("imsimcse-table1")["less noise in the positives costs points"] == "the same direction, smaller"
        and answers("imsimcse-table2")["at full rank it is above M = 0"] == "undecided, short of the paper"
    ),
    "the dimension-wise term is below whitening": lambda: (
        answers("imsimcse-table4")["the dimension-wise term is above whitening"] == "the opposite"
    ),
    "what the parts of WhitenedCSE add is undecided": lambda: all(
        answer.startswith("undecided")
        for table in ("whitenedcse-table3", "whitenedcse-table6")
        for answer in answers(table).values()
    ),
    "Focal-InfoNCE is above SimCSE, and most of that is its temperature": lambda: (
        answers("focal-table2")["Focal is above SimCSE"] == "the same direction, smaller"
        and answers("focal-table2")["it is not the temperature"] == "smaller than 0.5 points"
    ),
    "with seven seeds the released readings are undecided, ImSimCSE's text is below SimCSE": lambda: (
        {claim: answer for claim, answer in answers("main-comparison").items() if "CSE (" in claim}
        == {
            "WhitenedCSE (3 passes, as its code) is above SimCSE": "undecided",
            "ImSimCSE (paper) is above SimCSE": "the opposite",
            "ImSimCSE (released) is above SimCSE": "undecided",
        }
    ),
    "all-MiniLM-L6-v2 scores the published numbers": lambda: (
        {task: round(value, 2) for task, value in minilm().scores.items() if task in PUBLISHED} == PUBLISHED
    ),
    "after 2,000 steps ImSimCSE is below SimCSE, the papers' other gains are undecided": lambda: (
        grown("ImSimCSE, mixture", 2000)[2] < 0
        and all(grown(name, 2000)[1] < 0 < grown(name, 2000)[2] for name in ("Focal-InfoNCE", "WhitenedCSE, 3 passes"))
    ),
    "full rank is above the batch's rank at each length": lambda: all(
        0.8 < grown("Barlow Twins, full rank", steps)[0] - grown("Barlow Twins, M = 0", steps)[0] < 1.9
        for steps in (60, 200, 600, 1000, 2000)
    ),
    "no system of the survey is significantly above SimCSE, and the orders do not agree": lambda: (
        not (survey()["gain_low"] > 0).any() and survey()["gain"].corr(survey()["published_gain"], "spearman") < 0.2
    ),
}


@pytest.mark.parametrize("conclusion", RESULTS)
def test_a_conclusion_of_the_results_holds(conclusion):
    assert RESULTS[conclusion]()


README, PAGE, ERRATA = (
    (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/results.md", "docs/errata.md")
)


def cells_of(page, line, above=""):
    """The cells of a table's only line with this label, below a heading; numbers have no-break spaces."""
    page = page[page.index(above) :].partition("\n\n")[0] if above else page
    (cells,) = re.findall(rf"^\| {re.escape(line)} \|(.*)\|$", page, re.M)
    return [cell.strip() for cell in cells.replace("\u00a0", " ").split("|")]


WIKI = {
    "wiki": partial(read_results, "wiki", with_changes("wiki", corpus="simplewiki-1m")),
    "enwiki": partial(read_results, "wiki", with_changes("wiki", corpus="enwiki-1m")),
}
WIKIPEDIAS = {"wiki": "| seven sets (over SimCSE) |", "enwiki": "| English Wikipedia (over SimCSE) |"}


def on_wikipedia(row, name="wiki"):
    """What the records have of a row in each of the two poolings: the scores, the gain over SimCSE, the seeds."""
    found = WIKI[name]()
    for pooling in ("", MEAN):
        scores = list(found.values(row + pooling, "Avg.").values())
        gains = list(found.over(row + pooling, f"SimCSE{pooling}", "Avg.").values())
        trained = found.experiment.row(row + pooling).method is not None
        gain = f" ({fmean(gains):+.1f})" if trained and row != "SimCSE" and gains else ""
        yield f"{mean_and_spread(scores)}{gain}" if scores else ""
        yield str(len(scores) if trained and scores else "")


METHODS_OF_WIKI = ["Focal-InfoNCE", "WhitenedCSE, 3 passes", "ImSimCSE, released", "ImSimCSE, paper"]
ON_WIKIPEDIA = [
    (name, row)
    for name, above in WIKIPEDIAS.items()
    for row in re.findall(r"^\| ([^|]+) \|", PAGE[PAGE.index(above) :].partition("\n\n")[0], re.M)[1:]
]


@pytest.mark.parametrize("name, row", ON_WIKIPEDIA)
def test_the_table_on_wikipedia_has_the_recorded_scores(name, row):
    assert cells_of(PAGE, row, WIKIPEDIAS[name]) == list(on_wikipedia(row, name))


def test_dev_scores_on_wikipedia_start_above_each_later_step():
    """In the mean: of these methods, whichever step is chosen."""
    for name, methods in {
        "wiki": ["WhitenedCSE, 3 passes", "ImSimCSE, paper"],
        "enwiki": ["SimCSE", "Focal-InfoNCE", "WhitenedCSE, 3 passes", "ImSimCSE, paper"],
    }.items():
        for row in [*methods, "ImSimCSE, released"]:
            for curve in WIKI[name]().curves(row + MEAN).values():
                start, *later = [at["score"] for at in curve if "score" in at]
                assert round(start, 1) == 72.6 > max(later)


def test_both_wikipedias_agree_on_the_signs_and_in_the_mean_on_the_order():
    """At [CLS] two methods change places: the first two."""
    orders = []
    for pooling in (MEAN, ""):
        gains = [
            {row: fmean(read().over(row + pooling, f"SimCSE{pooling}", "Avg.").values()) for row in METHODS_OF_WIKI}
            for read in WIKI.values()
        ]
        one, other = ({row: gain > 0 for row, gain in each.items()} for each in gains)
        assert one == other
        orders.append([sorted(each, key=each.__getitem__, reverse=True) for each in gains])
    (one, other), (first, second) = orders
    assert one == other and first[1::-1] + first[2:] == second


def mean_and_spread(values):
    return f"{fmean(values):.1f}" + (f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else "")


def recorded(name, row, column="Avg."):
    return mean_and_spread(list(read_results(name).values(row, column).values()))


def gains_of(name, row, baseline, measure="Avg."):
    """The gains by seed, their mean and its interval."""
    gains = list((WIKI[name]() if name in WIKI else read_results(name)).over(row, baseline, measure).values())
    return gains, fmean(gains), *paired_t_test([0.0] * len(gains), gains).interval


def test_the_readme_counts_the_lessons():
    """The lessons are the numbered notebooks."""
    assert f"{len(list(bundled_notebooks().glob('[0-9]*.ipynb')))} notebooks" in README


IN_README = {
    "untrained": "plain",
    "whitened, no training": "plain, whitened",
    "SimCSE": "SimCSE",
    "Focal-InfoNCE": "Focal-InfoNCE",
    "WhitenedCSE": "WhitenedCSE, 3 passes",
    "ImSimCSE (released)": "ImSimCSE, released",
}


@pytest.mark.parametrize("line", IN_README)
def test_a_score_of_the_readme_is_recorded(line):
    scores = [cell.partition(" ")[0] for cell in on_wikipedia(IN_README[line])]
    assert cells_of(README, line, "| Spearman x 100, seven STS sets |") == scores[::2]


def test_the_readmes_picture_is_drawn_from_the_records(tmp_path):
    """After new records: python scripts/pictures.py forest docs/forest.svg."""
    pictures.forest(tmp_path / "forest.svg")
    assert (tmp_path / "forest.svg").read_text("utf-8") == (ROOT / "docs" / "forest.svg").read_text("utf-8")


TRAINED_ON_CLS = """
SimCSE | main-comparison | SimCSE
Focal-InfoNCE | main-comparison | Focal-InfoNCE
WhitenedCSE (three passes, as its code) | main-comparison | WhitenedCSE, 3 passes
WhitenedCSE (`paper`: vector after the head) | main-comparison | WhitenedCSE, paper
WhitenedCSE (one pass, vector after the head) | effects | WhitenedCSE, 1 pass, after the head
WhitenedCSE (one pass, vector before the head) | effects | WhitenedCSE, 1 pass
ImSimCSE (`paper`) | main-comparison | ImSimCSE, paper
ImSimCSE (`released`) | main-comparison | ImSimCSE, released
ImSimCSE (mixture: m as in the text, scale as in the code) | main-comparison | ImSimCSE, mixture
"""


@pytest.mark.parametrize("line, name, row", table(TRAINED_ON_CLS))
def test_the_trained_rows_of_the_results_are_recorded(line, name, row):
    *scores, seeds = cells_of(PAGE, line, "| trained, [CLS] |")
    assert scores == [recorded(name, row, column) for column in TESTS]
    assert int(seeds) == len(read_results(name).values(row, "Avg."))


GAINS = """
Focal-InfoNCE | main-comparison | Focal-InfoNCE | SimCSE
WhitenedCSE (3 passes, as its code) | main-comparison | WhitenedCSE, 3 passes | SimCSE
ImSimCSE (paper) | main-comparison | ImSimCSE, paper | SimCSE
ImSimCSE (released) | main-comparison | ImSimCSE, released | SimCSE
noise on the negatives | imsimcse-table1 | +noise on negatives | SimCSE
noise on the positives | imsimcse-table1 | +noise on positives | SimCSE
less noise on the negatives | imsimcse-table1 | -noise on negatives | SimCSE
less noise on the positives | imsimcse-table1 | -noise on positives | SimCSE
Barlow Twins at the rank of the batch (M = 0) | imsimcse-table2 | Barlow Twins, M = 0 | SimCSE
Barlow Twins, full rank over M = 0 | imsimcse-table2 | Barlow Twins, full rank | Barlow Twins, M = 0
"""


@pytest.mark.parametrize("line, name, row, baseline", table(GAINS))
def test_the_gains_and_verdicts_of_the_results_are_recorded(line, name, row, baseline):
    """The verdict is that of the rule, from our interval and the value of the paper that the page prints."""
    paper, ours, seeds, verdict, half = cells_of(PAGE, line, "| effect, over SimCSE |")
    gains, mean, low, high = gains_of(name, row, baseline)
    assert ours == f"{mean:+.1f} ({low:.1f} to {high:.1f})" and int(seeds) == len(gains)
    assert half == f"{(high - low) / 2:.1f}"
    sign = 1 if float(paper) > 0 else -1
    seed_by_seed = [{row: sign * gain, baseline: 0.0} for gain in gains]
    judged = judge(Above(line, row, baseline), "Avg.", {row: abs(float(paper)), baseline: 0.0}, seed_by_seed)
    assert verdict == judged.answer


# A line of docs/results.md: its untrained rows, by experiment; the label of its trained row, and this row.
POOLINGS = """
[CLS] | main-comparison: plain; main-comparison: plain, mean subtracted; main-comparison: plain, whitened; \
main-comparison: plain, flow | SimCSE | main-comparison: SimCSE
mean of the tokens | survey-table8: plain, mean of tokens | Contrastive Tension | every-method: ct
mean of the last two layers | whitenedcse-table1: plain, mean of the last two layers | \
ConSERT | whitenedcse-table1: ConSERT
mean of the static embeddings and the last layer | survey-table8: plain, mean of static embeddings and last layer; \
imsimcse-table4: the same, mean subtracted; imsimcse-table4: the same, whitened; imsimcse-table4: the same, flow | \
dimension-wise term | imsimcse-table4: only the dimension-wise term
word vectors alone (all-MiniLM's static embeddings) | main-comparison: static vectors
word overlap (Jaccard) | main-comparison: word overlap
random weights, mean of the tokens | main-comparison: random weights, mean of tokens
random weights, [CLS] | main-comparison: random weights, [CLS]
random vectors | main-comparison: random vectors
"""


@pytest.mark.parametrize("row", table(POOLINGS), ids=lambda row: row[0])
def test_the_baselines_of_the_results_are_recorded(row):
    line, plain, *trained = row
    plain, cells = [recorded(*one.split(": ")) for one in plain.split("; ")], cells_of(PAGE, line)
    assert cells[: len(plain)] == plain
    if trained:
        label, best = trained
        assert cells[4] == f"{label} {recorded(*best.split(': '))}"


# A place on a page: the page, the experiment, two rows, a measure, digits.
CHANGES = """
the evaluated vector | errata | main-comparison | WhitenedCSE, paper | WhitenedCSE, 3 passes | Avg. | 1
128 groups, no eps | errata | effects | WhitenedCSE, released | WhitenedCSE, 3 passes | Avg. | 1
m as in the code | errata | main-comparison | ImSimCSE, released | ImSimCSE, mixture | Avg. | 1
sum as in the text | errata | main-comparison | ImSimCSE, paper | ImSimCSE, mixture | Avg. | 1
Over SimCSE, `variant | errata | main-comparison | ImSimCSE, paper | SimCSE | Avg. | 1
and `variant="released"` | errata | main-comparison | ImSimCSE, released | SimCSE | Avg. | 1
7 seeds: uniformity | errata | main-comparison | Focal-InfoNCE | SimCSE | uniformity | 2
; alignment | errata | main-comparison | Focal-InfoNCE | SimCSE | alignment | 3
SimCSE at 0.07 gains | results | focal-table2 | SimCSE at Focal's temperature | SimCSE | Avg. | 1
Over this control | results | focal-table2 | Focal | SimCSE at Focal's temperature | Avg. | 1
Its uniformity is lower by | results | main-comparison | SimCSE | Focal-InfoNCE | uniformity | 2
differs from SimCSE by | results | whitenedcse-table2 | WhitenedCSE, 3 passes | SimCSE | MR | 1
Contrastive training raises it by | results | main-comparison | SimCSE | plain | Avg. | 1
Contrastive Tension ends | results | whitenedcse-table1 | plain, mean of tokens | CT | Avg. | 1
ConSERT's gain of | results | whitenedcse-table1 | ConSERT | plain, mean of the last two layers | Avg. | 1
The dimension-wise term gains | results | imsimcse-table4 | only the dimension-wise term | \
plain, mean of static embeddings and last layer | Avg. | 1
the dimension-wise term scores | results | every-method | simcse | dimension_wise, [CLS] | Avg. | 1
with [CLS]: IS-BERT by | results | every-method | simcse | is_bert, [CLS] | Avg. | 1
and Contrastive Tension by | results | every-method | simcse | ct, [CLS] | Avg. | 1
Whitening without training is | results | imsimcse-table4 | the same, whitened | only the dimension-wise term | Avg. | 1
Training lifts each pooling:** [CLS] by | results | wiki | SimCSE | plain | Avg. | 1
and the mean by | results | wiki | SimCSE, static and last layer | plain, static and last layer | Avg. | 1
SimCSE differs from it by | results | wiki | SimCSE, static and last layer | \
plain, whitened, static and last layer | Avg. | 1
smaller than 0.5. At [CLS], SimCSE is | results | wiki | SimCSE | plain, whitened | Avg. | 1
lifts each pooling here, too:** at [CLS] by | results | enwiki | SimCSE | plain | Avg. | 1
at [CLS] by +3.8 (1.4 to 6.2), and the mean by | results | enwiki | SimCSE, static and last layer | \
plain, static and last layer | Avg. | 1
SimCSE against whitening is undecided: | results | enwiki | SimCSE, static and last layer | \
plain, whitened, static and last layer | Avg. | 1
**Focal-InfoNCE at [CLS]** gains | results | enwiki | Focal-InfoNCE | SimCSE | Avg. | 1
**The temperature 0.07** changes SimCSE at [CLS] by | results | enwiki | SimCSE at Focal's temperature | \
SimCSE | Avg. | 1
Focal-InfoNCE over SimCSE at 0.07 is undecided, too: | results | enwiki | Focal-InfoNCE | \
SimCSE at Focal's temperature | Avg. | 1
this temperature improves SimCSE by | results | enwiki | SimCSE at Focal's temperature, static and last layer | \
SimCSE, static and last layer | Avg. | 1
and Focal-InfoNCE against it loses: | results | enwiki | Focal-InfoNCE, static and last layer | \
SimCSE at Focal's temperature, static and last layer | Avg. | 1
**The dimension-wise term by itself** differs from SimCSE by | results | enwiki | only dimension-wise | \
SimCSE | Avg. | 1
In the mean, this term differs by | results | enwiki | only dimension-wise, static and last layer | \
SimCSE, static and last layer | Avg. | 1
**ImSimCSE (released)** gains | results | enwiki | ImSimCSE, released | SimCSE | Avg. | 1
undecided. In the mean it loses: | results | enwiki | ImSimCSE, released, static and last layer | \
SimCSE, static and last layer | Avg. | 1
**WhitenedCSE at [CLS]** differs from SimCSE by | results | enwiki | WhitenedCSE, 3 passes | SimCSE | Avg. | 1
In the mean WhitenedCSE loses: | results | enwiki | WhitenedCSE, 3 passes, static and last layer | \
SimCSE, static and last layer | Avg. | 1
**ImSimCSE (paper) at [CLS]** differs from SimCSE by | results | enwiki | ImSimCSE, paper | SimCSE | Avg. | 1
In the mean ImSimCSE (paper) differs by | results | enwiki | ImSimCSE, paper, static and last layer | \
SimCSE, static and last layer | Avg. | 1
with each seed, though | results | wiki | Focal-InfoNCE | SimCSE | Avg. | 1
So are WhitenedCSE's | results | wiki | WhitenedCSE, 3 passes | SimCSE | Avg. | 1
and ImSimCSE (released)'s | results | wiki | ImSimCSE, released | SimCSE | Avg. | 1
this temperature changes SimCSE by | results | wiki | SimCSE at Focal's temperature | SimCSE | Avg. | 1
Focal-InfoNCE is above SimCSE at 0.07 by | results | wiki | Focal-InfoNCE | SimCSE at Focal's temperature | Avg. | 1
0.07 improves SimCSE by | results | wiki | SimCSE at Focal's temperature, static and last layer | \
SimCSE, static and last layer | Avg. | 1
and Focal-InfoNCE is below it: | results | wiki | Focal-InfoNCE, static and last layer | \
SimCSE at Focal's temperature, static and last layer | Avg. | 1
noise on the negatives costs points at [CLS]: | results | wiki | SimCSE | +noise on negatives | Avg. | 1
On the positives it changes the score by | results | wiki | +noise on positives | SimCSE | Avg. | 1
ImSimCSE (paper) is below SimCSE: | results | wiki | ImSimCSE, paper | SimCSE | Avg. | 1
At [CLS], Barlow Twins at the rank of the batch costs | results | wiki | SimCSE | Barlow Twins, M = 0 | Avg. | 1
and at full rank | results | wiki | SimCSE | Barlow Twins, full rank | Avg. | 1
That full rank helps is undecided: | results | wiki | Barlow Twins, full rank | Barlow Twins, M = 0 | Avg. | 1
full rank is below the rank of the batch: | results | wiki | Barlow Twins, full rank, static and last layer | \
Barlow Twins, M = 0, static and last layer | Avg. | 1
of the batch differs from SimCSE by | results | wiki | Barlow Twins, M = 0, static and last layer | \
SimCSE, static and last layer | Avg. | 1
and full rank is below SimCSE by | results | wiki | SimCSE, static and last layer | \
Barlow Twins, full rank, static and last layer | Avg. | 1
The dimension-wise term by itself is below SimCSE: | results | wiki | only dimension-wise | SimCSE | Avg. | 1
(-8.1 to -1.0) at [CLS], and | results | wiki | only dimension-wise, static and last layer | \
SimCSE, static and last layer | Avg. | 1
methods is below SimCSE.** Focal-InfoNCE: | results | wiki | Focal-InfoNCE, static and last layer | \
SimCSE, static and last layer | Avg. | 1
ImSimCSE (released): | results | wiki | ImSimCSE, released, static and last layer | \
SimCSE, static and last layer | Avg. | 1
ImSimCSE (paper): | results | wiki | ImSimCSE, paper, static and last layer | SimCSE, static and last layer | Avg. | 1
to -2.4). WhitenedCSE: | results | wiki | WhitenedCSE, 3 passes, static and last layer | \
SimCSE, static and last layer | Avg. | 1
"""


@pytest.mark.parametrize("place, page, name, row, baseline, measure, digits", table(CHANGES))
def test_an_effect_in_the_text_is_recorded(place, page, name, row, baseline, measure, digits):
    _, *numbers = gains_of(name, row, baseline, measure)
    _, _, after = " ".join({"errata": ERRATA, "results": PAGE}[page].split()).partition(place)
    assert [float(number) for number in re.findall(r"(?<![\w.])[-+]?\d+\.\d+", after)[:3]] == [
        pytest.approx(number, abs=0.5001 * 10 ** -int(digits)) for number in numbers
    ]


# A lesson: the number that it shows, and the number that this is compared with.
SHOWN = """
00_tour | SimCSE: dev
02_simcse | two masks: gain on dev
03_whitening | SimCSE gain on dev
04_whitenedcse | three passes: gain on dev | one pass: gain on dev
05_dropout_noise | noisy: dev gain | SimCSE: dev gain
06_rank_bottleneck | dev gain, full rank | dev gain, M = 0
07_focal_infonce | Focal: gain on dev | SimCSE: gain on dev
08_alignment_uniformity | SimCSE: gain of the best step
11_survey | SimCSE: gain on dev
12_your_own_method | SimCSE less control, dev
"""


@pytest.mark.parametrize("row", table(SHOWN), ids=lambda row: row[0])
def test_the_seed_of_a_lesson_is_the_nearest_to_the_mean(row):
    lesson, shown, *less = row
    values = [run[shown] - sum(run[name] for name in less) for run in runs(lesson, "classroom")]
    notebook = nbformat.read(bundled_notebooks() / f"{lesson}.ipynb", as_version=4)
    assert parameters_of(notebook, lesson)["seed"] == np.argmin(np.abs(np.array(values) - fmean(values)))


NOT_TRAINED = ("first loss", "random words", "rare", "shuffled", "noise: ")
"""Numbers that a seed draws before any training: one seed gives the same value on every machine."""


@pytest.mark.parametrize("lesson", sorted({lesson for lesson, *_ in LESSONS}))
def test_tolerances_cover_every_recorded_seed(lesson):
    sizes = [records(lesson, profile) for profile in ("smoke", "classroom")]
    assert len({tuple((entry["name"], entry["tolerance"]) for entry in size) for size in sizes}) == 1
    for entry in (entry for size in sizes for entry in size):
        if not any(what in entry["name"] for what in NOT_TRAINED):
            assert max(abs(value - entry["value"]) for value in entry["seeds"].values()) <= entry["tolerance"], entry
