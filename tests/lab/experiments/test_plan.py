"""What is declared: every ablation table of the papers, each row at every size, its recipe and its published number."""

import re
import runpy
from dataclasses import replace
from inspect import signature
from pathlib import Path

import click
import pytest
from cselab_lab.experiments import EXPERIMENTS, PROFILES, Above, Experiment, Row, get_experiment, get_profile
from cselab_lab.experiments.experiment import AVERAGE, Size, channels_a_group, missing_rank
from cselab_lab.experiments.plan import expand_rows, jobs
from cselab_lab.experiments.published import published_table
from cselab_lab.experiments.report import read_results
from small_experiment import job_of

from cselab.methods import METHODS

ROOT = Path(__file__).parents[3]
STUDY = PROFILES["study"]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_row_can_be_expanded_at_every_size_or_is_published_only_for_a_reason(name):
    experiment = EXPERIMENTS[name]
    labels = [row.label for row in experiment.all_rows]
    assert {"plain", "plain, mean subtracted"} <= set(labels)
    sizes = {}
    for profile in PROFILES.values():
        found, reasons = jobs(experiment, profile, [0])
        assert len({job.hash for job in found}) == len(found) and experiment.baseline not in reasons
        assert {job.label for job in found} | set(reasons) <= set(labels)
        sizes[profile.name] = len(found)
    assert sizes["smoke"] == sizes["study"] >= 3 and sizes["paper"] >= 3
    for label, reason in expand_rows(experiment, STUDY)[1].items():
        assert experiment.row(label).encoder != "base" or "do not divide" in reason or "no nli" in reason, (
            label,
            reason,
        )


def test_every_system_of_the_surveys_table_8_has_its_row_with_the_method_of_that_name():
    """The title of the method is the name in the table, but for the two that stand for more than themselves."""
    rows = [row for row in get_experiment("survey-table8").rows if row.method and row.published]
    trained = {row.published: METHODS[row.method] for row in rows}
    other = {name: method.title for name, method in trained.items() if method.title != name}
    assert other == {"TSFC-BERT": "ConSERT (TSFC-BERT)", "ESimCSE-SimCLR": "ESimCSE"}
    assert get_experiment("survey-table8").row("ESimCSE-SimCLR").parameters == {"variant": "simclr"}  # no queue
    shown = {row.published for row in get_experiment("survey-table8").rows}
    assert {cell.row for cell in published_table("survey", 8).cells} - shown == set()


def test_every_table_with_something_to_run_is_declared():
    printed = (EXPERIMENTS[name].published for name in EXPERIMENTS)
    declared = {(table.paper, table.number) for table in printed if table is not None}
    numbers = {"whitenedcse": range(1, 7), "imsimcse": range(1, 6), "focal": range(2, 6), "survey": (8, 9, 10)}
    assert declared >= {(paper, number) for paper in numbers for number in numbers[paper]}


@pytest.mark.parametrize(
    ("paper", "tables"), [("whitenedcse", range(1, 6)), ("imsimcse", range(1, 6)), ("focal", (2, 4)), ("survey", (8,))]
)
def test_every_readable_number_of_a_table_has_its_row(paper, tables):
    for table in tables:
        experiment = EXPERIMENTS[f"{paper}-table{table}"]
        column = experiment.columns[0]
        shown = [experiment.cell(row, column) for row in experiment.all_rows]
        wanted = [cell for cell in experiment.published.cells if column.published in (None, cell.column)]
        assert {cell.row for cell in wanted if cell not in shown} <= {"Skip-thought", "DiffCSE(Chuang et al., 2022)"}


def test_every_method_has_a_row_but_those_that_need_a_cased_encoder():
    rows = [row.method for row in EXPERIMENTS["every-method"].rows if "[CLS]" not in row.label]
    assert len(rows) == len(set(rows))
    without = METHODS.keys() - set(rows)
    assert without == {name for name, method in METHODS.items() if method.needs_capitals}


def test_rows_of_a_headline_have_seven_seeds_under_study_and_nowhere_else():
    main = EXPERIMENTS["main-comparison"]
    seeds = {}
    for job in jobs(main, STUDY)[0]:
        seeds.setdefault(job.label, []).append(job.seed)
    more = {label for label, drawn in seeds.items() if drawn == [*range(7)]}
    assert more == {
        "SimCSE",
        "WhitenedCSE, 3 passes",
        "ImSimCSE, paper",
        "ImSimCSE, released",
        "Focal-InfoNCE",
    } and seeds["plain"] == [None]
    assert all(drawn in ([None], [*range(5)]) for label, drawn in seeds.items() if label not in more)
    for profile in ("smoke", "million", "paper"):
        assert {job.seed for job in jobs(main, PROFILES[profile])[0]} == {None, *PROFILES[profile].seeds}
    assert {job.seed for job in jobs(main, STUDY, [1])[0]} == {None, 1}


def test_shares_of_the_paper_become_numbers_of_this_width():
    assert [channels_a_group(c)(Size(768, 64)) for c in (24, 2)] == [32, 384]
    assert channels_a_group(2)(Size(256, 64)) == 128
    with pytest.raises(ValueError, match="24 channels do not divide the width of 256"):
        channels_a_group(24)(Size(256, 64))
    assert [missing_rank(m / 704)(Size(768, 64)) for m in (100, 300, 704)] == [100, 300, 704]
    assert missing_rank(1)(Size(256, 64)) == 192


def test_the_same_run_under_two_labels_is_one_job():
    labels = [job.label for job in jobs(EXPERIMENTS["imsimcse-table5"], STUDY, [0])[0]]
    assert "m = 0.9" in labels and "weight = 0.1" not in labels and "temperature = 5" not in labels
    table8, table9 = (job_of(f"survey-table{number}", "MixCSE") for number in (8, 9))
    assert table8.hash == table9.hash and table8.suites == ("world", "sts")
    assert table9.suites == ("world", "transfer", "clustering")
    assert job_of("imsimcse-table5", "plain").suites == ("world", "STS-B dev")  # a search scores no test set


def test_a_method_of_several_columns_gets_its_rows_from_the_world_only():
    mine = Experiment("mine", "?", (Row("triplets", "supervised_simcse"),), AVERAGE)
    specs, _ = expand_rows(mine, STUDY)
    assert specs["triplets"].columns == ("sentence", "entailment", "contradiction")
    _, reasons = expand_rows(mine, PROFILES["paper"])
    assert reasons == {"triplets": "wiki1m has no rows of sentence, entailment, contradiction from the world"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"baseline": "SimSCE"}, "no row is called 'SimSCE'; the rows are: plain, plain, mean subtracted, SimCSE"),
        ({"claims": (Above("x", "SimCSE", "nobody"),)}, "no row is called 'nobody'"),
        ({"headlines": ("x",)}, "no claim is called 'x'"),
        ({"rows": (Row("SimCSE"), Row("SimCSE"))}, "two rows have the same label"),
        ({"rows": (Row("SimCSE", published="SimCES"),)}, "has no row 'SimCES'; it has None"),
    ],
)
def test_a_slip_in_a_declaration_is_found_when_it_is_made(changes, message):
    given = {"name": "whitenedcse-table3", "rows": (Row("SimCSE", "simcse"),), "columns": AVERAGE}
    with pytest.raises(ValueError, match=message):
        Experiment(question="?", **{**given, **changes})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: get_experiment("imsimcse-tabel1"), r"unknown experiment 'imsimcse-tabel1'\. Did you mean 'imsimcse-t"),
        (lambda: get_profile("big"), r"unknown profile 'big'\. Choose one of smoke, study, paper"),
        (lambda: get_experiment("effects").row("ImSimCSE"), r"no row 'ImSimCSE'. Did you mean 'ImSimCSE, paper'\?"),
    ],
)
def test_unknown_names_are_answered_with_the_known(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ------------------------------------------------------------------------------------------------ recipes


@pytest.mark.parametrize(
    ("table", "label", "paper", "one_recipe"),
    [
        ("whitenedcse-table1", "WhitenedCSE, RoBERTa", (64, 3e-5, 1), (512, 1e-5, 1)),
        ("whitenedcse-table1", "SimCSE, RoBERTa", (512, 1e-5, 1), (512, 1e-5, 1)),
        ("survey-table8", "DiffCSE", (64, 7e-6, 2), (64, 3e-5, 1)),
        ("survey-table8", "PromptBERT", (256, 1e-5, 1), (64, 3e-5, 1)),
        ("survey-table8", "DCLR", (128, 3e-5, 3), (64, 3e-5, 1)),
        ("survey-table8", "DCPCSE", (256, 3e-2, 1), (64, 3e-2, 1)),  # a prefix; its paper's rate is not multiplied
        ("imsimcse-table3", "ImSimCSE, large", (64, 8e-6, 1), (64, 8e-6, 1)),
    ],
)
def test_under_paper_a_method_trains_as_in_its_paper_and_else_as_simcse(table, label, paper, one_recipe):
    for profile, wanted in (("paper", paper), ("paper-one-recipe", one_recipe)):
        recipe = job_of(table, label, profile).spec.recipe
        assert (recipe["batch_size"], recipe["lr"], recipe["epochs"]) == wanted


def test_what_the_family_changes_of_a_method_and_its_guide_comes_with_the_recipe():
    table = get_experiment("survey-table8")
    rows = tuple(replace(row, encoder="roberta") if row.label == "DCLR" else row for row in table.rows)
    parameters = job_of(replace(table, rows=rows), "DCLR", "paper").spec.parameters
    assert (parameters["phi"], parameters["noise"]) == (0.85, 2.5)
    guide = parameters["guide"]
    assert (guide.recipe["batch_size"], guide.recipe["epochs"], guide.seed) == (64, 1.0, 0)


@pytest.mark.parametrize("name", [name for name in PROFILES if name != "paper"])
def test_all_other_profiles_have_one_recipe_but_for_a_rate_that_a_row_gives(name, tmp_path):
    profile = get_profile(name)
    for experiment in EXPERIMENTS.values():
        for job in jobs(experiment, profile, [0])[0]:
            row = experiment.row(job.label)
            if row.method and row.encoder == "base" and not row.recipe:
                assert {**job.spec.recipe, "lr": 0} == {**profile.recipe, "lr": 0} and job.seed == 0
    assert read_results("survey-table8", name, tmp_path).recipes() == []
    lines = read_results("whitenedcse-table1", "paper", tmp_path).recipes()
    recipe = "WhitenedCSE's recipe (batch 64, lr 3e-05, 1 epoch)"
    own = f"{recipe}: WhitenedCSE, 3 passes, WhitenedCSE, paper, WhitenedCSE, 1 pass, after the head, "
    own += "WhitenedCSE, large, WhitenedCSE, RoBERTa"
    assert f"By {own}" in lines


PAGE = runpy.run_path(str(ROOT / "scripts" / "reference_pages.py"))


@pytest.mark.parametrize("page", ["recipes", "commands"])
def test_a_generated_page_is_that_of_today(page):
    if page == "commands" and "help" not in signature(click.Argument).parameters:
        pytest.skip("click before 8.5 prints no help of arguments")
    assert PAGE[page]() == (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")


def test_the_page_of_methods_has_each_method_in_its_family():
    page = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    found = {}
    for section in page.split("\n## ")[1:]:
        family = section.partition(":")[0].lower()
        found |= {
            name: (title, family) for name, title in re.findall(r"^\| `(\w+)` \| (.*?) \|", section, re.MULTILINE)
        }
    assert found == {name: (method.title, method.family) for name, method in METHODS.items()}, (
        "run: python scripts/reference_pages.py methods.md"
    )
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{len(METHODS)} published methods" in readme, "run: python scripts/reference_pages.py methods.md"


def test_a_recipe_is_what_is_printed_or_the_page_names_the_difference():
    printed, seven, one = PAGE["printed"](), published_table("survey", 7), published_table("focal", 1)
    titles = {row.method: row.published for row in get_experiment("survey-table8").rows if row.method and row.published}
    assert printed.keys() == set(PAGE["trained"]())
    for (method, family), text in printed.items():
        own = METHODS[method].recipes[family]
        for name in ("batch_size", "lr", "epochs"):
            same = text[name] != "" and float(text[name]) == getattr(own, name)
            unprinted = (name, text["source"]) == ("epochs", "Focal-InfoNCE, Table 1")
            assert same or text["differs"] or unprinted, (method, name)
        assert text["source"] or text["differs"]
        rows, column = ("batch size", "learning rate"), ""
        if "Table 7;" in text["source"]:
            cells = [seven.cell(titles[method], row).value for row in rows]
        elif text["source"] == "Focal-InfoNCE, Table 1":
            column = {"bert": "BERT", "roberta": "RoBERTa"}[family.split("-")[0]] + "_" + family.split("-")[1]
            cells = [one.cell(row, column).value for row in rows]
        else:
            continue
        assert cells == [float(text["batch_size"]), float(text["lr"])], method
