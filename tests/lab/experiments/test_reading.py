"""Reading: the numbers of the file beside the published ones, the gains paired by seed, the claims in words."""

import json
import re
import runpy
from pathlib import Path
from statistics import mean, stdev

import pytest
from cselab_lab.experiments import (
    EXPERIMENTS,
    beside,
    get_experiment,
    get_profile,
    read_results,
    reading,
    run_experiment,
)
from cselab_lab.experiments.jobs import jobs, settings_hash
from pandas import isna

DEV = "Classroom-STS dev"
TABLE = get_experiment("whitenedcse-table6")


def write(folder, experiment, profile, scores, missing=()):
    """Lines for all jobs: `scores(label, seed)` gives the measured numbers, None a training that broke down."""
    profile = get_profile(profile)
    with open(folder / f"{experiment.name}.{profile.name}.jsonl", "w", encoding="utf-8") as file:
        for job in jobs(experiment, profile, profile.seeds)[0]:
            if job.label in missing:
                continue
            found = scores(job.label, job.seed or 0)
            line = {"experiment": experiment.name, "profile": profile.name, "row": job.label, "seed": job.seed,
                    "hash": job.hash, "settings": job.settings, "suites": list(job.suites), "missing": {},
                    "scores": found or {}, "failure": None if found else "diverged", "versions": {}}  # fmt: skip
            file.write(json.dumps(line) + "\n")


def averages(label, seed):
    gain = {"SimCSE": 0.0, "whitening alone": 2.0 + 0.1 * seed, "both": 3.0 - 0.1 * seed}.get(label, -1.0)
    return {"Avg.": 50.0 + seed + gain, "World-STS": 60.0 + seed}


def cell(frame, row, column="Avg."):
    return frame[(frame["row"] == row) & (frame["column"] == column)].iloc[0]


def test_published_ours_and_difference_stand_side_by_side(tmp_path):
    write(tmp_path, TABLE, "study", averages)
    row = cell(beside(TABLE, "study", tmp_path), "whitening alone")
    assert row["published"] == 77.81 and row["n"] == 5
    assert row["ours"] == pytest.approx(54.2) and row["difference"] == pytest.approx(54.2 - 77.81)
    assert row["sd"] == pytest.approx(1.1 * 2.5**0.5)


def test_what_was_not_run_here_is_read_as_it_was_recorded(tmp_path, monkeypatch):
    recorded, mine = tmp_path / "recorded", tmp_path / "mine"
    (mine / "results").mkdir(parents=True)
    recorded.mkdir()
    monkeypatch.setattr(reading, "recorded_results", lambda: recorded)
    monkeypatch.chdir(mine)
    assert read_results(TABLE).lines == {}
    write(recorded, TABLE, "study", averages)
    assert len(read_results(TABLE).values("SimCSE", "Avg.")) == 5
    write(mine / "results", TABLE, "study", lambda label, seed: {"Avg.": 7.0})
    assert set(read_results(TABLE).values("SimCSE", "Avg.").values()) == {7.0}
    assert read_results(TABLE, folder=tmp_path).lines == {}, "a folder that is named stands alone"


def test_where_nothing_was_run_the_profiles_that_have_lines_are_named(tmp_path):
    write(tmp_path, TABLE, "million", averages)
    here, there = read_results(TABLE, folder=tmp_path), read_results(TABLE, "million", tmp_path)
    assert here.said()[0] == f"nothing of {TABLE.name} was run under study; there are lines of million"
    assert there.nothing == "" and not there.elsewhere and there.nothing not in there.said()


def test_beside_a_search_on_dev_pairs_no_test_set_is_read(tmp_path):
    table5 = get_experiment("imsimcse-table5")
    write(tmp_path, table5, "study", lambda label, seed: {"STS-B dev": 50.0, "World-STS": 60.0, "alignment": 0.2})
    assert set(beside(table5, "study", tmp_path)["column"]) == {"STS-B dev"}


def test_gains_are_paired_by_seed(tmp_path):
    write(tmp_path, TABLE, "study", averages)
    row = cell(beside(TABLE, "study", tmp_path), "whitening alone")
    assert row["gain"] == pytest.approx(2.2) and row["published_gain"] == pytest.approx(1.56)
    assert 2.0 < row["gain_low"] < 2.2 < row["gain_high"] < 2.4  # far narrower than the spread of the seeds


def test_claims_are_answered_from_the_same_numbers(tmp_path):
    write(tmp_path, TABLE, "study", averages)
    answers = {verdict.claim: verdict for verdict in read_results(TABLE, "study", tmp_path).verdicts()}
    assert answers["whitening alone helps"].answer == "the same direction, larger"
    assert answers["whitening alone helps"].published == pytest.approx(1.56)
    third = answers["the third view helps once there is whitening"]
    assert third.answer == "as large as in the paper" and third.ours == pytest.approx(0.6)
    hardly = answers["a third dropout view alone hardly helps"]
    assert hardly.answer == "the opposite" and hardly.ours == pytest.approx(-1.0)


def test_without_the_data_another_task_stands_in_and_no_difference_is_taken(tmp_path):
    write(tmp_path, TABLE, "study", lambda label, seed: {"World-STS": 60.0 + seed})
    found = read_results(TABLE, "study", tmp_path)
    row = cell(found.beside(), "SimCSE")
    assert row["measure"] == "World-STS" and row["ours"] == 62.0 and row["published"] == 76.25
    assert row["difference"] is None or row["difference"] != row["difference"]
    assert "World-STS" in found.shown()


def test_a_mean_over_columns_is_that_of_each_seed_and_of_the_printed_numbers(tmp_path):
    def scores(label, seed):
        found = {"AgNews": 70.0 + seed, "SearchSnippets": 50.0, "StackOverflow": 20.0, "GoogleNews": 40.0 - seed}
        if label == "DCLR":
            del found["GoogleNews"]
        return {name: score + 4.0 * (label == "MixCSE") for name, score in found.items()} | {"World-STS": 60.0}

    table = get_experiment("survey-table10")
    write(tmp_path, table, "study", scores)
    results = read_results(table, "study", tmp_path)
    frame = results.beside()
    row = cell(frame, "MixCSE", "Avg. of 4")
    assert row["n"] == 5 and row["ours"] == pytest.approx(49.0) and row["gain"] == pytest.approx(4.0)
    assert row["published"] == pytest.approx((78.27 + 73.31 + 66.49 + 67.75) / 4, abs=0.005)
    assert "mean of the printed AgNews, SearchSnippets, StackOverflow, GoogleNews" in row["note"]
    assert cell(frame, "DCLR", "Avg. of 4")["n"] == 0 and cell(frame, "DCLR", "AgNews")["n"] == 5  # one of four missing
    lost = cell(frame, "PromptBERT", "Avg. of 4")
    assert lost["n"] == 5 and isna(lost["published"])
    assert "SearchSnippets: released checkpoint" in cell(frame, "EASE", "Avg. of 4")["note"]
    answers = {verdict.claim: verdict for verdict in results.verdicts()}
    assert answers["MixCSE is above SimCSE"].ours == pytest.approx(4.0)


def test_rows_that_were_not_run_stay_with_their_published_number(tmp_path):
    write(tmp_path, TABLE, "study", averages, missing=("both",))
    found = read_results(TABLE, "study", tmp_path)
    row = cell(found.beside(), "both")
    assert row["published"] == 78.78 and row["n"] == 0
    assert "the third view helps once there is whitening: not run; the paper has +1.0" in str(found)


def test_a_training_that_broke_down_is_counted(tmp_path):
    def scores(label, seed):
        return None if label == "both" and seed == 3 else averages(label, seed)

    write(tmp_path, TABLE, "study", scores)
    found = read_results(TABLE, "study", tmp_path)
    assert cell(found.beside(), "both")["failed"] == 1 and "(4, 1 failed)" in found.shown()


def test_doubtful_cells_keep_their_note_and_other_rows_their_reason(tmp_path):
    frame = beside("whitenedcse-table3", "study", tmp_path)
    assert "contradicts Table 4" in cell(frame, "groups")["note"]
    frame = beside("focal-table4", "study", tmp_path)
    assert cell(frame, "temperature 0.1, large", "STS-B")["note"].startswith("no large encoder under study")


def test_a_table_prints_in_every_form(tmp_path):
    write(tmp_path, TABLE, "study", averages)
    found = read_results(TABLE, "study", tmp_path)
    for form in ("text", "md", "latex", "csv", "html"):
        assert "54.20" in found.shown(form=form) and "77.81" in found.shown(form=form)
    assert "<table" in found._repr_html_() and "Is it the whitening" in found._repr_html_()
    with pytest.raises(ValueError, match=r"no column 'x'; it has Avg\., World-STS"):
        found.shown("x")


def test_before_anything_is_run_the_published_numbers_are_there(tmp_path):
    said = str(read_results("imsimcse-table1", "study", tmp_path))
    assert "76.25" in said and "noise on the negatives costs points: not run; the paper has +1.7" in said


@pytest.mark.slow
def test_a_real_run_reads_back_with_curve_and_hashes(small, tiny, tmp_path):
    found = run_experiment(small, tiny, [0], folder=tmp_path)
    assert set(found.values("cold", DEV)) == {0} and found.values("plain", DEV) == {}
    line = found.lines["cold"][0]
    assert len(line["encoder_hash"]) == len(line["corpus_hash"]) == 64 and line["versions"]["torch"]
    assert [row["step"] for row in found.curves("cold")[0]] == [0, 2] and line["best_step"] == 2
    assert found.curves("cold")[0][1]["score"] == pytest.approx(found.values("cold", DEV)[0], abs=1e-4)


@pytest.mark.slow
def test_a_job_run_again_gives_the_recorded_number(small, tiny, tmp_path):
    first = run_experiment(small, tiny, [1], only=["warm"], folder=tmp_path / "a")
    second = run_experiment(small, tiny, [1], only=["warm"], folder=tmp_path / "b")
    assert first.lines["warm"][1]["scores"] == second.lines["warm"][1]["scores"]
    assert first.lines["warm"][1]["curve"] == second.lines["warm"][1]["curve"]


def test_gains_are_taken_between_rows_of_one_encoder(tmp_path):
    frame = beside("focal-table4", "paper", tmp_path)
    assert cell(frame, "temperature 0.07, large", "STS-B")["published_gain"] == pytest.approx(80.43 - 79.11)
    assert cell(frame, "temperature 0.07", "STS-B")["published_gain"] == pytest.approx(79.31 - 78.98)
    first = cell(frame, "temperature 0.05", "STS-B")["published_gain"]
    assert first is None or first != first


def test_rows_that_cannot_run_are_named_together_with_their_reason(tmp_path):
    said = str(read_results("focal-table5", "study", tmp_path))
    assert "[1] no roberta encoder under study" in said and said.count("[1]") == 5


def test_what_is_doubtful_about_a_published_cell_is_said_below_the_table(tmp_path):
    found = read_results("whitenedcse-table3", "study", tmp_path)
    note = cell(found.beside(), "groups")["note"]
    for form in ("text", "md"):
        shown = found.shown(form=form).splitlines()
        number = next(line for line in shown if "77.47 [" in line).split("77.47 [")[1][0]
        assert f"[{number}] {note}" in shown
    assert f"<p>[{number}] {note}</p>" in found.shown(form="html")
    assert note not in found.shown(form="csv") and "77.47 [" not in found.shown(form="csv")


def test_smoke_says_that_its_numbers_answer_nothing(tmp_path):
    assert "its numbers answer nothing" in str(read_results("imsimcse-table1", "smoke", tmp_path))


RESULTS = Path(__file__).parents[3] / "results"
COMMITTED = [path for name in EXPERIMENTS for path in RESULTS.glob(f"{name}.*.jsonl")]


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)
def test_every_committed_line_is_found_by_the_reader_and_its_hash_is_that_of_its_settings(path):
    name, _, profile = path.stem.rpartition(".")
    found = read_results(name, profile, path.parent)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert found.other == 0 and lines
    assert all(line["hash"] == settings_hash(line["settings"]) for line in lines)
    read = {line["hash"]: line for seeds in found.lines.values() for line in seeds.values()}
    assert read == {line["hash"]: line for line in lines}


def test_claims_are_escaped_in_a_page(tmp_path):
    page = read_results("whitenedcse-table3", "study", tmp_path)._repr_html_()
    assert "PCA &lt; ZCA" in page and "PCA < ZCA" not in page


@pytest.mark.parametrize("name", ["study.md", "effects.md", "effects-grow.md"])
def test_a_page_of_results_is_what_the_results_say(name):
    root = Path(__file__).parents[3]
    page = runpy.run_path(str(root / "scripts" / "experiments_page.py"))["PAGES"][name]
    assert page(root / "results") == (root / "results" / name).read_text(encoding="utf-8")


COLUMNS = ("Avg.", "World-STS", "Classroom-STS")
METHODS = ("SimCSE", "ImSimCSE", "Focal-InfoNCE", "WhitenedCSE")
FIRST_LAST = ("plain, first-last average", "the same, whitened")


def as_written(scores):
    scores = list(scores)
    return f"{mean(scores):.1f}" + (f" ± {stdev(scores):.1f}" if len(scores) > 1 else "")


def test_the_readme_has_the_main_comparison_as_it_was_measured():
    root = Path(__file__).parents[3]
    text = (root / "README.md").read_text(encoding="utf-8")
    results = read_results("main-comparison", "study", root / "results")
    table = re.findall(r"^\|.*\|$", text[text.index("## Results") : text.index("## Who")], re.MULTILINE)
    expected = ["| | seven STS sets | World-STS | Classroom STS |", "|---|---|---|---|"]
    for label in ("plain", "plain, mean subtracted", "plain, whitened", *METHODS):
        scores = (as_written(results.values(label, column).values()) for column in COLUMNS)
        expected.append(f"| {label.removeprefix('plain, ')} | {' | '.join(scores)} |")
    assert table == expected


def test_the_readme_names_the_baselines_that_no_training_needs():
    root = Path(__file__).parents[3]
    said = " ".join((root / "README.md").read_text(encoding="utf-8").split())
    table4 = read_results("imsimcse-table4", "study", root / "results")
    pooled, both = (next(iter(table4.values(label, "Avg.").values())) for label in FIRST_LAST)
    assert f"instead of [CLS] gives {pooled:.1f} without training, and {both:.1f} whitened." in said
