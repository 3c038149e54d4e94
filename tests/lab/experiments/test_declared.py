"""What is declared: every ablation table of the three papers, each row where it belongs."""

import pytest
from cselab_lab.experiments import EXPERIMENTS, PROFILES, Above, Column, Experiment, Row, get_experiment, get_profile
from cselab_lab.experiments.experiment import AVERAGE, Size, channels_a_group, missing_rank
from cselab_lab.experiments.jobs import jobs
from cselab_lab.experiments.published import published_table


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_can_be_laid_out_at_every_size(name):
    experiment = EXPERIMENTS[name]
    sizes = {}
    for profile in PROFILES.values():
        found, reasons = jobs(experiment, profile, [0])
        assert {job.label for job in found} <= {row.label for row in experiment.all_rows}
        assert len({job.hash for job in found}) == len(found) and experiment.baseline not in reasons
        sizes[profile.name] = len(found)
    assert sizes["smoke"] == sizes["study"] >= 3 and sizes["paper"] >= 3


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_row_is_published_only_for_a_reason(name):
    _, reasons = jobs(EXPERIMENTS[name], PROFILES["study"], [0])
    for label, reason in reasons.items():
        row = EXPERIMENTS[name].row(label)
        assert row.encoder != "base" or "do not divide" in reason, (label, reason)


def test_every_row_trains_a_method_that_there_is_with_parameters_that_it_has():
    from cselab.methods import METHODS

    rows = [(name, row) for name, experiment in EXPERIMENTS.items() for row in experiment.all_rows if row.method]
    assert [(name, row.label) for name, row in rows if row.method not in METHODS] == []
    for name, row in rows:
        assert set(row.parameters) - {"variant"} <= set(METHODS[row.method].hyperparameters()), (name, row.label)


def test_every_system_of_the_surveys_table_8_has_its_row_with_the_method_of_that_name():
    """The title of the method is the name in the table, but for the two that stand for more than themselves."""
    from cselab.methods import METHODS

    rows = [row for row in get_experiment("survey-table8").rows if row.method and row.published]
    trained = {row.published: METHODS[row.method] for row in rows}
    other = {name: method.title for name, method in trained.items() if method.title != name}
    assert other == {"TSFC-BERT": "ConSERT (TSFC-BERT)", "ESimCSE-SimCLR": "ESimCSE"}
    assert get_experiment("survey-table8").row("ESimCSE-SimCLR").parameters == {"variant": "simclr"}  # no queue
    shown = {row.published for row in get_experiment("survey-table8").rows}
    assert {cell.row for cell in published_table("survey", 8).cells} - shown == set()


def test_profiles_change_the_size_and_never_the_rows():
    experiment = get_experiment("imsimcse-table1")
    laid_out = {
        name: [(job.label, job.settings["method"]) for job in jobs(experiment, profile, [0])[0] if job.seed == 0]
        for name, profile in PROFILES.items()
    }
    assert laid_out["smoke"] == laid_out["study"] == laid_out["paper"]


def test_rows_of_a_headline_have_seven_seeds_under_study_and_nowhere_else():
    main = EXPERIMENTS["main-comparison"]
    seeds = {}
    for job in jobs(main, PROFILES["study"])[0]:
        seeds.setdefault(job.label, []).append(job.seed)
    more = {label for label, drawn in seeds.items() if drawn == [*range(7)]}
    assert more == {"SimCSE", "WhitenedCSE", "ImSimCSE", "Focal-InfoNCE"} and seeds["plain"] == [None]
    assert all(drawn in ([None], [*range(5)]) for label, drawn in seeds.items() if label not in more)
    for profile in ("smoke", "million", "paper"):
        assert {job.seed for job in jobs(main, PROFILES[profile])[0]} == {None, *PROFILES[profile].seeds}
    assert {job.seed for job in jobs(main, PROFILES["study"], [1])[0]} == {None, 1}
    assert 3 * 2 / 2 ** len(PROFILES["study"].headline_seeds) < 0.05  # by Holm over the three, where all signs agree


def test_all_rows_of_a_table_train_with_the_same_recipe():
    for name in ("imsimcse-table1", "imsimcse-table2", "whitenedcse-table4", "main-comparison"):
        found, _ = jobs(EXPERIMENTS[name], PROFILES["study"], [3])
        recipes = [job.settings["recipe"] for job in found if job.seed == 3]
        assert all(recipe == recipes[0] for recipe in recipes) and recipes[0]["seed"] == 3


def test_every_table_with_something_to_run_is_declared():
    printed = (EXPERIMENTS[name].published for name in EXPERIMENTS)
    declared = {(table.paper, table.number) for table in printed if table is not None}
    assert declared >= {("whitenedcse", number) for number in range(1, 7)}
    assert declared >= {("imsimcse", number) for number in range(1, 6)}
    assert declared >= {("focal", number) for number in range(2, 6)}
    assert declared >= {("survey", number) for number in (8, 9, 10)}
    assert EXPERIMENTS["survey-figure3"].published is None


def test_every_readable_number_of_the_ablation_tables_has_its_row():
    for name in ("whitenedcse-table3", "whitenedcse-table4", "whitenedcse-table5", "imsimcse-table1",
                 "imsimcse-table2", "imsimcse-table5", "focal-table4"):  # fmt: skip
        experiment = EXPERIMENTS[name]
        column = experiment.columns[0]
        shown = [experiment.cell(row, column) for row in experiment.all_rows]
        wanted = [cell for cell in experiment.published.cells if column.published in (None, cell.column)]
        assert [cell for cell in wanted if cell not in shown] == [], name


def test_shares_of_the_paper_become_numbers_of_this_width():
    assert [channels_a_group(c)(Size(768, 64)) for c in (24, 2)] == [32, 384]
    assert channels_a_group(2)(Size(256, 64)) == 128
    with pytest.raises(ValueError, match="24 channels do not divide the width of 256"):
        channels_a_group(24)(Size(256, 64))
    assert [missing_rank(m / 704)(Size(768, 64)) for m in (100, 300, 704)] == [100, 300, 704]
    assert missing_rank(1)(Size(256, 64)) == 192


def test_the_plain_encoder_and_its_centred_vectors_stand_in_every_table():
    for experiment in EXPERIMENTS.values():
        labels = [row.label for row in experiment.all_rows]
        assert {"plain", "plain, mean subtracted"} <= set(labels)


def test_the_same_run_under_two_labels_is_one_job():
    found, _ = jobs(EXPERIMENTS["imsimcse-table5"], PROFILES["study"], [0])
    labels = [job.label for job in found]
    assert "m = 0.9" in labels and "weight = 0.1" not in labels and "temperature = 5" not in labels


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


def test_unknown_names_are_answered_with_the_known():
    with pytest.raises(ValueError, match=r"unknown experiment 'imsimcse-tabel1'\. Did you mean 'imsimcse-table1'\?"):
        get_experiment("imsimcse-tabel1")
    with pytest.raises(ValueError, match=r"unknown experiment 'table1'\. Choose one of main-comparison"):
        get_experiment("table1")
    with pytest.raises(ValueError, match=r"unknown profile 'big'\. Choose one of smoke, study, paper"):
        get_profile("big")
    with pytest.raises(ValueError, match="no row 'BERT'; its rows are: 'plain'"):
        get_experiment("imsimcse-table1").row("BERT")


def test_a_column_of_ours_needs_no_published_one():
    assert Experiment(name="x", question="?", rows=(), columns=(Column("STS-B"),)).published is None
