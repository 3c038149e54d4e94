"""Tables of scores in the forms in which people have them, and what is said of them."""

import json

import numpy as np
import pandas
import pytest
from cselab_lab.diagnosis import tie_table
from scipy.stats import spearmanr

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


def test_pairs_with_gold_are_scored_by_spearman(tmp_path):
    gold = DRAW.uniform(0, 5, 200)
    frame = pandas.DataFrame({"gold": gold, "good": gold + DRAW.normal(0, 0.5, 200), "bad": DRAW.normal(size=200)})
    frame.to_csv(tmp_path / "pairs.csv", index=False)
    found = tie_table(tmp_path / "pairs.csv").rows()
    assert list(found) == ["good", "bad"] and found["good"]["ranks"] == "1 to 1"
    assert found["good"]["score"] == pytest.approx(100 * spearmanr(frame.gold, frame.good).statistic)


def test_tasks_that_some_system_lacks_are_left_out_and_said():
    holed = SCORES.copy()
    holed.loc["small", "task3"] = np.nan
    found = tie_table(holed)
    assert "Left out" in found.note() and "task3" in found.note() and "14 units" in found.note()
    assert list(found.to_frame().index) == ["large", "middle", "small"]


def test_few_seeds_are_compared_by_t_tests_and_the_note_says_how_many_neighbours_tie():
    note = tie_table(SCORES.iloc[:, :4]).note()
    assert "paired t-tests by Holm" in note and note.startswith("1 of 2 neighbours")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a table"),
        ("1,2\n3,4\n", "names of the systems"),
        ("model,task,score\na,x,1\na,x,2\n", "rows repeat"),
        ("gold,a\n1,2\n2,3\n", "two or more systems"),
        ("gold,a,b\n1,2,\n2,3,1\n", "1 predictions are missing"),
        ("model,x\na,1\nb,2\n", "two of each"),
    ],
)
def test_a_file_that_is_none_of_these_is_named_with_what_is_missing(tmp_path, text, said):
    (tmp_path / "scores.csv").write_text(text)
    with pytest.raises((DataError, ValueError), match=said):
        tie_table(tmp_path / "scores.csv")


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        tie_table(tmp_path / "none.csv")
