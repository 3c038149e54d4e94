import dataclasses
import json
import os
import re
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import numpy as np
import pytest
import torch
from click.testing import CliRunner
from cselab_lab import cli
from cselab_lab.cli import registered
from cselab_lab.cli.options import suites_or_default
from cselab_lab.experiments.plan import PROFILES
from cselab_lab.experiments.plan import RECIPES as BUNDLED
from cselab_lab.experiments.run import CHOICES
from cselab_lab.headless.sizes import SIZES
from nbformat.v4 import new_code_cell, new_notebook
from safetensors.numpy import load_file
from scipy.stats import spearmanr
from stsb import write_stsb
from tiny import WORDS, make_sentences, write_checkpoint

import cselab
from cselab import SentenceEncoder
from cselab.data import STS_TASKS, Pairs
from cselab.data.fetch import Fetched
from cselab.encoders.pooling import POOLINGS
from cselab.evaluators import SUITES, sts
from cselab.methods import METHODS
from cselab.training import TrainConfig
from cselab.transforms import NAMES
from cselab.world import World

CORPUS = make_sentences(64)


def run(*arguments, ok=True):
    """What a command printed, its lines joined; it must end as expected, and never with a traceback."""
    result = CliRunner().invoke(cli.app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert (result.exit_code == 0) == ok, result.output
    if not ok and result.stderr:
        assert len(result.stderr.splitlines()) == 1, result.stderr
        assert not re.search(r"[^.]\. \(see", result.stderr), result.stderr
    return result.output


@pytest.fixture(autouse=True)
def full_precision(monkeypatch):
    """The same arithmetic whatever machine this is, and lines of progress even where another test loaded a kernel."""
    monkeypatch.setenv("CSELAB_HEADLESS", "1")
    monkeypatch.setattr(sys.modules["cselab.encoders.speed"], "faster_in_bf16", lambda: False)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return write_checkpoint(tmp_path_factory.mktemp("encoders") / "tiny")


@pytest.fixture
def corpus(tmp_path):
    file = tmp_path / "corpus.txt"
    file.write_text("\n".join(CORPUS) + "\n")
    return file


def graded(row):
    """A pair of sentences and their grade, which is the share of the words that they have in common."""
    first = SENTENCES[row % 400]
    second = f"{first} today" if row % 5 == 0 else SENTENCES[(3 * row + row // 400 + 1) % 400]
    a, b = set(first.split()), set(second.split())
    return f"{5 * len(a & b) / len(a | b):.3f}", first, second


SENTENCES = make_sentences(400, seed=1)


@pytest.fixture(scope="module")
def stsb(tmp_path_factory):
    """A SentEval folder with STS-B alone: right row counts, words that the tiny encoder knows."""
    return write_stsb(tmp_path_factory.mktemp("data"), lambda _, row: graded(row))


def train(encoder, corpus, output, *more, method="simcse", ok=True):
    options = ("--encoder", encoder, "--corpus", corpus, "--output", output, "--batch-size", 8)
    steps = () if "--epochs" in more else ("--steps", 4)
    return run("train", method, *options, *steps, "--lr", 1e-3, *more, ok=ok)


@pytest.fixture(scope="module")
def trained(encoder, stsb, tmp_path_factory):
    """What `cselab train` printed, and the folder of the run."""
    corpus = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    corpus.write_text("\n".join(CORPUS) + "\n")
    output = tmp_path_factory.mktemp("runs") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CSELAB_HEADLESS", "1")
        patch.setattr(sys.modules["cselab.encoders.speed"], "faster_in_bf16", lambda: False)
        return train(encoder, corpus, output, "--data", stsb, "--eval-every", 2), output


# ------------------------------------------------------------------------------------------ train


def test_train_says_what_runs_how_far_it_is_and_what_is_best(trained, encoder, tmp_path):
    said, output = trained
    assert f"simcse on {encoder} (cls), 64 sentences, dev: STS-B dev (not the published text), fp32" in said
    assert re.search(r"^simcse: 3/4 .* loss \d\.\d+, dev -?\d+\.\d\d at step 2$", said, re.M)
    assert re.findall(r"^step (\d): dev -?\d+\.\d\d, alignment \d", said, re.M) == ["0", "2", "4"]
    assert re.search(r"best at step [24]: dev .*, alignment \d.*, uniformity -\d", said)
    assert f"encoder in {output}" in said
    (tmp_path / "new").touch()  # under this umask
    files = [file for file in output.rglob("*") if file.is_file()]
    assert {file.stat().st_mode for file in files} == {(tmp_path / "new").stat().st_mode}


def test_the_folder_of_a_run_is_an_encoder_to_every_command(trained, stsb, corpus, tmp_path):
    _, output = trained
    vectors = tmp_path / "vectors.npy"
    run("encode", output, corpus, "--output", vectors)
    assert np.load(vectors).shape == (64, 8)
    scores = tmp_path / "scores.json"
    run("evaluate", output, "--suite", "STS", "--task", "sts-b/dev", "--data", stsb, "--json", scores)
    best = json.loads((output / "run.json").read_text())["best"]
    assert json.loads(scores.read_text())["scores"]["STS-B/dev"] == pytest.approx(best["score"], abs=1e-4)


def test_a_finished_run_is_read_back(trained, encoder, corpus, stsb):
    _, output = trained
    before = (output / "model.safetensors").stat().st_mtime_ns
    said = train(encoder, corpus, output, "--data", stsb, "--eval-every", 2)
    assert "finished before: read back" in said and "best at step" in said
    assert (output / "model.safetensors").stat().st_mtime_ns == before


def test_a_table_trains_the_same_encoder_as_its_sentences_and_is_searched_by_its_columns(encoder, corpus, tmp_path):
    file = tmp_path / "s.csv"
    file.write_text("id,text\n" + "".join(f'{row},"{text}"\n' for row, text in enumerate(CORPUS)))
    train(encoder, corpus, tmp_path / "plain", "--dev", "none")
    said = train(encoder, file, tmp_path / "table", "--dev", "none")
    assert f"{file}: the sentences are those of its column 'text' (--column" in said
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("plain", "table")]
    assert weights[0] == weights[1]
    asked = ("search", encoder, tmp_path / "s.csv", CORPUS[9], "--top", 1)
    assert f"1.000  line 11: {CORPUS[9]}" in run(*asked)
    assert "column 'id'" not in run(*asked, "--column", "id")
    for line in (asked, ("encode", encoder, tmp_path / "s.csv", "--output", tmp_path / "v.npy")):
        assert "it has no column 'txt'; its columns are id, text" in run(*line, "--column", "txt", ok=False)


@pytest.mark.parametrize("lines", [CORPUS, [json.dumps({"text": text}) for text in CORPUS]], ids=["text", "json"])
def test_a_corpus_may_come_from_standard_input(lines, encoder, corpus, tmp_path):
    def piped(*arguments):
        result = CliRunner().invoke(cli.app, [str(part) for part in arguments], input="\n".join(lines))
        assert result.exit_code == 0, result.output
        return result.output

    assert f"1.000  line 10: {CORPUS[9]}" in piped("search", encoder, "-", CORPUS[9], "--top", 1)
    piped("encode", encoder, "-", "--output", tmp_path / "v.npy")
    assert np.allclose(np.load(tmp_path / "v.npy"), SentenceEncoder.from_pretrained(encoder).encode(CORPUS), atol=1e-6)
    settings = ("--encoder", encoder, "--seeds", "0,1", "--batch-size", 8, "--steps", 2, "--dev", "none")
    piped("train", "simcse", "--corpus", "-", "--output", tmp_path / "piped", *settings)
    run("train", "simcse", "--corpus", corpus, "--output", tmp_path / "read", *settings)
    one, other = ((tmp_path / name / "simcse/seed-1/model.safetensors").read_bytes() for name in ("piped", "read"))
    assert one == other


def test_a_bundled_encoder_takes_its_recipe_unless_told_otherwise(corpus, tmp_path, monkeypatch):
    configs = []

    def stopped(encoder, method, sentences, config, *_, **__):
        configs.append(config)
        raise ValueError("enough")

    monkeypatch.setattr("cselab.training.train", stopped)

    def settings(*options):
        line = ("train", "simcse", "--corpus", corpus, "--output", tmp_path / "run", "--dev", "none", *options)
        return CliRunner().invoke(cli.app, [str(part) for part in line]).stdout, configs[-1]

    said, config = settings()
    assert config == BUNDLED["micro"].config()
    assert "the recipe of micro for what was not said: steps 50, lr 0.0005" in said
    assert settings("--encoder", "mini")[1] == BUNDLED["mini"].config()
    assert settings("--seed", 3, "--lr", 0.1)[1] == BUNDLED["micro"].config(seed=3, lr=0.1)
    assert settings("--steps", 16)[1] == BUNDLED["micro"].config(steps=16, eval_every=2)
    assert settings("--epochs", 32)[1] == BUNDLED["micro"].config(steps=None, epochs=32, eval_every=4)
    said, config = settings("--recipe", "none")
    assert config == TrainConfig(eval_every=1) and "recipe" not in said


def test_settings_reach_the_method_and_the_run(encoder, corpus, tmp_path):
    train(encoder, corpus, tmp_path / "run", "--dev", "none", "--limit", 32, "--seed", 7, "--pooling", "cls",
          "--representation", "head", "--set", "num_groups=4", "--set", "num_views=2", "--set", "variant=paper",
          method="whitenedcse")  # fmt: skip
    identity = json.loads((tmp_path / "run" / "run.json").read_text())["identity"]
    assert identity["method"] | {"num_groups": 4, "num_views": 2, "variant": "paper"} == identity["method"]
    assert identity["corpus"]["sentences"] == 32 and identity["config"]["seed"] == 7
    saved = SentenceEncoder.from_pretrained(tmp_path / "run")
    assert (saved.pooling, saved.representation) == ("cls", "head")


def test_a_number_without_a_point_is_a_float_where_one_is_wanted(encoder, corpus, tmp_path):
    train(encoder, corpus, tmp_path / "run", "--dev", "none", "--set", "temperature=1", method="focal")
    identity = json.loads((tmp_path / "run" / "run.json").read_text())["identity"]
    assert identity["method"]["temperature"] == 1


@pytest.mark.parametrize(
    "method, setting, said",
    [
        ("simcse", "temprature=0.1", "simcse: unknown parameter 'temprature'. It has: variant, temperature"),
        ("simcse", "temperature=hot", "'temperature' takes a float (its default is 0.05); got 'hot'"),
        ("simcse", "temperature", "--set wants NAME=VALUE, got 'temperature'"),
        ("simcse", "variant=best", "unknown variant of simcse 'best'. Choose one of default, paper, released"),
        ("whitenedcse", "num_views=2.5", "'num_views' takes an int"),
        ("whitenedcse", "num_groups=many", "'num_groups' takes int | None; got 'many'"),
        ("whitenedcse", "running=perhaps", "'running' takes true or false"),
        ("whitenedcse", "layout=thirds", "layout of whitenedcse is 'thirds'; it must be one of 'per_view'"),
        ("focal", "temperature=hot", "'temperature' takes float | None; got 'hot'"),
    ],
)
def test_settings_that_a_method_does_not_have_or_of_another_type_are_named(
    method, setting, said, encoder, corpus, tmp_path
):
    assert said in train(encoder, corpus, tmp_path / "run", "--set", setting, method=method, ok=False)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "options, said",
    [
        (["--batch-size", 1], "'--batch-size': 1 is not in the range x>=2"),
        (["--batch-size", 65], "the corpus has 64 sentences, fewer than one batch of 65"),
        (["--steps", 0], "'--steps': 0 is not in the range 1<=x<=1000000000"),
        (["--limit", 0], "Invalid value for '--limit'"),
        (["--representation", "pooler"], "'pooler' is not one of 'backbone', 'head'"),
        (["--precision", "fp8"], "'fp8' is not one of 'auto', 'fp32', 'bf16'"),
        (["--dev", "test"], "unknown dev 'test'. Choose one of auto, sts-b, "),
        (["--pooling", "max"], "unknown pooling 'max'. Choose one of cls, cls_pooler, mean"),
        (["--steps", "9" * 30], "is not in the range 1<=x<=1000000000"),
        (["--epochs", "inf"], "'--epochs': inf is not in the range 0<x<=1000000"),
        (["--seeds", f"0-{10**12}"], "is more than 1000 seeds"),
        (["--temperature", "0.1"], "It is a hyper-parameter of "),
        (["--temperature", "0.1"], ": --set temperature=VALUE"),
        (["--recipe", "bundled"], "--recipe bundled is for mini, micro, not for"),
        (["--column", "text"], "is plain text, a sentence a line: it has no column 'text'"),
        (["--steps", "many"], "Invalid value for '--steps'"),
    ],
)
def test_values_out_of_range_are_refused_before_anything_is_made(options, said, encoder, corpus, tmp_path):
    output = train(encoder, corpus, tmp_path / "run", "--dev", "none", *options, ok=False)
    assert said in output
    assert not (tmp_path / "run" / "run.json").exists()


@pytest.mark.parametrize(
    "content, said",
    [
        (b"", "no sentence in it"),
        (b"\n  \n", "no sentence in it"),
        (b"the same sentence\n" * 64, "only 1 different sentences (of 64)"),
        (b"the caf\xe9 is open\n" * 64, "line 1: byte 0xe9 is not utf-8"),
        (None, "corpus.txt: no such file"),
    ],
    ids=["empty", "blank", "one repeated", "not utf-8", "missing"],
)
def test_a_corpus_that_cannot_be_used_is_named(content, said, encoder, corpus, tmp_path):
    corpus.unlink() if content is None else corpus.write_bytes(content)
    assert said in train(encoder, corpus, tmp_path / "run", "--dev", "none", ok=False)
    assert not (tmp_path / "run" / "run.json").exists()


def test_another_run_in_the_output_is_neither_overwritten_nor_continued(trained, encoder, corpus, stsb):
    _, output = trained
    before = (output / "model.safetensors").read_bytes()
    said = train(encoder, corpus, output, "--data", stsb, "--eval-every", 2, "--seed", 1, ok=False)
    assert "holds a run with another config (seed was 42, now 1)" in said
    assert (output / "model.safetensors").read_bytes() == before


def test_seeds_and_methods_make_a_run_each_and_a_table_of_all(encoder, corpus, tmp_path):
    output = tmp_path / "runs"
    options = ("--encoder", encoder, "--corpus", corpus, "--output", output, "--batch-size", 8, "--steps", 2)
    line = ("train", "simcse", "focal", *options, "--seeds", "0,1", "--dev", "none", "--set", "m=0.2")
    said = run(*line)
    for method in ("simcse", "focal"):
        for seed in (0, 1):
            content = json.loads((output / method / f"seed-{seed}" / "run.json").read_text())["identity"]
            assert (content["method"]["name"], content["config"]["seed"]) == (method, seed)
            assert content["method"].get("m", 0.2) == 0.2
            assert re.search(rf"^{method}, seed {seed} +2 +\d+ +{output / method}/seed-{seed}$", said, re.M)
    rows = json.loads(run(*line, "-q", "--format", "json"))
    assert [row["name"] for row in rows] == [f"{m}, seed {s}" for m in ("simcse", "focal") for s in (0, 1)]
    assert "unknown parameter 'n'" in run(*line, "--set", "n=1", ok=False)


@pytest.mark.slow
def test_two_folders_of_seeds_are_compared_seed_by_seed(encoder, corpus, own_pairs, tmp_path):
    options = ("--encoder", encoder, "--corpus", corpus, "--batch-size", 8, "--steps", 4, "--lr", 1e-3)
    run("train", "simcse", "focal", *options, "--output", tmp_path, "--seeds", "0,1", "--dev", own_pairs)
    rows = run("compare", tmp_path / "simcse", tmp_path / "focal", "--suite", own_pairs, "--format", "json")
    row = json.loads(rows)[0]
    best = {
        name: [json.loads((tmp_path / name / f"seed-{n}" / "run.json").read_text())["best"]["score"] for n in (0, 1)]
        for name in ("simcse", "focal")
    }
    assert row["name"] == "ours, paired t-test" and row["over"] == "2"
    assert row["first"] == pytest.approx(np.mean(best["simcse"]), abs=1e-3)
    assert row["second"] == pytest.approx(np.mean(best["focal"]), abs=1e-3)
    said = run("compare", tmp_path / "simcse", encoder, "--suite", own_pairs, ok=False)
    assert "has the seeds 0, 1 and" in said


def test_the_encoder_is_evaluated_eight_times_unless_told_otherwise_and_each_score_is_printed(
    encoder, corpus, own_pairs, tmp_path
):
    said = train(encoder, corpus, tmp_path / "run", "--dev", own_pairs, "--steps", 16)
    assert re.findall(r"^step (\d+): dev", said, re.M) == [str(step) for step in range(0, 17, 2)]


def test_the_recipe_of_a_paper_gives_way_to_what_is_said(encoder, corpus, tmp_path):
    def settings(output, *more):
        run("train", "whitenedcse", "--encoder", encoder, "--corpus", corpus, "--output", output, "--steps", 1,
            "--dev", "none", "--set", "num_groups=4", "--recipe", "paper", *more)  # fmt: skip
        return json.loads((output / "run.json").read_text())["identity"]

    printed = METHODS["whitenedcse"].recipe(SentenceEncoder.from_pretrained(encoder))
    plain = settings(tmp_path / "plain")
    assert plain["config"]["lr"] == printed.lr and plain["encoder"]["pooling"] == printed.pooling
    assert plain["method"]["num_groups"] == 4
    own = settings(tmp_path / "own", "--lr", 1e-3, "--batch-size", 8, "--pooling", "mean")
    assert (own["config"]["lr"], own["config"]["batch_size"], own["encoder"]["pooling"]) == (1e-3, 8, "mean")


def test_a_recipe_for_another_kind_of_encoder_is_not_taken_without_a_word(encoder, corpus, tmp_path):
    roberta = write_checkpoint(tmp_path / "roberta", "roberta", layers=1)

    def said(method, model):
        output = tmp_path / method / Path(model).name
        return train(model, corpus, output, "--dev", "none", "--recipe", "paper", "--steps", 1, method=method)

    note = "mixcse: its paper prints no recipe for roberta-base; the one for bert-base is taken"
    assert note in said("mixcse", roberta).splitlines()
    for method, model in (("mixcse", encoder), ("simcse", roberta), ("mixcse", "micro"), ("vascl", "micro")):
        assert "its paper" not in said(method, model)
    assert "the one for roberta-base is taken" in said("vascl", encoder)


@pytest.mark.slow
def test_a_variant_that_is_asked_for_wins_over_the_recipe(encoder, corpus, tmp_path):
    large = write_checkpoint(tmp_path / "large", "roberta", layers=1, width=1024)
    output = tmp_path / "run"
    train(large, corpus, output, "--dev", "none", "--recipe", "paper", "--steps", 1, "--set", "variant=simclr",
          method="esimcse")  # fmt: skip
    identity = json.loads((output / "run.json").read_text())["identity"]
    assert (identity["method"]["queue"], identity["method"]["rate"]) == (0, 0.28)


def test_patience_stops_a_run_early(encoder, corpus, own_pairs, tmp_path):
    said = train(encoder, corpus, tmp_path / "run", "--dev", own_pairs, "--eval-every", 1, "--lr", 0,
                 "--steps", 9, "--patience", 2)  # fmt: skip
    assert "stopped early: no better dev score in 2 evaluations, step 3" in said


def test_a_method_of_several_columns_reads_a_table(encoder, tmp_path, monkeypatch):
    class Triples(METHODS["simcse"]):
        columns = ("sentence", "negative")

        def views(self, encode, batch):
            return super().views(encode, [f"{one} {other}" for one, other in batch])

    Triples.name = "simcse"
    monkeypatch.setitem(METHODS, "simcse", Triples)
    table = tmp_path / "corpus.tsv"
    rows = zip(CORPUS, reversed(CORPUS), strict=True)
    table.write_text("negative\tid\tsentence\n" + "".join(f"{a}\t1\t{b}\n" for a, b in rows))
    assert "64 sentences" in train(encoder, table, tmp_path / "run", "--dev", "none")
    (tmp_path / "plain.txt").write_text("\n".join(CORPUS))
    said = train(encoder, tmp_path / "plain.txt", tmp_path / "no", "--dev", "none", ok=False)
    assert "has no column 'sentence'" in said


MINE = """
from cselab.methods import Contrastive, Method, register

@register("of_mine", "Of mine")
class OfMine(Contrastive):
    "SimCSE again."
"""


RECIPES = """
from dataclasses import dataclass
from typing import ClassVar
from cselab.data import as_pairs
from cselab.evaluators import STS, register
from cselab.evaluators.task import Collected

@register
@dataclass(frozen=True)
class Recipes(STS):
    name: ClassVar[str] = "recipes"
    tasks: ClassVar[tuple[str, ...]] = ("Recipes",)

    def collect(self, data, tasks):
        rows = [("Boil it.", "Boil it.", 4.5), ("Chop it.", "Bake bread.", 1.0), ("Salt it.", "Salt fish.", 3)]
        return Collected([self.task(as_pairs(rows), "Recipes")], {})
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A file of one's own of some content, whose names are forgotten afterwards."""
    for registry in (METHODS, SUITES):
        for name in ("of_mine", "recipes"):
            monkeypatch.setitem(registry, name, None)
            registry.pop(name)

    def write(content):
        (tmp_path / "mine.py").write_text(content)
        return tmp_path / "mine.py"

    return write


def test_a_file_of_ones_own_brings_its_methods_and_suites(mine, encoder, corpus, tmp_path):
    assert "cselab --code FILE" in train(encoder, corpus, tmp_path / "run", method="of_mine", ok=False)
    said = run("--code", mine(MINE), "methods", "of_mine")
    assert "SimCSE again." in said and "temperature = 0.05" in said
    train(encoder, corpus, tmp_path / "run", "--dev", "none", method="of_mine")
    assert json.loads((tmp_path / "run" / "run.json").read_text())["identity"]["method"]["name"] == "of_mine"
    assert "no such file" in run("--code", tmp_path / "none.py", "methods", ok=False)
    assert "not a Python file" in run("--code", corpus, "methods", ok=False)
    assert "unknown suite 'recipes'" in run("evaluate", "word-overlap", "--suite", "recipes", ok=False)
    asked = ("evaluate", "word-overlap", "--suite", "recipes", "--format", "json")
    assert json.loads(run("--code", mine(RECIPES), *asked))["scores"] == {"Recipes": pytest.approx(100)}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("def views(:\n", "mine.py, line 1: SyntaxError: invalid syntax"),
        ("\nraise RuntimeError('not today')\n", "mine.py, line 2: RuntimeError: not today"),
        ("import sys\nsys.exit(0)", "mine.py, line 2: SystemExit: 0"),
        (MINE.replace("Contrastive", "Method"), "the method 'of_mine' has no views(): a method says its views and"),
        (MINE + "    def views(self, *_):\n        return None\n", "mine.py: "),
        (MINE + "    def views(self, *_):\n        return _.no\n", "mine.py, line 8: AttributeError: "),
    ],
    ids=["no Python", "raises", "ends", "no views", "None for views", "views raise"],
)
def test_a_file_of_ones_own_that_fails_is_blamed_in_one_line(content, said, mine, encoder, corpus, tmp_path):
    options = ("--encoder", encoder, "--corpus", corpus, "--output", tmp_path / "run", "--dev", "none")
    said_all = run("--code", mine(content), "train", "of_mine", *options, "--steps", 1, "--batch-size", 8, ok=False)
    assert said in said_all


def test_quiet_training_prints_nothing(encoder, corpus, own_pairs, tmp_path):
    assert train(encoder, corpus, tmp_path / "run", "--dev", own_pairs, "-q") == ""


def test_ctrl_c_says_where_the_run_stands_and_how_to_go_on(encoder, corpus, tmp_path, monkeypatch):
    module = sys.modules["cselab.training.loop"]
    batch_of_step, at = module.batch_of_step, {"step": 2}

    def interrupted(corpus, config, step):
        if step == at["step"]:
            raise KeyboardInterrupt
        return batch_of_step(corpus, config, step)

    monkeypatch.setattr(module, "batch_of_step", interrupted)
    options = ("--dev", "none", "--eval-every", 2)
    said = train(encoder, corpus, tmp_path / "run", *options, ok=False)
    assert "nothing of the run in" in said and "the same command starts it again" in said
    at["step"] = 4
    said = train(encoder, corpus, tmp_path / "run", *options, ok=False)
    assert "holds the run up to step 2; the same command continues from there" in said
    at["step"] = None
    said = train(encoder, corpus, tmp_path / "run", *options)
    assert "simcse: goes on from step 2 of 4" in said.split("simcse: 3/4")[0]  # at the start


# ------------------------------------------------------------------------------------------ evaluate


def test_sts_scores_are_written_by_task_name_with_their_details(encoder, stsb, tmp_path):
    file = tmp_path / "scores.json"
    said = run("evaluate", encoder, "--suite", "sts", "--task", "STS-B", "--data", stsb, "--json", file)
    found = json.loads(file.read_text())
    model = SentenceEncoder.from_pretrained(encoder)
    pairs = sts.load_sts("STS-B", stsb)
    a, b = (torch.from_numpy(model.encode(side)) for side in (pairs.sentences1, pairs.sentences2))
    expected = 100 * spearmanr(torch.cosine_similarity(a.double(), b.double()), pairs.scores).statistic
    assert expected > 20
    assert found["scores"] == {"STS-B": pytest.approx(expected, abs=0.01)}
    assert f"{found['scores']['STS-B']:.2f}" in said
    assert "avg" not in found and "no average: only STS-B of the seven" in said
    record = next(record for record in found["records"] if record["key"] == "STS-B")
    assert (record["split"], record["rows"], record["metric"]) == ("test", 1379, "spearman")
    assert (record["pooling"], record["encoder"]) == ("mean", "tiny")


@pytest.fixture
def seven(monkeypatch):
    """All seven STS sets, twelve pairs each."""

    def load(task, root=None, split="test"):
        sentences = make_sentences(24, seed=STS_TASKS.index(task))
        return Pairs(sentences[:12], sentences[12:], [row % 6 for row in range(12)], task, split)

    monkeypatch.setattr(sts, "load_sts", load)


def test_the_average_is_there_when_all_seven_ran(seven, encoder, tmp_path):
    file = tmp_path / "scores.json"
    said = run("evaluate", encoder, "--suite", "sts", "--pooling", "cls", "--json", file)
    found = json.loads(file.read_text())
    assert set(found["scores"]) == {"STS12", "STS13", "STS14", "STS15", "STS16", "STS-B", "SICK-R"}
    assert found["avg"] == pytest.approx(np.mean(list(found["scores"].values())))
    assert f"average of the seven STS sets: {found['avg']:.2f}" in said
    assert {record["pooling"] for record in found["records"]} == {"cls"}


@pytest.mark.parametrize("name", ["word-overlap", "random"])
def test_baselines_are_encoders(name, seven, tmp_path):
    file = tmp_path / "scores.json"
    run("evaluate", name, "--suite", "sts", "--json", file)
    assert len(json.loads(file.read_text())["scores"]) == 7


def test_averaged_word_vectors_of_a_file_or_an_encoder_are_scored_by_name(encoder, stsb, tmp_path):
    glove, file = tmp_path / "glove.txt", tmp_path / "scores.json"
    glove.write_text("".join(f"{word} {row} {row**2 % 7} 1\n" for row, word in enumerate(WORDS)))
    options = ("--suite", "sts", "--task", "STS-B", "--data", stsb, "--json", file)
    for name, known_as in (
        (f"static:{glove}", "averaged glove.txt"),
        (f"static:{encoder}", "input embeddings of tiny"),
    ):
        run("evaluate", name, *options)
        found = json.loads(file.read_text())
        assert found["scores"].keys() == {"STS-B"} and found["records"][0]["encoder"] == known_as
    assert "there is no encoder folder" in run("evaluate", f"static:{tmp_path}/no", *options, ok=False)


@pytest.mark.parametrize("transform", ["centred", "without 2", "whitening", "flow"])
def test_an_encoder_is_scored_after_a_transform_that_the_record_names(transform, encoder, stsb, corpus, tmp_path):
    file = tmp_path / "scores.json"
    options = ("--suite", "sts", "--task", "STS-B", "--data", stsb, "--json", file)
    run("evaluate", encoder, *options)
    plain = json.loads(file.read_text())["scores"]
    run("evaluate", encoder, *options, "--posthoc", transform, "--fit", corpus)
    found = json.loads(file.read_text())
    assert found["records"][0]["encoder"] == f"tiny + {transform} fitted on 64 sentences of corpus.txt"
    assert found["scores"].keys() == {"STS-B"} and found["scores"] != plain


@pytest.mark.parametrize(
    "name, options, said",
    [
        (None, ["--fit", "world"], "--fit says what a transform is fitted on: give --posthoc"),
        (
            None,
            ["--posthoc", "centerd"],
            "'centerd'. Did you mean 'centred'? Choose one of centred, without K, whitening",
        ),
        (None, ["--posthoc", "without K"], "'without K': K is the number of components, as in 'without 3'"),
        (None, ["--posthoc", "flow", "--fit", "no.txt"], "no.txt: no such file"),
        ("word-overlap", ["--posthoc", "whitening"], "whitening transforms sentence vectors; word_overlap"),
    ],
)
def test_a_transform_that_cannot_be_made_says_why(name, options, said, encoder, stsb):
    assert said in run("evaluate", name or encoder, "--suite", "sts", "--data", stsb, *options, ok=False)


def test_baselines_stand_beside_the_encoder_in_one_table(encoder, stsb, corpus, tmp_path):
    file = tmp_path / "beside.json"
    said = run(
        "baselines", encoder, "--suite", "sts", "--task", "STS-B", "--data", stsb, "--fit", corpus, "--json", file
    )  # fmt: skip
    rows = [line for line in said.splitlines() if re.search(r" -?\d+\.\d\d$", line)]
    found = json.loads(file.read_text())
    assert (
        [row.rsplit("  ", 1)[0].strip() for row in rows]
        == list(found)
        == [
            "random",
            "word overlap",
            "input embeddings of tiny",
            "tiny",
            "tiny + whitening fitted on 64 sentences of corpus.txt",
            "tiny + flow fitted on 64 sentences of corpus.txt",
        ]
    )
    for row, scores in zip(rows, found.values(), strict=True):
        assert row.endswith(f"{scores['scores']['STS-B']:.2f}")


def test_a_failed_evaluation_is_told_by_the_exit_code_and_has_no_score(encoder, stsb, tmp_path, monkeypatch):
    monkeypatch.setattr(SentenceEncoder, "encode", lambda self, sentences, *_, **__: np.ones((len(sentences), 4)))
    file = tmp_path / "scores.json"
    options = ("--suite", "sts", "--task", "STS-B", "--data", stsb, "--json", file)
    assert "STS-B failed: " in run("evaluate", encoder, *options, ok=False)
    found = json.loads(file.read_text())
    assert found["scores"] == {} and found["failures"].keys() == {"STS-B"}


@pytest.mark.parametrize(
    "options, said",
    [
        (
            ["--suite", "stss"],
            "unknown suite 'stss'. Did you mean 'sts'? Choose one of clustering, dimensions, geometry, sts, transfer",
        ),
        (["--suite", "sts", "--task", "STS17"], "unknown task 'STS17'. Did you mean"),
        (["--suite", "sts", "--aggregation", "median"], "unknown aggregation 'median'"),
        (["--suite", "sts", "--representation", "head"], "has no head"),
        (["--suite", "sts", "--json", "nowhere/scores.json"], "cannot write nowhere/scores.json"),
        (["--device", "gpu"], "unknown device 'gpu': choose cpu, cuda"),
        (["--device", "cuda:99"], "--device cuda:99: this machine has "),
    ],
)
def test_an_evaluation_that_cannot_be_made_says_what_can(options, said, encoder, stsb):
    assert said in run("evaluate", encoder, *options, "--data", stsb, ok=False)


def test_without_a_suite_the_world_is_scored_and_sts_where_its_data_are(stsb, monkeypatch):
    monkeypatch.setenv("CSELAB_DATA", "")
    assert suites_or_default([], None) == ["world"]
    assert suites_or_default([], stsb) == ["world", "sts"]


@pytest.fixture
def own_pairs(tmp_path):
    file = tmp_path / "ours.tsv"
    rows = ["\t".join((first, second, grade)) for grade, first, second in map(graded, range(60))]
    file.write_text("\n".join(rows) + "\n")
    return file


def test_pairs_of_ones_own_are_a_suite_and_a_dev_set(encoder, corpus, own_pairs, tmp_path):
    found = json.loads(run("evaluate", encoder, "--suite", own_pairs, "--format", "json"))
    assert found["scores"].keys() == {"ours"} and found["records"][0]["rows"] == 60
    more = tmp_path / "more.tsv"
    more.write_text("score\tsentence1\tsentence2\n" + own_pairs.read_text().replace("\t", " ", 0))
    said = train(encoder, corpus, tmp_path / "run", "--dev", own_pairs)
    assert "dev: 60 pairs of ours.tsv" in said
    best = json.loads((tmp_path / "run" / "run.json").read_text())["best"]
    line = ("evaluate", tmp_path / "run", "--suite", own_pairs, "--format", "json")
    assert json.loads(run(*line))["scores"]["ours"] == pytest.approx(best["score"], abs=1e-4)
    assert "nothere.tsv: no such file" in run("evaluate", encoder, "--suite", "nothere.tsv", ok=False)


def test_several_suites_and_pairs_of_ones_own_go_into_one_file(encoder, own_pairs, stsb, tmp_path):
    file = tmp_path / "scores.json"
    options = ("--task", "STS-B", "--task", "uniformity", "--data", stsb, "--json", file)
    run("evaluate", encoder, "--suite", own_pairs, "--suite", "sts", "--suite", "geometry", *options)
    assert json.loads(file.read_text())["scores"].keys() == {"STS-B", "uniformity", "ours"}


@pytest.mark.parametrize("form, starts", [("md", "|"), ("csv", ",split,rows,metric,score"), ("json", "{")])
def test_scores_come_in_other_forms_too(form, starts, encoder, own_pairs):
    said = run("evaluate", encoder, "--suite", own_pairs, "--format", form)
    assert said.startswith(starts) and "ours" in said


def test_compare_tells_the_difference_of_two_encoders_and_how_sure_it_is(encoder, own_pairs, tmp_path):
    other = write_checkpoint(tmp_path / "other", seed=1)
    rows = json.loads(run("compare", encoder, other, "--suite", own_pairs, "--format", "json"))
    first, second = (
        json.loads(run("evaluate", name, "--suite", own_pairs, "--format", "json"))["scores"]["ours"]
        for name in (encoder, other)
    )
    assert rows[0]["name"] == "ours, paired bootstrap" and rows[0]["over"] == "60"
    assert (rows[0]["first"], rows[0]["second"]) == (pytest.approx(first), pytest.approx(second))
    assert float(rows[0]["difference"]) == pytest.approx(second - first, abs=0.006)
    low, high = map(float, rows[0]["95 % interval"].split(" to "))
    assert low < second - first < high


def test_an_encoder_is_used_on_the_accelerator_unless_a_device_is_named(encoder, own_pairs, corpus, monkeypatch):
    asked = []
    original = SentenceEncoder.from_pretrained.__func__

    def opened(cls, *arguments, device=None, **options):
        asked.append(str(device))
        return original(cls, *arguments, **options)

    monkeypatch.setattr(SentenceEncoder, "from_pretrained", classmethod(opened))
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("cuda"))
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: 2)
    run("evaluate", encoder, "--suite", own_pairs)
    run("evaluate", encoder, "--suite", own_pairs, "--device", "cpu")
    run("encode", encoder, corpus, "--output", corpus.with_suffix(".npy"), "--device", "cuda:1")
    run("search", encoder, corpus, "the cat")
    assert asked == ["cuda", "cpu", "cuda:1", "cuda"]


# ------------------------------------------------------------------------------------------ encode


def test_search_finds_the_line_that_is_asked_for(encoder, corpus):
    found = json.loads(run("search", encoder, corpus, CORPUS[9], "--top", 3, "--format", "json"))
    assert len(found) == 3 and found[0]["line"] == "10"
    assert found[0]["sentence"] == CORPUS[9] and found[0]["cosine"] == pytest.approx(1, abs=1e-5)
    assert f"1.000  line 10: {CORPUS[9]}" in run("search", encoder, corpus, CORPUS[9])


def test_encode_writes_the_vectors_of_a_file_in_their_order(encoder, corpus, tmp_path):
    expected = SentenceEncoder.from_pretrained(encoder, pooling="cls").encode(CORPUS)
    said = run("encode", encoder, corpus, "--output", tmp_path / "vectors.npy", "--pooling", "cls")
    assert np.allclose(np.load(tmp_path / "vectors.npy"), expected, atol=1e-6)
    assert "64 vectors of width 8" in said
    run("encode", encoder, corpus, "--output", tmp_path / "v.safetensors", "--normalize", "--batch-size", 5)
    vectors = load_file(tmp_path / "v.safetensors")["vectors"]
    assert vectors.dtype == np.float32 and np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("output", ["vectors.npy", "vectors.safetensors"])
@pytest.mark.parametrize("content", ["id,text\n1,one\n2,\n3,three\n4, \n", '{"text": "one"}\n{"txt": 2}\n\n'])
def test_encode_names_the_rows_that_would_have_no_vector(content, output, encoder, tmp_path):
    file = tmp_path / ("rows.jsonl" if content.startswith("{") else "rows.csv")
    file.write_text(content)
    said = run("encode", encoder, file, "--output", tmp_path / output, ok=False)
    assert f"{file}: 2 rows have no text (lines {'2, 3' if file.suffix == '.jsonl' else '3, 5'})" in said
    assert not (tmp_path / output).exists()


@pytest.mark.parametrize(
    "output, said",
    [
        ("vectors.csv", "must end in .npy or .safetensors"),
        ("none/vectors.npy", "in a folder that exists"),
        ("", "in a folder that exists"),
    ],
)
def test_vectors_that_could_not_be_written_are_not_made(output, said, encoder, corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(SentenceEncoder, "encode", lambda *_, **__: pytest.fail("encoded"))
    assert said in run("encode", encoder, corpus, "--output", tmp_path / output, ok=False)


# ------------------------------------------------------------------------------------------ world


def test_world_writes_the_sentences_documents_and_pairs_of_the_generator():
    world = World(seed=3)
    sentences = run("world", "sentences", 4, "--split", "dev", "--seed", 3)
    assert sentences.splitlines() == [one.text for one in world.sentences(4, "dev")]
    documents = run("world", "documents", 2, "--seed", 3)
    assert documents.splitlines() == [one.text for told in world.documents(2) for one in told]
    first, second, grade, kind = run("world", "pairs", 6, "--seed", 3).splitlines()[5].split("\t")
    pairs = world.sts(6)
    assert (first, second, kind) == (pairs.sentences1[5], pairs.sentences2[5], pairs.subsets[5])
    assert float(grade) == pairs.scores[5] == 5.0


# ------------------------------------------------------------------------------------------ methods


def test_a_number_that_is_none_and_an_unknown_choice_are_told_in_plain_words():
    assert "'N': 'many' is not a whole number (see" in run("world", "sentences", "many", ok=False)
    said = run("notebooks", "run", "--profile", "smok", ok=False)
    assert "unknown profile 'smok'. Did you mean 'smoke'? Choose one of smoke, classroom, paper" in said


def test_the_usage_line_has_what_is_to_be_filled_in_in_capitals():
    for command, usage in {
        ("train",): "train [OPTIONS] METHOD...",
        ("published",): "published [OPTIONS] [PAPER] [TABLE]",
        ("experiment", "run"): "experiment run [OPTIONS] NAME...",
        ("data", "fetch"): "data fetch [OPTIONS] [CORPUS|FOLDER]...",
    }.items():
        assert run(*command, "--help").splitlines()[0].endswith(usage)


def test_methods_lists_all_and_shows_one_with_its_parameters():
    said = run("methods")
    families = {method.family for method in METHODS.values()}
    assert len(said.splitlines()) == len(METHODS) + len(families)
    assert all(re.search(rf"^  {name} +\S", said, re.MULTILINE) for name in METHODS)
    assert all(re.search(rf"^{family}: ", said, re.MULTILINE) for family in families)
    assert said.index("baseline:") < said.index("  simcse ") < said.index("loss:") < said.index("  imsimcse ")
    for name, method in METHODS.items():
        said = run("methods", name)
        for parameter, default in method.hyperparameters().items():
            assert f"  {parameter} = {default!r}" in said
        assert all(f"variant={variant}" in said for variant in method.variants)


# ------------------------------------------------------------------------------------------ data


def test_data_check_passes_a_whole_folder_and_says_what_is_missing(stsb):
    said = run("data", "check", stsb, "--allow-missing")
    assert re.search(r"ok .*STS-B +test +1379 rows", said)
    assert re.search(r"missing .*STS12", said) and "--allow-missing" not in said
    said = CliRunner().invoke(cli.app, ["data", "check", str(stsb)])
    assert said.exit_code == 1
    assert re.search(r"^\d+ of \d+ are missing: `cselab data fetch`, or --allow-missing", said.stderr)


def test_data_check_fails_on_a_damaged_file_and_names_it(stsb, tmp_path):
    file = tmp_path / "STS" / "STSBenchmark" / "sts-dev.csv"
    file.parent.mkdir(parents=True)
    file.write_text((stsb / "STS" / "STSBenchmark" / "sts-dev.csv").read_text()[:-200])
    said = run("data", "check", tmp_path, "--allow-missing", ok=False)
    assert re.search(rf"damaged .*STS-B .*{re.escape(str(file))}", said)
    assert "none is not a folder" in run("data", "check", tmp_path / "none", ok=False)


def test_data_check_without_data_is_one_line_and_fails(tmp_path, monkeypatch):
    monkeypatch.setenv("CSELAB_DATA", "")
    assert "no data folder: give one (`data=`, `--data DIR`)" in run("data", "check", ok=False)
    assert "holds no SentEval data" in run("data", "check", tmp_path, ok=False)
    (tmp_path / "STS").mkdir()
    assert f"none of the data sets is in {tmp_path}" in run("data", "check", tmp_path, ok=False)
    assert f"none of the data sets is in {tmp_path}" in run("data", "check", "--data", tmp_path, ok=False)
    assert f"two folders: {tmp_path} and" in run("data", "check", tmp_path, "--data", "here", ok=False)


@pytest.mark.filterwarnings("ignore:.*rows have no text")
def test_data_negate_writes_the_rows_that_sncse_trains_on(tmp_path):
    corpus, table, output = tmp_path / "text.txt", tmp_path / "rows.tsv", tmp_path / "run"
    lines = [f"The {one} is\tnear.\n\nA {one} sings.\n" for one in ("cat", "dog", "bird", "child")]
    corpus.write_text("".join(lines), encoding="utf-8")
    assert "8 rows, 4 of them denied by 'It is not true that'" in run("data", "negate", corpus, table)
    written = table.read_text(encoding="utf-8").splitlines()
    assert written[:3] == [
        "sentence\tnegation",
        "The cat is near.\tThe cat is not near.",
        "A cat sings.\tIt is not true that a cat sings.",
    ]
    options = ("--corpus", table, "--output", output, "--steps", 1, "--batch-size", 4, "--dev", "none")
    run("train", "sncse_dropout", *options)
    assert (output / "model.safetensors").exists()
    said = run("data", "negate", tmp_path / "none.txt", table, ok=False)
    assert "none.txt" in said and table.read_text(encoding="utf-8").splitlines() == written


def test_data_fetch_tells_what_became_of_each_set_and_fails_if_one_is_refused(monkeypatch, tmp_path):
    asked = []

    def fetched(*statuses):
        def fetch(*arguments):
            asked.append(arguments)
            yield from (Fetched(STS_TASKS[row], status, "in detail") for row, status in enumerate(statuses))

        monkeypatch.setattr("cselab.data.fetch.fetch", fetch)

    fetched("fetched", "kept")
    said = run("data", "fetch", tmp_path)
    assert said.splitlines()[:2] == ["fetched  STS12    in detail", "kept     STS13    in detail"]
    assert "GoogleNews are not fetched" in said
    fetched("fetched", "refused", "kept")
    said = run("data", "fetch", tmp_path, "--task", "STS12", "--task", "STS13", ok=False)
    assert "refused  STS13" in said and "STS14" in said and "GoogleNews" not in said
    assert asked == [(tmp_path, None), (tmp_path, ["STS12", "STS13"])]


def test_data_fetch_gets_a_training_corpus_by_its_name(monkeypatch, tmp_path):
    asked = []

    def fetched(name, folder):
        asked.append((name, folder))
        return folder / f"{name}.txt", True

    monkeypatch.setattr("cselab.data.corpora.fetch_corpus", fetched)
    said = run("data", "fetch", "wiki1m", "nli", tmp_path)
    assert asked == [("wiki1m", tmp_path), ("nli", tmp_path)]
    assert f"fetched  wiki1m   {tmp_path / 'wiki1m.txt'} (1,000,000 rows)" in said
    assert "Did you mean 'wiki1m'?" in run("data", "fetch", "wiki2m", tmp_path, ok=False)
    assert "--task names evaluation sets" in run("data", "fetch", "nli", "--task", "MR", ok=False)


def test_data_fetch_without_a_network_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    said = run("data", "fetch", tmp_path / "data", "--task", "MR", ok=False)
    assert "cannot be reached" in said and "Not fetched: MR." in said and "cselab data check" in said
    assert "unknown set to fetch 'STS11'" in run("data", "fetch", "--task", "STS11", ok=False)


# ------------------------------------------------------------------------------------------ notebooks


@pytest.fixture
def notebooks(tmp_path):
    folder = tmp_path / "notebooks"
    folder.mkdir()

    def write(name, *sources):
        cells = [new_code_cell("size = 3", metadata={"tags": ["parameters"]}), *map(new_code_cell, sources)]
        nbformat.write(new_notebook(cells=cells), folder / f"{name}.ipynb")
        return folder

    return write


@pytest.mark.lesson
def test_notebooks_run_headless_and_tell_by_the_exit_code_whether_they_passed(notebooks, tmp_path):
    folder = notebooks("00_good", "print('size', size)")
    notebooks("01_bad", "1 / 0")
    options = ("--folder", folder, "--output", tmp_path / "out", "--profile", "smoke")
    result = CliRunner().invoke(cli.app, ["notebooks", "run", *map(str, options), "--set", "size=5"])
    assert result.exit_code == 1
    assert "size 5" in result.output and "00_good  passed" in result.output
    assert "01_bad  FAILED" in result.output and "ZeroDivisionError" in result.output
    assert (tmp_path / "out" / "00_good.html").exists() and (tmp_path / "out" / "records.json").exists()


@pytest.mark.lesson
def test_a_headless_run_leaves_a_junit_file_and_a_summary_for_ci(notebooks, tmp_path):
    numbers = "from cselab_lab.headless.record import record\nrecord('size', size)\nrecord('half', size / 2, 0.5)"
    folder = notebooks("00_good", numbers)
    where = ("--folder", folder, "--output", tmp_path / "out", "--profile", "smoke", "--quiet")
    said = run("notebooks", "run", *where, "--require-recorded", ok=False)
    assert "no recorded numbers" in said
    run("notebooks", "run", *where, "--update-recorded")
    recorded = folder / "recorded" / "00_good.smoke.json"
    recorded.write_text(recorded.read_text(encoding="utf-8").replace('"value": 3', '"value": 4'))

    reports = ("--junit", tmp_path / "ci" / "junit.xml", "--summary", tmp_path / "ci" / "summary.md")
    said = run("notebooks", "run", *where, "--require-baseline", *reports, ok=False)
    assert "1 of 2 within tolerance" in said
    (suite,) = ElementTree.parse(tmp_path / "ci" / "junit.xml").getroot()
    assert suite.attrib.items() >= {"name": "00_good", "tests": "3", "failures": "1"}.items()
    failing = {case.get("name"): case.find("failure").get("message") for case in suite if len(case)}
    assert failing == {"size": "'size' is 3, recorded was 4 (tolerance 1e-06)"}
    summary = (tmp_path / "ci" / "summary.md").read_text(encoding="utf-8")
    assert "| 00_good | smoke | **failed** |" in summary and "1 of 2 within tolerance" in summary


def test_notebooks_are_listed_with_their_titles_and_copied_to_work_in(tmp_path):
    assert re.search(r"^00_tour +00 · .* \(recorded: .*smoke", run("notebooks", "list"), re.MULTILINE)
    assert f"copied: {tmp_path / 'work' / '00_tour.ipynb'}" in run("notebooks", "copy", tmp_path / "work")
    assert "unchanged: " in run("notebooks", "copy", tmp_path / "work")


# ------------------------------------------------------------------------------------------ doctor


def test_doctor_reports_for_people_and_for_programs():
    said = run("doctor")
    assert re.search(rf"^ok  torch +{re.escape(torch.__version__)}", said, re.MULTILINE)
    findings = {finding["what"]: finding for finding in json.loads(run("doctor", "--json"))}
    assert findings["torch"]["good"] and torch.__version__ in findings["torch"]["found"]
    assert len(findings) == len(said.splitlines())


# ------------------------------------------------------------------------------------------ the line itself


@pytest.mark.parametrize(
    "line, said",
    [
        ("train simcse --stesp 4", "No such option: --stesp. Did you mean '--steps'?"),
        ("trian simcse", "No such command: trian. Did you mean 'train'"),
        (
            "evaluate micro --taks STS12",
            "No such option: --taks. Did you mean '--task'? Allowed: --suite, --task, --data",
        ),
        ("data check --deep", "No such option: --deep"),
        ("--fast", "No such option: --fast"),
        ("trian simcse", "methods, doctor, published, data, notebooks, world, experiment"),
        ("data fetsh", "Allowed: check, fetch"),
        ("notebooks walk", "Allowed: list, copy, run"),
        ("methods simcse_supervised", "Did you mean 'supervised_simcse'?"),
        ("train simcse --dev STS-C --corpus c.txt", "unknown dev 'STS-C'. Did you mean 'sts-b'?"),
        ("methods simsce", "unknown method 'simsce'. Did you mean 'simcse'? Choose one of "),
        ("train simsce --corpus c.txt --output run", "unknown method 'simsce'. Did you mean 'simcse'?"),
        ("evaluate micor", "no encoder 'micor'. Did you mean 'micro'? Bundled are micro, mini"),
        ("evaluate word-overlp", "Did you mean 'word-overlap'?"),
        ("encode mimi c.txt --output v.npy", "Did you mean 'mini'?"),
        ("compare micro tests/lba", "there is no encoder folder tests/lba. Did you mean 'lab'?"),
        ("search mico c.txt cat", "Did you mean 'micro'?"),
        ("train simcse --encoder mni --corpus c.txt --output run", "Did you mean 'mini'?"),
        ("train simcse --dev wrold --corpus c.txt --output run", "unknown dev 'wrold'. Did you mean 'world'?"),
        ("train simcse --seeds 0,one --corpus c.txt --output run", "--seeds takes numbers and ranges such as 0-4"),
        ("train simcse --output run", "Missing option '--corpus'"),
        ("train simcse --corpus no.txt --output run", "no.txt: no such file"),
        ("encode micro tests --output v.npy", "tests is a folder; a file was expected, or the folder of a data set"),
        ("search micro no.txt cat", "no.txt: no such file"),
        ("evaluate micro --format markdown", "Did you mean 'md'? Choose one of text, md, csv, json"),
        ("published focal 2 --format markdown", "Did you mean 'md'? Choose one of text, md, latex, csv, html, json"),
        ("experiment show focal --format jsno", "Did you mean 'json'?"),
    ],
)
def test_what_is_not_known_is_refused_with_what_is(line, said):
    assert said in run(*line.split(), ok=False)


@pytest.mark.process
def test_names_are_checked_before_torch_is_imported_or_the_hub_is_asked():
    lines = [
        "methods simsce", "evaluate micor", "evaluate micro --suite stss", "train simcse --stesp 3", "--version",
        "train -h", "trian", "train simcse --pooling max",
        "notebooks run --profile smok",
        "experiment run focal --profile smok",
        "encode micro no.txt --output v.npy", "encode micro pyproject.toml --output no/v.npy",
        "search micro no.txt cat", "train simcse --corpus no.txt --output run", "evaluate micro --suite no.tsv",
        "evaluate micro --format markdown", "baselines micro --fit no.txt",
        "data negate no.txt rows.tsv",
    ]  # fmt: skip
    script = (
        "import sys\nfrom cselab_lab.cli import app\n"
        f"for line in {lines!r}:\n"
        "    try: app(line.split(), prog_name='cselab')\n"
        "    except SystemExit: print({'torch', 'transformers', 'huggingface_hub'} & sys.modules.keys(), line)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    said = [line for line in done.stdout.splitlines() if line.startswith(("set()", "{"))]
    assert said == [f"set() {line}" for line in lines], done.stdout + done.stderr


def test_the_names_known_without_torch_are_those_of_the_registries():
    assert sorted(registered.methods()) == sorted(METHODS) and sorted(registered.suites()) == sorted(SUITES)
    fields = {field["name"]: field for field in registered.train_settings()}
    assert {name: field["default"] for name, field in fields.items()} == asdict(TrainConfig())
    for field in dataclasses.fields(TrainConfig):
        assert fields[field.name] | dict(field.metadata) == fields[field.name]
    lists = {"poolings": POOLINGS, "transforms": NAMES, "dev": CHOICES, "recipes": BUNDLED, "lessons": SIZES}
    assert {what: registered.names(what) for what in lists} == {what: list(held) for what, held in lists.items()}
    assert registered.purposes() == {name: profile.purpose for name, profile in PROFILES.items()}


@pytest.mark.process
def test_version_help_completion_and_the_exit_code_of_a_refusal():
    assert run("--version") == f"cselab {cselab.__version__}\n"
    assert run("train", "-h") == run("train", "--help")
    assert "float32 [n," in run("encode", "-h")  # brackets are not markup
    command = Path(sys.executable).with_name("cselab")
    asked = {"_CSELAB_COMPLETE": "bash_complete", "COMP_WORDS": "cselab train whi", "COMP_CWORD": "2"}
    done = subprocess.run([command], capture_output=True, text=True, env=os.environ | asked)
    assert done.stdout.split() == ["plain,whitenedcse"]
    refused = subprocess.run([command, "methods", "simsce"], capture_output=True, text=True)
    assert refused.returncode == 2 and "unknown method 'simsce'" in refused.stderr
    assert "Traceback" not in refused.stdout + refused.stderr


def commands(group, path=()):
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        yield from commands(command, (*path, name)) if hasattr(command, "commands") else [((*path, name), command)]


def test_help_is_in_plain_words_and_the_list_of_commands_in_whole_sentences():
    for path, command in commands(cli.app):
        said = run(*path, "-h")
        assert not re.search(r"<\w+>|list\[|RANGE|INTEGER|FLOAT|Path\b", said), said  # Python's types
        usage = said.splitlines()[0].split("[OPTIONS]")[1].split()
        listed = said.split("Positional arguments:\n")[-1].split("\nOptions:")[0] if usage else ""
        assert re.findall(r"^  (\S+)", listed, re.M) == usage
        assert all(option.help for option in command.params), path
    for group in ((), ("data",), ("notebooks",), ("world",), ("experiment",)):
        listed = run(*group, "-h").split("Commands:\n")[1]
        assert all(line.endswith(".") and not line.endswith("...") for line in listed.splitlines()), listed


@pytest.mark.process
def test_the_help_that_waits_for_nothing_is_that_of_the_commands():
    for name, (_, summary) in cli.COMMANDS.items():
        command = cli.app.get_command(None, name)
        assert command.name == name and command.help.startswith(summary.removesuffix("."))
    options = {name for option in cli.app.params for name in option.opts}
    assert {name for told in cli.OPTIONS for name in re.findall(r"--\w[\w-]*", told)} == options | {"--help"}
    assert all(len(line) <= 80 for line in cli.help_text().splitlines())
    done = subprocess.run([Path(sys.executable).with_name("cselab"), "-h"], capture_output=True, text=True)
    assert done.stdout == run("-h") == f"{cli.help_text()}\n"


LONG = "x" * 300


@pytest.mark.parametrize(
    "line",
    [
        f"train simcse --corpus {LONG} --output run",
        f"train simcse --corpus pyproject.toml --output {LONG}",
        f"train simcse --corpus pyproject.toml --output run --encoder {LONG}",
        f"train simcse --corpus pyproject.toml --output run --dev {LONG}.tsv",
        f"evaluate ./{LONG}",
        f"evaluate micro --suite {LONG}.tsv",
        f"evaluate word-overlap --suite world --json {LONG}",
        f"encode micro {LONG} --output v.npy",
        f"encode micro pyproject.toml --output {LONG}.npy",
        f"data check {LONG}",
        f"compare micro ./{LONG}",
        f"experiment show focal-table2 --profile smoke --folder {LONG}",
        f"notebooks run 00 --profile smoke --output {LONG}",
        f"--code {LONG}.py methods",
        "search micro pyproject.toml \udcff",
    ],
)
def test_names_that_no_file_can_have_are_refused_in_one_line(line, tmp_path, monkeypatch):
    lines = Path("pyproject.toml").read_text(encoding="utf-8").split("\n")
    (tmp_path / "pyproject.toml").write_text("\n".join(filter(None, lines)), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    said = run(*line.split(), ok=False)
    assert "Error: argument 4 is not UTF-8: '\\udcff'" in said if "search" in line else LONG in said
    assert [file.name for file in tmp_path.iterdir()] == ["pyproject.toml"]


@pytest.mark.parametrize(("shell", "start"), [("bash", ".bashrc"), ("fish", ".config/fish/completions/cselab.fish")])
def test_completion_is_installed_with_a_word_on_the_file_that_is_edited(shell, start, tmp_path, monkeypatch):
    monkeypatch.setenv("SHELL", f"/bin/{shell}")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert f"added to {tmp_path / start}: " in run("--install-completion")
    assert f"{tmp_path / start} has the line already: " in run("--install-completion")
    assert (tmp_path / start).read_text().count(f"_CSELAB_COMPLETE={shell}_source cselab") == 1
    monkeypatch.setenv("SHELL", "/bin/csh")
    assert "the shell is csh; names are completed in bash, zsh, fish" in run("--install-completion", ok=False)


@pytest.mark.process
def test_a_reader_that_stops_reading_is_no_error():
    command = Path(sys.executable).with_name("cselab")
    line = f"{command} world sentences 3000 | head -n 1"
    done = subprocess.run(line, shell=True, capture_output=True, text=True)
    assert len(done.stdout.splitlines()) == 1 and done.stderr == ""


def test_full_memory_is_one_sentence(encoder, corpus, tmp_path, monkeypatch):
    errors = [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: not enough memory: you tried to allocate 1 bytes"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes"),
    ]
    with pytest.raises(RuntimeError) as real:
        torch.empty(1 << 46)  # 256 TB, and what this system says of it
    for error in [*errors, real.value]:

        def full(*_, error=error, **__):
            raise error

        monkeypatch.setattr(SentenceEncoder, "encode", full)
        said = run("encode", encoder, corpus, "--output", tmp_path / "v.npy", ok=False)
        assert said.startswith("Error: out of memory: a smaller --batch-size")


@pytest.mark.parametrize(
    "line", ["train", "evaluate", "encode", "compare", "search", "data fetch", "notebooks run", "doctor"]
)
def test_an_unknown_option_is_answered_with_all_that_the_command_has(line):
    command = cli.app
    for name in line.split():
        command = command.get_command(None, name)
    options = [name for parameter in command.params for name in parameter.opts if name.startswith("--")]
    said = run(*line.split(), "--no-such-option", ok=False)
    assert options and all(option in said for option in options)
