"""Reading: the numbers of the file next to the published ones, the gains paired by seed, the claims in words."""

import csv
import json
import re
import runpy
from pathlib import Path
from statistics import mean, stdev

import pytest
from cselab_lab.experiments import EXPERIMENTS, get_experiment, read_results, report, run_experiment, with_changes
from cselab_lab.experiments.store import JobRecord, Store
from pandas import isna
from small_experiment import DEV, write_lines

ROOT = Path(__file__).parents[3]
TABLE = get_experiment("whitenedcse-table6")


def averages(label, seed):
    seed = seed or 0
    gain = {"SimCSE": 0.0, "only whitening": 2.0 + 0.1 * seed, "both": 3.0 - 0.1 * seed}.get(label, -1.0)
    return {"Avg.": 50.0 + seed + gain, "World-STS": 60.0 + seed}


def cell(found, row, column="Avg."):
    frame = found.to_frame()
    return frame[(frame["row"] == row) & (frame["column"] == column)].iloc[0]


@pytest.fixture
def read(tmp_path):
    """Writes made-up lines of an experiment, if scores are given, and reads them."""

    def written_and_read(experiment=TABLE, scores=None, profile="study", keep=lambda *_: True):
        if scores is not None:
            write_lines(tmp_path, experiment, profile, scores, keep)
        return read_results(experiment, profile, tmp_path)

    return written_and_read


def test_published_ours_and_the_gain_paired_by_seed(read):
    row = cell(read(scores=averages, keep=lambda *job: job != ("SimCSE", 0)), "only whitening")
    assert row["published"] == 77.81 and row["n"] == 5 and row["sd"] == pytest.approx(1.1 * 2.5**0.5)
    assert row["ours"] == pytest.approx(54.2) and row["difference"] == pytest.approx(54.2 - 77.81)
    assert row["gain"] == pytest.approx(2.25) and row["published_gain"] == pytest.approx(1.56)  # of the four shared
    assert 2.0 < row["gain_low"] < 2.25 < row["gain_high"] < 2.5  # far narrower than the spread of the seeds


def test_what_was_not_run_here_is_read_as_it_was_recorded(tmp_path, monkeypatch):
    recorded, mine = tmp_path / "recorded", tmp_path / "mine"
    (mine / "results").mkdir(parents=True)
    recorded.mkdir()
    monkeypatch.setattr(report, "recorded_results", lambda: recorded)
    monkeypatch.chdir(mine)
    assert read_results(TABLE).lines == {}
    write_lines(recorded, TABLE, "study", averages)
    assert len(read_results(TABLE).values("SimCSE", "Avg.")) == 5
    write_lines(mine / "results", TABLE, "study", lambda label, seed: {"Avg.": 7.0})
    assert set(read_results(TABLE).values("SimCSE", "Avg.").values()) == {7.0}
    assert read_results(TABLE, folder=tmp_path).lines == {}, "no other folder replaces one that is named"


def test_a_search_on_dev_pairs_shows_no_test_set(read):
    found = read("imsimcse-table5", lambda *_: {"STS-B dev": 50.0, "World-STS": 60.0, "alignment": 0.2})
    assert set(found.to_frame()["column"]) == {"STS-B dev"}


def test_claims_are_answered_from_the_same_numbers(read):
    answers = {verdict.claim: verdict for verdict in read(scores=averages).verdicts()}
    assert answers["whitening by itself helps"].answer == "the same direction, larger"
    assert answers["whitening by itself helps"].published == pytest.approx(1.56)
    third = answers["the third view helps after whitening"]
    assert third.answer == "compatible with the paper" and third.ours == pytest.approx(0.6)
    hardly = answers["a third dropout view by itself hardly helps"]
    assert hardly.answer == "the opposite" and hardly.ours == pytest.approx(-1.0)


def test_without_the_data_another_task_replaces_the_column_and_no_difference_is_taken(read):
    found = read(scores=lambda label, seed: {"World-STS": 60.0 + (seed or 0)})
    row = cell(found, "SimCSE")
    assert row["measure"] == "World-STS" and row["ours"] == 62.0 and row["published"] == 76.25
    assert isna(row["difference"]) and "World-STS" in found.shown()


def test_a_mean_over_columns_is_that_of_each_seed_and_of_the_printed_numbers(read):
    def scores(label, seed):
        seed = seed or 0
        found = {"AgNews": 70.0 + seed, "SearchSnippets": 50.0, "StackOverflow": 20.0, "GoogleNews": 40.0 - seed}
        if label == "DCLR":
            del found["GoogleNews"]
        return {name: score + 4.0 * (label == "MixCSE") for name, score in found.items()} | {"World-STS": 60.0}

    found = read("survey-table10", scores)
    row = cell(found, "MixCSE", "Avg. of 4")
    assert row["n"] == 5 and row["ours"] == pytest.approx(49.0) and row["gain"] == pytest.approx(4.0)
    assert row["published"] == pytest.approx((78.27 + 73.31 + 66.49 + 67.75) / 4, abs=0.005)
    assert "mean of the printed AgNews, SearchSnippets, StackOverflow, GoogleNews" in row["note"]
    assert cell(found, "DCLR", "Avg. of 4")["n"] == 0 and cell(found, "DCLR", "AgNews")["n"] == 5  # one of four missing
    lost = cell(found, "PromptBERT", "Avg. of 4")
    assert lost["n"] == 5 and isna(lost["published"])
    assert "SearchSnippets: released checkpoint" in cell(found, "EASE", "Avg. of 4")["note"]
    answers = {verdict.claim: verdict for verdict in found.verdicts()}
    assert answers["MixCSE is above SimCSE"].ours == pytest.approx(4.0)


def test_rows_that_were_not_run_or_broke_down_stay_with_their_published_number(read):
    found = read(scores=averages, keep=lambda label, _: label != "both")
    assert cell(found, "both")["published"] == 78.78 and cell(found, "both")["n"] == 0
    assert "the third view helps after whitening: not run; the paper has +1.0" in str(found)
    found = read(scores=lambda label, seed: None if (label, seed) == ("both", 3) else averages(label, seed))
    assert cell(found, "both")["failed"] == 1 and "(4, 1 failed)" in found.shown()


def test_a_table_prints_in_every_form(read):
    found = read(scores=averages)
    for form in ("text", "md", "latex", "csv", "html"):
        assert "54.20" in found.shown(form=form) and "77.81" in found.shown(form=form)
    assert "<table" in found._repr_html_() and "Is it the whitening" in found._repr_html_()
    with pytest.raises(ValueError, match=r"no column 'x'; it has Avg\., World-STS"):
        found.shown("x")


def test_rows_that_differ_in_settings_show_them(read):
    lines = read("every-method", lambda *_: {"Avg.": 50.0}).shown(form="csv").splitlines()
    table = {line[0]: dict(zip(lines[0].split(",")[1:], line[1:], strict=False)) for line in csv.reader(lines)}
    settings = ("pooling", "head", "lr")
    shown = {name: [table[name][setting] for setting in settings] for name in ("ct", "simcse", "plain")}
    assert shown == {"ct": ["mean", "none", "0.0003"], "simcse": ["cls", "mlp", "0.0003"], "plain": ["cls", "", ""]}
    assert table["dcpcse"]["lr"] == "0.3" and table["ct, [CLS]"]["pooling"] == "cls"


def test_gains_are_taken_between_rows_of_one_encoder(read):
    found = read("focal-table4", profile="paper")
    assert cell(found, "temperature 0.07, large", "STS-B")["published_gain"] == pytest.approx(80.43 - 79.11)
    assert cell(found, "temperature 0.07", "STS-B")["published_gain"] == pytest.approx(79.31 - 78.98)
    assert isna(cell(found, "temperature 0.05", "STS-B")["published_gain"])


def test_what_is_doubtful_about_a_published_cell_and_why_rows_cannot_run_is_printed_below_the_table(read):
    found = read("whitenedcse-table3")
    note = cell(found, "groups")["note"]
    assert "contradicts Table 4" in note
    for form in ("text", "md"):
        shown = found.shown(form=form).splitlines()
        number = next(line for line in shown if "77.47 [" in line).split("77.47 [")[1][0]
        assert f"[{number}] {note}" in shown
    assert f"<p>[{number}] {note}</p>" in found.shown(form="html")
    assert note not in found.shown(form="csv") and "77.47 [" not in found.shown(form="csv")
    assert "PCA &lt; ZCA" in found._repr_html_() and "PCA < ZCA" not in found._repr_html_()
    text = str(read("focal-table5"))
    assert "[1] no roberta encoder under study" in text and text.count("[1]") == 5


def test_before_anything_is_run_the_published_numbers_are_there(read):
    found = read("imsimcse-table1", profile="smoke")
    text = str(found)
    assert found.sentences()[0] == found.nothing == "imsimcse-table1 was not run under smoke"
    assert "76.25" in text and "noise on the negatives costs points: not run; the paper has +1.7" in text
    assert "ignore the scores" in text


def test_a_real_run_reads_back_with_curve_and_hashes_and_gives_the_same_again(small, tiny, tmp_path):
    found, again = (run_experiment(small, tiny, [0], ["cold"], folder=tmp_path / name) for name in "ab")
    assert set(found.values("cold", DEV)) == {0} and found.values("plain", DEV) == {}
    line, other = (results.lines["cold"][0] for results in (found, again))
    assert line.scores == other.scores and line.curve == other.curve
    assert len(line.encoder_hash) == len(line.corpus_hash) == 64 and line.versions["torch"]
    assert [row["step"] for row in found.curves("cold")[0]] == [0, 2] and line.best_step == 2
    assert found.curves("cold")[0][1]["score"] == pytest.approx(found.values("cold", DEV)[0], abs=1e-4)


# ------------------------------------------------------------------------------------------------ what was recorded

RESULTS = ROOT / "results"


@pytest.mark.parametrize(
    "path", [path for name in EXPERIMENTS for path in RESULTS.glob(f"{name}.*.jsonl")], ids=lambda path: path.stem
)
def test_every_committed_line_is_found_by_the_reader_and_its_hash_is_that_of_its_settings(path):
    name, _, profile = path.stem.rpartition(".")
    base, _, corpus = profile.partition("-")  # wiki-simplewiki-1m
    found = read_results(name, with_changes(base, corpus=corpus or None), path.parent)
    lines = Store(RESULTS, name, profile).read()
    assert found.other == 0 and lines
    assert all(key == record.spec.hash == record.hash for key, record in lines.items())
    assert {record.hash: record for seeds in found.lines.values() for record in seeds.values()} == lines
    for line in path.read_text(encoding="utf-8").splitlines():
        assert json.dumps(JobRecord.from_json(json.loads(line)).to_json(), ensure_ascii=False) == line


def test_the_pages_of_the_book_have_every_recorded_experiment(tmp_path):
    runpy.run_path(str(ROOT / "scripts" / "experiments_page.py"))["write_pages"](tmp_path)
    pages = {file.name: file.read_text(encoding="utf-8") for file in tmp_path.iterdir()}
    recorded = {path.name.split(".")[0] for path in RESULTS.glob("*.study.jsonl")}
    assert set(re.findall(r"^`([a-z0-9-]+)`: ", pages["study.md"], re.M)) >= recorded - {"effects", "effects-grow"}
    assert "57.3" in pages["effects.md"] and "one epoch" in pages["effects-grow.md"].lower()


# ------------------------------------------------------------------------------------------------ the recorded effects


@pytest.fixture(scope="module")
def effects():
    return read_results("effects", folder=RESULTS)


def test_what_was_recorded_once_is_there_to_the_digit(effects):
    line = effects.lines["SimCSE"][0]
    recipe = {"steps": 200, "lr": 3e-4, "batch_size": 64, "eval_every": 20, "precision": "fp32"}
    assert line.spec.recipe == recipe and line.spec.seed == 0
    assert (line.scores["Avg."], line.scores["mean_cosine"], line.seconds) == (57.2811, 0.4321, 134.5)
    assert [at["step"] for at in line.curve] == list(range(0, 201, 20)) and line.best_step == 160


def test_means_spreads_and_gains_of_rows_with_seeds_and_without(effects):
    (plain,) = effects.values("plain", "STS-B").values()
    values = effects.values("SimCSE", "STS-B")
    head, plain_row, simcse = effects.table(["plain", "SimCSE"], ["STS-B", "mean_cosine"]).splitlines()
    assert head.split() == ["STS-B", "mean", "cosine"] and plain_row.split()[:2] == ["plain", f"{plain:.2f}"]
    spread = [f"{mean(values.values()):.2f}", "±", f"{stdev(values.values()):.2f}", "(5)"]
    assert simcse.split()[:5] == ["SimCSE", *spread]
    assert effects.curves("plain") == {} and effects.curves("SimCSE").keys() == values.keys()
    assert effects.over("SimCSE", "plain", "STS-B") == {seed: value - plain for seed, value in values.items()}
    assert effects.over("plain", "plain", "STS-B") == {None: 0.0}
    assert len(effects.verdicts("World-STS")) == len(effects.experiment.claims)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda effects: effects.mean("simcse", "STS-B"), r"no row 'simcse'. Did you mean 'SimCSE'\? Its rows are: '"),
        (lambda effects: effects.mean("plain", "MR"), r"'plain' has no 'MR'; it has Avg., Classroom-STS"),
        (lambda effects: effects.verdicts("MR"), "effects has no column 'MR'. Its columns are: 'Avg.', 'World-STS'"),
    ],
)
def test_what_was_not_measured_is_answered_with_what_was(effects, call, message):
    with pytest.raises(ValueError, match=message):
        call(effects)
