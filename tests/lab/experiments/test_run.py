"""Jobs are run once, shared, and written whole, whatever happens on the way."""

import json
import threading
from dataclasses import replace

import pytest
from cselab_lab.experiments import JobsFailed, ResultsError, read_results, run, run_experiment
from cselab_lab.experiments.store import Store

from cselab.data import MissingFile

DEV = "Classroom-STS dev"


def lines(folder):
    (path,) = folder.glob("*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_job_leaves_one_line_and_is_never_computed_again(small, tiny, made_up, tmp_path):
    run_experiment(small, tiny, [0], folder=tmp_path)
    assert len(made_up) == 4
    run_experiment(small, tiny, [0], folder=tmp_path)
    assert len(made_up) == 4
    run_experiment(small, tiny, folder=tmp_path)
    found = lines(tmp_path)
    assert len(made_up) == len({line["hash"] for line in found}) == 6
    assert [(line["row"], line["seed"]) for line in found] == [
        ("plain", None), ("plain, mean subtracted", None), ("cold", 0), ("warm", 0), ("cold", 1), ("warm", 1),
    ]  # fmt: skip
    assert all((line["experiment"], line["profile"]) == ("small", "tiny") for line in found)


def test_another_recipe_is_another_job(small, tiny, made_up, tmp_path):
    run_experiment(small, tiny, [0], folder=tmp_path)
    longer = replace(tiny, recipe={**tiny.recipe, "steps": 3})
    found = run_experiment(small, longer, [0], folder=tmp_path)
    assert len(made_up) == 6  # the two that do not train stay
    assert found.other == 2


def test_rows_can_be_chosen_and_the_plain_encoder_comes_along(small, tiny, made_up, tmp_path):
    run_experiment(small, tiny, [0], only=["warm"], folder=tmp_path)
    assert [line["row"] for line in lines(tmp_path)] == ["plain", "warm"]


def test_a_job_that_another_experiment_measured_enough_of_is_copied(small, tiny, made_up, tmp_path):
    run_experiment(replace(small, name="b"), replace(tiny, suites=("world",)), [0], folder=tmp_path)
    for name in "ac":  # read before and after it
        text = (tmp_path / "b.tiny.jsonl").read_text().replace('"suites": ["world"]', '"suites": []')
        (tmp_path / f"{name}.tiny.jsonl").write_text(text.replace('"experiment": "b"', f'"experiment": "{name}"'))
    run_experiment(small, replace(tiny, suites=("world",)), [0], folder=tmp_path)
    copied = [json.loads(line) for line in (tmp_path / "small.tiny.jsonl").read_text().splitlines()]
    assert len(made_up) == 4 and {(line["experiment"], line["from"]) for line in copied} == {("small", "b")}
    store = Store(tmp_path, "small", "tiny")
    for line in store.read().values():
        store.append(line)  # its numbers are there already
    assert len((tmp_path / "small.tiny.jsonl").read_text().splitlines()) == 4


def test_a_job_that_fails_does_not_stop_the_others(small, tiny, made_up, monkeypatch, tmp_path):
    compute = run.run_job

    def broken(job, *rest):
        if job.label == "warm":
            raise OSError("disk full")
        return compute(job, *rest)

    monkeypatch.setattr(run, "run_job", broken)
    with pytest.raises(JobsFailed, match=r"2 of 6 jobs failed .*\n  warm, seed 0; warm, seed 1: OSError: disk full"):
        run_experiment(small, tiny, folder=tmp_path)
    assert [line["row"] for line in lines(tmp_path)] == ["plain", "plain, mean subtracted", "cold", "cold"]
    monkeypatch.setattr(run, "run_job", compute)
    run_experiment(small, tiny, folder=tmp_path)
    assert len(lines(tmp_path)) == 6


def test_two_commands_share_the_jobs_and_compute_each_once(small, tiny, made_up, monkeypatch, tmp_path):
    monkeypatch.setattr(run, "LOOK_AGAIN", 0.01)
    compute, meet = run.run_job, threading.Barrier(2, timeout=60)

    def together(job, *rest):
        if job.seed == 0:
            meet.wait()  # both commands are inside a job of their own at this moment
        return compute(job, *rest)

    monkeypatch.setattr(run, "run_job", together)
    commands = [
        threading.Thread(target=run_experiment, args=(small, tiny), kwargs={"folder": tmp_path}) for _ in range(2)
    ]
    for command in commands:
        command.start()
    for command in commands:
        command.join()
    assert len(made_up) == 6 and len(lines(tmp_path)) == 6


def test_a_torn_last_line_is_cut_off_and_its_job_runs_again(small, tiny, made_up, tmp_path):
    run_experiment(small, tiny, [0], folder=tmp_path)
    path = tmp_path / "small.tiny.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    assert len(read_results(small, tiny, tmp_path).lines) == 3
    run_experiment(small, tiny, [0], folder=tmp_path)
    assert len(made_up) == 5 and path.read_bytes() == whole


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"experiment": "small", "pro', r"small\.tiny\.jsonl, line 2 is not a finished job .*restore the file"),
        ('{"loss": 3}', "line 2 is not a finished job .it has no experiment, hash, profile"),
        ("[]", "line 2 is not a finished job"),
        (("scores", "high"), "line 2 is not a finished job"),
        (("scores", {"STS-B": "71"}), r"its scores are not numbers: \{'STS-B': '71'\}"),
        (("scores", {"STS-B": None}), "its scores are not numbers"),
        (("experiment", "large"), r"line 2 belongs to large\.tiny\.jsonl: move the line"),
    ],
)
def test_a_line_that_does_not_belong_there_is_named_and_nothing_runs(small, tiny, made_up, tmp_path, line, message):
    run_experiment(small, tiny, [0], folder=tmp_path)
    path = tmp_path / "small.tiny.jsonl"
    first, second, *rest = path.read_text().splitlines()
    if isinstance(line, tuple):
        line = json.dumps(json.loads(second) | dict([line]))
    path.write_text("\n".join([first, line, *rest]) + "\n")
    before, content = len(made_up), path.read_bytes()
    with pytest.raises(ResultsError, match=message):
        run_experiment(small, tiny, [0, 1], folder=tmp_path)
    assert len(made_up) == before and path.read_bytes() == content


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seeds": []}, "seeds are whole numbers of at least 0, one or more"),
        ({"seeds": [-1]}, "seeds are whole numbers"),
        ({"only": ["hot"]}, "no row 'hot'. Its rows are: 'plain', 'plain, mean subtracted', 'cold', 'warm'"),
        ({"workers": 2, "scheduler": "tcp://127.0.0.1:1"}, "workers .* or a scheduler, not 2 and"),
        ({"workers": -1}, "workers .at least 0"),
    ],
)
def test_bad_arguments_are_refused_before_anything_runs(small, tiny, made_up, tmp_path, arguments, message):
    with pytest.raises(ValueError, match=message):
        run_experiment(small, tiny, folder=tmp_path, **arguments)
    assert made_up == [] and not list(tmp_path.iterdir())


def test_progress_says_what_is_done_and_what_is_left(small, tiny, made_up, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("CSELAB_HEADLESS", "1")
    run_experiment(small, tiny, [0], folder=tmp_path)
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 4 and said[0].startswith("small, tiny: 1/4") and "min left" in said[0]


def test_a_text_that_is_not_there_is_missed_before_anything_runs(small, tiny, made_up, monkeypatch, tmp_path):
    monkeypatch.setenv("CSELAB_DATA", str(tmp_path))
    with pytest.raises(MissingFile, match="get it with: cselab data fetch wiki1m"):
        run_experiment(small, replace(tiny, corpus="wiki1m"), folder=tmp_path)
    assert not made_up and not list(tmp_path.glob("*.jsonl"))
