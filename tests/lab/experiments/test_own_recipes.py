"""The profile `paper` trains each method by its own paper's recipe, and says whose; no other profile does."""

import runpy
from pathlib import Path

import pytest
from click.testing import CliRunner
from cselab_lab import cli
from cselab_lab.experiments import EXPERIMENTS, PROFILES, get_experiment, get_profile, read_results
from cselab_lab.experiments.jobs import job_of, jobs
from cselab_lab.experiments.published import published_table

from cselab.methods import METHODS

ROOT = Path(__file__).parents[3]
PAGE = runpy.run_path(str(ROOT / "scripts" / "recipes_page.py"))
PRINTED = PAGE["printed"]()


def recipe(table, label, profile="paper"):
    experiment = get_experiment(table)
    found = job_of(experiment, experiment.row(label), get_profile(profile), seed=0).settings["recipe"]
    return found["batch_size"], found["lr"], found["epochs"]


@pytest.mark.parametrize(
    ("table", "label", "own"),
    [
        ("whitenedcse-table1", "WhitenedCSE, RoBERTa", (64, 3e-5, 1)),
        ("whitenedcse-table1", "SimCSE, RoBERTa", (512, 1e-5, 1)),
        ("survey-table8", "DiffCSE", (64, 7e-6, 2)),
        ("survey-table8", "PromptBERT", (256, 1e-5, 1)),
        ("survey-table8", "DCLR", (128, 3e-5, 3)),
        ("survey-table8", "DCPCSE", (256, 3e-2, 1)),  # not a thousand times that
        ("imsimcse-table3", "ImSimCSE, large", (64, 8e-6, 1)),
    ],
)
def test_a_method_trains_as_in_its_paper(table, label, own):
    assert recipe(table, label) == own


def test_one_recipe_is_simcse_s_for_the_encoder_and_a_thousand_times_its_rate_for_a_prefix():
    assert recipe("survey-table8", "DiffCSE", "paper-one-recipe") == (64, 3e-5, 1)
    assert recipe("whitenedcse-table1", "WhitenedCSE, RoBERTa", "paper-one-recipe") == (512, 1e-5, 1)
    assert recipe("survey-table8", "DCPCSE", "paper-one-recipe") == (64, 3e-2, 1)


def test_what_the_family_changes_of_a_method_and_its_guide_comes_with_the_recipe():
    from dataclasses import replace

    table = get_experiment("survey-table8")
    row = replace(table.row("DCLR"), encoder="roberta")
    settings = job_of(table, row, get_profile("paper"), seed=0).settings
    assert (settings["parameters"]["phi"], settings["parameters"]["noise"]) == (0.85, 2.5)
    guide = settings["parameters"]["guide"]["recipe"]
    assert (guide["batch_size"], guide["epochs"], guide["seed"]) == (64, 1.0, 0)


@pytest.mark.parametrize("name", [name for name in PROFILES if name != "paper"])
def test_all_other_profiles_have_one_recipe(name):
    """But for a rate that a row gives, and for the encoder's family under the papers' encoders."""
    profile = get_profile(name)
    for experiment in EXPERIMENTS.values():
        for job in jobs(experiment, profile, [0])[0]:
            row = experiment.row(job.label)
            if row.method and row.encoder == "base" and not row.recipe:
                assert job.settings["recipe"] | {"lr": 0} == {**profile.recipe, "lr": 0, "seed": 0}
    assert not profile.own_recipes and read_results("survey-table8", name, ROOT / "results").recipes() == []


def test_the_table_says_whose_recipe_a_row_has(tmp_path):
    said = read_results("whitenedcse-table1", "paper", tmp_path).recipes()
    assert (
        "By WhitenedCSE's recipe (batch 64, lr 3e-05, 1 epoch): WhitenedCSE, WhitenedCSE, large, WhitenedCSE, RoBERTa"
        in said
    )
    assert any(line.startswith("By SimCSE's recipe (batch 64, lr 3e-05, 1 epoch): SimCSE, ArcCSE") for line in said)


def test_the_command_takes_one_recipe_for_all(tmp_path):
    def shown(*more):
        arguments = ["experiment", "show", "focal-table3", "--folder", str(tmp_path), *more]
        return CliRunner().invoke(cli.app, arguments).output

    assert "By DiffCSE's recipe (batch 64, lr 7e-06, 2 epochs): DiffCSE" in shown("--profile", "paper")
    one = shown("--profile", "paper", "--one-recipe")
    assert "Here: paper-one-recipe, bert-base-uncased" in one and "DiffCSE's recipe" not in one
    assert "Here: study" in shown("--one-recipe")


def test_the_page_of_recipes_is_that_of_today():
    assert PAGE["page"]() == (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")


def test_where_a_recipe_is_not_what_is_printed_the_page_says_so():
    assert PRINTED.keys() == set(PAGE["trained"]())
    for (method, family), text in PRINTED.items():
        own = METHODS[method].recipes[family]
        for name in ("batch_size", "lr", "epochs"):
            same = text[name] != "" and float(text[name]) == getattr(own, name)
            assert same or text["differs"] or (name, text["source"]) == ("epochs", "Focal-InfoNCE, Table 1"), (
                method,
                name,
            )
        assert text["source"] or text["differs"]


def test_what_is_said_to_be_printed_is_printed():
    titles = {row.method: row.published for row in get_experiment("survey-table8").rows if row.method and row.published}
    seven, one = published_table("survey", 7), published_table("focal", 1)
    for (method, family), text in PRINTED.items():
        if "Table 7;" in text["source"]:
            cells = [seven.cell(titles[method], column).value for column in ("batch size", "learning rate")]
        elif text["source"] == "Focal-InfoNCE, Table 1":
            column = {"bert": "BERT", "roberta": "RoBERTa"}[family.split("-")[0]] + "_" + family.split("-")[1]
            cells = [one.cell(row, column).value for row in ("batch size", "learning rate")]
        else:
            continue
        assert cells == [float(text["batch_size"]), float(text["lr"])], method
