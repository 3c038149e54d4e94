"""Tables of scores in the forms in which people have them, and what is said of them."""

import json

import numpy as np
import pandas
import pytest
from cells import table
from cselab_lab.diagnosis import tie_table

from cselab.data import DataError

DRAW = np.random.default_rng(0)
TASKS = [f"task{number}" for number in range(15)]
SCORES = pandas.DataFrame(
    np.array([[60.0], [60.1], [75.0]]) + DRAW.normal(0, 5, 15) + DRAW.normal(0, 1, (3, 15)),
    index=["small", "middle", "large"],
    columns=TASKS,
)


def rows_of(scores):
    return {name: (row["rank"], row["ranks"], row["ties"]) for name, row in tie_table(scores).rows().items()}


WIDE = {"large": ("1", "1 to 1", "a"), "middle": ("2", "2 to 3", "b"), "small": ("3", "2 to 3", "b")}


def as_long(folder):
    long = SCORES.rename_axis("model").reset_index().melt("model", var_name="task", value_name="score")
    long.to_csv(folder / "scores.csv", index=False)
    return folder / "scores.csv"


def as_wide(folder):
    SCORES.to_csv(folder / "scores.tsv", sep="\t")
    return folder / "scores.tsv"


def as_mteb(folder):
    for model, row in SCORES.iterrows():
        place = folder / str(model) / "1"
        place.mkdir(parents=True)
        (place / "model_meta.json").write_text(json.dumps({"name": f"org/{model}", "revision": "1"}))
        for task, value in row.items():
            score = {"main_score": value / 100, "cosine_spearman": value / 100, "hf_subset": "default"}
            found = {"task_name": task, "dataset_revision": "1", "scores": {"test": [score]}, "evaluation_time": 1.0}
            (place / f"{task}.json").write_text(json.dumps(found | {"mteb_version": "2.0"}))
    return folder


@pytest.mark.parametrize("make", [as_long, as_wide, lambda folder: SCORES, lambda folder: SCORES.T.to_dict()])
def test_the_same_scores_in_any_form_give_the_same_table(tmp_path, make):
    found = rows_of(make(tmp_path))
    assert {name: row[:2] for name, row in found.items()} == {name: row[:2] for name, row in WIDE.items()}
    assert found["middle"][2] == found["small"][2] != found["large"][2]


def test_results_of_mteb_are_read_from_their_folder(tmp_path):
    assert {name.split("/")[-1]: row for name, row in rows_of(as_mteb(tmp_path)).items()} == rows_of(SCORES)


def test_tasks_that_some_system_lacks_are_left_out_and_said():
    holed = SCORES.copy()
    holed.loc["small", "task3"] = np.nan
    found = tie_table(holed)
    assert "Left out" in found.note() and "task3" in found.note() and "14 units" in found.note()
    assert list(found.rows()) == ["large", "middle", "small"]


def test_few_units_are_compared_by_t_tests_and_ties_counted():
    note = tie_table(SCORES.iloc[:, :4]).note()
    assert "paired t-tests by Holm" in note and note.startswith("1 of 2 neighbours")


DAMAGED = r"""
 | the file is empty
1,2\n3,4\n | names of the systems
a line\n | names of the systems
model,task,score\na,x,1\na,x,2\n | rows repeat
model,x,y\na,1,2\na,3,4\nb,5,6\n | a twice
model,x,y\na,1,2\n a ,3,4\nb,5,6\n | a twice
model,x,y\na,1,2\n,3,4\n | a row without a name
model,x,y\na,"70,1",2\nb,3,4\nc,3,4\n | x of the system a is '70,1'
model,x,y\na,70.1,2\nb,seventy,4\nc,3,4\n | x of the system b is 'seventy'
model,x,y\na,1e308,2\nb,1,4\nc,3,4\n | outside -100 to 100: x
model,x\na,1\nb,2\n | expected at least two of each
model,x,y\na,1,2,9\nb,3,4,8\nc,5,6,7\n | line 2: 4 fields, its header has 3
model;x;y\na;70,1;71,0\nb;69;72\nc;69;72\n | x of the system a is '70,1'
model,x,y,x\na,1,2,9\nb,3,4,8\n | several columns are called x
"""


@pytest.mark.parametrize("text, said", table(DAMAGED))
def test_a_file_that_is_no_table_of_scores_is_named(tmp_path, text, said):
    (tmp_path / "scores.csv").write_text(text.replace(r"\n", "\n"))
    with pytest.raises((DataError, ValueError), match=said):
        tie_table(tmp_path / "scores.csv")
    with pytest.raises(DataError, match="no such file"):
        tie_table(tmp_path / "none.csv")


BOARD = SCORES.rename_axis("Model").reset_index()
NO_TASKS = "Rank, Borda rank, Number of Parameters, Embedding Dimensions, Mean (Task), Unnamed: 0, steps done, \
Zero-shot, Licence score, cost in USD, CO2 (kg), Tasks run"  # but in decimals as scores are


@pytest.mark.parametrize(
    "column, values, reason",
    [
        *((name, [40.5, 50.25, 60.5], "by their names") for name in NO_TASKS.split(", ")),
        ("uniformity", [-0.2, -0.3, -0.1], "in a different unit"),
        ("sts, a fraction", [0.5, 0.6, 0.7], "in a different unit"),
        ("samples", [100, 500, 1000], "outside -100 to 100"),
        ("all tasks", SCORES.mean(axis=1).round(2).tolist(), "means of the tasks"),
        ("type", ["open", "open", "closed"], "not numbers"),
        ("new", ["1.5", "-", "2.5"], "not every system"),
        ("new", [None, "70.1", "60"], "not every system"),
        ("Zero-shot (%)", ["99%", "57%", "95%"], "by their names"),
        ("share of languages", ["99%", "57%", "95%"], "a share"),
        ("open data", ["99.5 %", "57.1 %", "95.0 %"], "a share"),
    ],
)
@pytest.mark.parametrize("as_file", [False, True])
def test_a_column_that_is_no_task_is_left_out_and_named(tmp_path, column, values, reason, as_file):
    frame = BOARD.assign(**{column: values})
    if as_file:
        frame.to_csv(tmp_path / "board.csv", index=False)
    found = tie_table(tmp_path / "board.csv" if as_file else frame)
    assert reason in found.left_out and column in found.left_out
    assert found.rows() == tie_table(SCORES).rows()


WIDER = np.random.default_rng(1).normal(60, 5, (6, 12)).round(2)


@pytest.mark.parametrize("kind", [int, float, str])
@pytest.mark.parametrize("name", ["Zero-shot", "languages", "own", "open", "x"])
def test_whole_numbers_among_decimals_are_no_scores(name, kind, tmp_path):
    board = pandas.DataFrame(WIDER, [f"m{row}" for row in range(6)], [f"t{column}" for column in range(12)])
    plain = tie_table(board)
    board.insert(3, name, [kind(value) for value in (99, 57, 95, 100, 80, 80)])
    board.to_csv(tmp_path / "board.csv", index_label="Model")
    for given in (board, tmp_path / "board.csv") if kind is not float else (board,):
        found = tie_table(given)
        assert name in found.left_out and found.rows() == plain.rows()


def test_a_table_of_whole_numbers_is_counted_whole():
    assert "12 units" in tie_table(pandas.DataFrame(WIDER.round(0).astype(int), list("abcdef"))).note()
    assert not tie_table(pandas.DataFrame(WIDER.round(0), list("abcdef"))).left_out


def test_letters_and_equal_differences_are_those_of_the_ranking():
    found = tie_table({
        "x": dict(zip("abcde", (80, 80.1, 79.9, 80, 80.1), strict=True)),
        "y": dict(zip("abcde", (79, 79.05, 78.9, 79.1, 79), strict=True)),
        "z": dict(zip("abcde", (86, 70, 60, 88, 75), strict=True)),
    })  # fmt: skip
    assert {name: row["ties"] for name, row in found.rows().items()} == {"x": "a", "y": "b", "z": "ab"}
    same = tie_table({"a": {"s": 50.0, "t": 60.0}, "b": {"s": 50.1, "t": 60.1}})
    assert {row["ties"] for row in same.rows().values()} == {"a"} and "b and a" in same.note().replace(
        "a and b", "b and a"
    )


@pytest.mark.parametrize("written", ["{}*", "**{}**", "{} %", "{} ± 0.2", "{} (0.3)"])
def test_a_number_is_read_as_tables_print_it(tmp_path, written):
    frame = BOARD.astype({"task3": object})
    frame.loc[1, "task3"] = written.format(repr(float(SCORES.loc["middle", "task3"])))
    frame.to_csv(tmp_path / "board.csv", index=False)
    assert tie_table(tmp_path / "board.csv").rows() == tie_table(SCORES).rows()
    assert tie_table(frame).rows() == tie_table(SCORES).rows()


@pytest.mark.parametrize("name", ["NA", "1e5", "-", "007"])
def test_a_system_keeps_its_row_however_it_is_called(tmp_path, name):
    BOARD.replace({"Model": {"small": name}}).to_csv(tmp_path / "board.csv", index=False)
    assert list(tie_table(tmp_path / "board.csv").rows()) == ["large", "middle", name]


@pytest.mark.parametrize("name", ["Overall", "Zero-shot", "mean", "rank", "Memory"])
def test_every_result_of_mteb_is_a_task(tmp_path, name):
    folder = as_mteb(tmp_path)
    for model, rows in SCORES.iterrows():
        file = folder / str(model) / "1" / "task0.json"
        file.write_text(
            file.read_text()
            .replace('"task0"', f'"{name}"')
            .replace(str(rows["task0"] / 100), str(rows[1:].mean() / 100))
        )
    assert "15 units" in tie_table(folder).note() and "Left out" not in tie_table(folder).note()


def test_results_of_mteb_on_other_data_are_left_out(tmp_path):
    folder = as_mteb(tmp_path)
    file = folder / "small/1/task3.json"
    file.write_text(file.read_text().replace('"dataset_revision": "1"', '"dataset_revision": "2"'))
    note = tie_table(folder).note()
    assert "14 units" in note and "revisions 1 and 2): task3" in note
