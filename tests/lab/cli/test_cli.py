"""The commands do what they say: files, numbers and exit codes; what all commands share is in test_every_command.py."""

import json
import os
import re
import subprocess
import sys
import warnings
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch
from click.testing import CliRunner
from cselab_lab import cli
from cselab_lab.cli import names
from cselab_lab.cli.options import suites_or_default
from cselab_lab.experiments.plan import PROFILES
from cselab_lab.experiments.plan import RECIPES as BUNDLED
from cselab_lab.experiments.registered import FILE, of_the_classes
from cselab_lab.experiments.run import CHOICES
from cselab_lab.headless.sizes import SIZES
from nbformat.v4 import new_code_cell, new_notebook
from safetensors.numpy import load_file
from scipy.stats import spearmanr
from stsb import write_stsb
from tiny import WORDS, make_encoder, make_sentences, write_checkpoint
from transformers import BertConfig, RobertaConfig

import cselab
from cselab import SentenceEncoder
from cselab.data import STS_TASKS
from cselab.data.fetch import Fetched
from cselab.encoders.encoder import UnknownTokensWarning
from cselab.encoders.pooling import POOLINGS
from cselab.evaluators import SUITES, sts
from cselab.methods import METHODS
from cselab.training import TrainConfig
from cselab.transforms import NAMES
from cselab.world import World

CORPUS = make_sentences(64)
SENTENCES = make_sentences(400, seed=1)


def run(*arguments, ok=True, stream="output", **more):
    """The output of a command, which must end as expected, with one line of error and never with a traceback."""
    result = CliRunner().invoke(cli.app, [str(argument) for argument in arguments], **more)
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert (result.exit_code == 0) == ok, result.output
    if not ok and result.stderr:
        assert len(result.stderr.splitlines()) == 1, result.stderr
        assert not re.search(r"[^.]\. \(see", result.stderr), result.stderr
    return getattr(result, stream)


def run_json(*arguments, ok=True):
    return json.loads(run(*arguments, "--format", "json", ok=ok, stream="stdout"))


@pytest.fixture(autouse=True)
def full_precision(monkeypatch):
    """The same arithmetic on every machine, and lines of progress even after a test that loaded a kernel."""
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
    """A pair of sentences and their grade: the share of words in common."""
    first = SENTENCES[row % 400]
    second = f"{first} today" if row % 5 == 0 else SENTENCES[(3 * row + row // 400 + 1) % 400]
    a, b = set(first.split()), set(second.split())
    return f"{5 * len(a & b) / len(a | b):.3f}", first, second


@pytest.fixture(scope="module")
def stsb(tmp_path_factory):
    """A SentEval folder with STS-B only: right row counts, words that the tiny encoder has."""
    return write_stsb(tmp_path_factory.mktemp("data"), lambda _, row: graded(row))


@pytest.fixture
def own_pairs(tmp_path):
    file = tmp_path / "ours.tsv"
    rows = ["\t".join((first, second, grade)) for grade, first, second in map(graded, range(60))]
    file.write_text("\n".join(rows) + "\n")
    return file


def train(encoder, corpus, output, *more, method="simcse", ok=True):
    options = ("--encoder", encoder, "--corpus", corpus, "--output", output, "--batch-size", 8)
    steps = () if "--epochs" in more else ("--steps", 4)
    dev = () if "--dev" in more or "--data" in more else ("--dev", "none")
    return run("train", method, *options, *steps, *dev, "--lr", 1e-3, *more, ok=ok)


def identity(output):
    return json.loads((output / "run.json").read_text())["identity"]


@pytest.fixture(scope="module")
def trained(encoder, stsb, tmp_path_factory):
    """The output of `cselab train`, and the folder of the run."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "corpus.txt").write_text("\n".join(CORPUS) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CSELAB_HEADLESS", "1")
        patch.setattr(sys.modules["cselab.encoders.speed"], "faster_in_bf16", lambda: False)
        return train(encoder, folder / "corpus.txt", folder / "run", "--data", stsb, "--eval-every", 2), folder / "run"


# ------------------------------------------------------------------------------------------ train


def test_train_prints_its_progress_and_leaves_an_encoder_for_every_command(trained, encoder, corpus, stsb, tmp_path):
    printed, output = trained
    assert f"simcse on {encoder} (cls), 64 sentences, dev: STS-B dev (not the published text), fp32" in printed
    assert re.search(r"^simcse: 3/4 .* loss \d\.\d+, dev -?\d+\.\d\d at step 2$", printed, re.M)
    assert re.findall(r"^step (\d): dev -?\d+\.\d\d, alignment \d", printed, re.M) == ["0", "2", "4"]
    assert re.search(r"best at step [24]: dev .*, alignment \d.*, uniformity -\d", printed)
    assert f"encoder in {output}" in printed
    (tmp_path / "new").touch()  # under this umask
    files = [file for file in output.rglob("*") if file.is_file()]
    assert {file.stat().st_mode for file in files} == {(tmp_path / "new").stat().st_mode}
    run("encode", output, corpus, "--output", tmp_path / "v.npy")
    assert np.load(tmp_path / "v.npy").shape == (64, 8)
    scores = run_json("evaluate", output, "--suite", "STS", "--task", "sts-b/dev", "--data", stsb)["scores"]
    best = json.loads((output / "run.json").read_text())["best"]
    assert scores["STS-B/dev"] == pytest.approx(best["score"], abs=1e-4)


def test_a_finished_run_is_read_back_and_a_different_run_refused(trained, encoder, corpus, stsb):
    _, output = trained
    before = (output / "model.safetensors").stat().st_mtime_ns
    again = ("--data", stsb, "--eval-every", 2)
    printed = train(encoder, corpus, output, *again)
    assert "already finished: read from the folder" in printed and "best at step" in printed
    error = train(encoder, corpus, output, *again, "--seed", 1, ok=False)
    assert "holds a run with a different config (seed was 42, now 1)" in error
    assert (output / "model.safetensors").stat().st_mtime_ns == before


def test_a_table_trains_the_same_encoder_as_its_sentences_and_is_searched_by_its_columns(encoder, corpus, tmp_path):
    file = tmp_path / "s.csv"
    file.write_text("id,text\n" + "".join(f'{row},"{text}"\n' for row, text in enumerate(CORPUS)))
    train(encoder, corpus, tmp_path / "plain")
    assert f"{file}: reading the sentences from column 'text'" in train(encoder, file, tmp_path / "table")
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("plain", "table")]
    assert weights[0] == weights[1]
    search = ("search", encoder, file, CORPUS[9], "--top", 1)
    assert f"1.000  line 11: {CORPUS[9]}" in run(*search)
    with pytest.warns(UnknownTokensWarning):  # numbers, of which this tokenizer knows none
        assert "column 'id'" not in run(*search, "--column", "id")
    for line in (search, ("encode", encoder, file, "--output", tmp_path / "v.npy")):
        assert "it has no column 'txt'; its columns are id, text" in run(*line, "--column", "txt", ok=False)


@pytest.mark.parametrize("lines", [CORPUS, [json.dumps({"text": text}) for text in CORPUS]], ids=["text", "json"])
def test_a_corpus_may_come_from_standard_input(lines, encoder, corpus, tmp_path):
    piped = {"input": "\n".join(lines)}
    assert f"1.000  line 10: {CORPUS[9]}" in run("search", encoder, "-", CORPUS[9], "--top", 1, **piped)
    settings = ("--encoder", encoder, "--seeds", "0,1", "--batch-size", 8, "--steps", 2, "--dev", "none")
    run("train", "simcse", "--corpus", "-", "--output", tmp_path / "piped", *settings, **piped)
    run("train", "simcse", "--corpus", corpus, "--output", tmp_path / "read", *settings)
    weights = [(tmp_path / name / "simcse/seed-1/model.safetensors").read_bytes() for name in ("piped", "read")]
    assert weights[0] == weights[1]


def test_a_bundled_encoder_has_its_recipe_by_default(corpus, tmp_path, monkeypatch):
    configs = []

    def stopped(encoder, method, sentences, config, *_, **__):
        configs.append(config)
        raise ValueError("enough")

    monkeypatch.setattr("cselab.training.train", stopped)

    def settings(*options):
        line = ("train", "simcse", "--corpus", corpus, "--output", tmp_path / "run", "--dev", "none", *options)
        return CliRunner().invoke(cli.app, [str(part) for part in line]).stdout, configs[-1]

    printed, config = settings()
    assert config == BUNDLED["micro"].config()
    assert "using the bundled recipe for micro: steps 50, lr 0.0005" in printed
    assert settings("--encoder", "mini")[1] == BUNDLED["mini"].config()
    assert settings("--seed", 3, "--lr", 0.1)[1] == BUNDLED["micro"].config(seed=3, lr=0.1)
    assert settings("--steps", 16)[1] == BUNDLED["micro"].config(steps=16, eval_every=2)
    assert settings("--epochs", 32)[1] == BUNDLED["micro"].config(steps=None, epochs=32, eval_every=4)
    printed, config = settings("--recipe", "none")
    assert config == TrainConfig(eval_every=1) and "recipe" not in printed


def test_settings_reach_the_method_and_the_run(encoder, corpus, tmp_path):
    train(encoder, corpus, tmp_path / "run", "--limit", 32, "--seed", 7, "--pooling", "cls", "--representation",
          "head", "--set", "num_groups=4", "--set", "num_views=2", "--set", "variant=paper", "--dropout", 0.2,
          method="whitenedcse")  # fmt: skip
    told = identity(tmp_path / "run")
    assert told["method"] | {"num_groups": 4, "num_views": 2, "variant": "paper"} == told["method"]
    assert told["corpus"]["sentences"] == 32 and told["config"]["seed"] == 7
    saved = SentenceEncoder.from_pretrained(tmp_path / "run")
    assert (saved.pooling, saved.representation) == ("cls", "head")
    config = json.loads((tmp_path / "run" / "config.json").read_text(encoding="utf-8"))
    assert "--dropout 0.1" in train(encoder, corpus, tmp_path / "none", "--dropout", 0, ok=False)
    assert config["hidden_dropout_prob"] == config["attention_probs_dropout_prob"] == 0.2


@pytest.mark.skipif(find_spec("peft") is None, reason="adapters are made by peft")
def test_adapters_of_that_rank_are_trained_and_merged(encoder, corpus, tmp_path):
    train(encoder, corpus, tmp_path / "run", "--lora", 3)
    before, after = (load_file(folder / "model.safetensors") for folder in (Path(encoder), tmp_path / "run"))
    adapters = load_file(tmp_path / "run" / "adapter" / "adapter_model.safetensors")
    assert {min(weights.shape) for weights in adapters.values()} == {3}
    changed = {name for name in after if not (after[name] == before[name]).all()}
    assert changed and all(f"{name.removesuffix('.weight')}.lora_A.weight" in " ".join(adapters) for name in changed)


@pytest.mark.parametrize(
    "options, words",
    [
        (["--set", "temprature=0.1"], "simcse: unknown parameter 'temprature'. It has: variant, temperature"),
        (["--set", "temperature=hot"], "'temperature' needs a float (its default is 0.05); got 'hot'"),
        (["--set", "temperature"], "--set must be NAME=VALUE, got 'temperature'"),
        (["--batch-size", 65], "sentences in the corpus: 64, fewer than one batch of 65"),
        (["--steps", "9" * 30], "is not in the range 1<=x<=1000000000"),
        (["--epochs", "inf"], "'--epochs': inf is not in the range 0<x<=1000000"),
        (["--seeds", f"0-{10**12}"], "is more than 1000 seeds"),
        (["--temperature", "0.1"], ": --set temperature=VALUE"),
        (["--recipe", "bundled"], "--recipe bundled is for mini, micro, not for"),
        (["--column", "text"], "is plain text with one sentence per line, without a column 'text'"),
        (["\udcff"], "Error: argument 17 is not UTF-8: '\\udcff'"),
    ],
)
def test_settings_that_cannot_be_used_are_refused_before_a_run_is_made(options, words, encoder, corpus, tmp_path):
    assert words in train(encoder, corpus, tmp_path / "run", *options, ok=False)
    assert not (tmp_path / "run" / "run.json").exists()


def test_a_setting_that_may_be_none_is_checked_by_its_annotation(encoder, corpus, tmp_path):
    error = train(encoder, corpus, tmp_path / "run", "--set", "temperature=hot", method="focal", ok=False)
    assert "'temperature' must be float | None; got 'hot'" in error
    train(encoder, corpus, tmp_path / "run", "--set", "temperature=1", method="focal")
    assert identity(tmp_path / "run")["method"]["temperature"] == 1


@pytest.mark.parametrize(
    "content, words",
    [
        (b"\n  \n", "no sentence found"),
        (b"the same sentence\n" * 64, "different sentences in the corpus: 1 (of 64)"),
        (b"the caf\xe9 is open\n" * 64, "line 1: byte 0xe9 is not utf-8"),
    ],
)
def test_a_corpus_that_cannot_be_used_is_named(content, words, encoder, corpus, tmp_path):
    corpus.write_bytes(content)
    error = train(encoder, corpus, tmp_path / "run", ok=False)
    assert words in error and (str(corpus) in error or "different" in words)
    assert not (tmp_path / "run" / "run.json").exists()


def test_seeds_and_methods_make_a_run_each_and_are_compared_seed_by_seed(encoder, corpus, own_pairs, tmp_path):
    output = tmp_path / "runs"
    options = ("--encoder", encoder, "--corpus", corpus, "--output", output, "--batch-size", 8, "--steps", 2)
    line = ("train", "simcse", "focal", *options, "--seeds", "0,1", "--dev", own_pairs, "--set", "m=0.2")
    printed = run(*line)
    best = {}
    for method in ("simcse", "focal"):
        for seed in (0, 1):
            content = json.loads((output / method / f"seed-{seed}" / "run.json").read_text())
            told = content["identity"]
            assert (told["method"]["name"], told["config"]["seed"]) == (method, seed)
            assert told["method"].get("m", 0.2) == 0.2
            assert re.search(rf"^{method}, seed {seed} .* {output / method}/seed-{seed}$", printed, re.M)
            best.setdefault(method, []).append(content["best"]["score"])
        means = f"{np.mean(best[method]):.2f} ± {np.std(best[method], ddof=1):.2f}"
        assert re.search(rf"^{method}, mean ± sd +{means}", printed, re.M)
    rows = run_json(*line, "-q")
    assert [row["name"] for row in rows] == [f"{m}, seed {s}" for m in ("simcse", "focal") for s in (0, 1)]
    (row,) = run_json("compare", output / "simcse", output / "focal", "--suite", own_pairs)
    assert row["name"] == "ours, paired t-test" and row["over"] == "2"
    assert row["first"] == pytest.approx(np.mean(best["simcse"]), abs=1e-3)
    assert row["second"] == pytest.approx(np.mean(best["focal"]), abs=1e-3)
    error = run("compare", output / "simcse", encoder, "--suite", own_pairs, ok=False)
    assert "simcse has 0, 1" in error and "no seeds" in error


def test_the_recipe_of_a_paper_gives_way_to_given_settings(encoder, corpus, tmp_path):
    def settings(output, *more):
        run("train", "whitenedcse", "--encoder", encoder, "--corpus", corpus, "--output", output, "--steps", 1,
            "--dev", "none", "--set", "num_groups=4", "--recipe", "paper", *more)  # fmt: skip
        return identity(output)

    printed = METHODS["whitenedcse"].recipe(SentenceEncoder.from_pretrained(encoder))
    plain = settings(tmp_path / "plain")
    assert plain["config"]["lr"] == printed.lr and plain["encoder"]["pooling"] == printed.pooling
    assert plain["method"]["num_groups"] == 4
    own = settings(tmp_path / "own", "--lr", 1e-3, "--batch-size", 8, "--pooling", "mean")
    assert (own["config"]["lr"], own["config"]["batch_size"], own["encoder"]["pooling"]) == (1e-3, 8, "mean")


def test_a_recipe_for_a_different_kind_of_encoder_is_named_and_a_given_variant_wins(encoder, corpus, tmp_path):
    roberta = write_checkpoint(tmp_path / "roberta", "roberta", layers=1)

    def printed(method, model, *more):
        output = tmp_path / method / Path(model).name
        return train(model, corpus, output, "--recipe", "paper", "--steps", 1, *more, method=method)

    note = "mixcse: the paper has no recipe for roberta-base; using its recipe for bert-base"
    assert note in printed("mixcse", roberta).splitlines()
    assert "the paper has no recipe" not in printed("simcse", roberta) + printed("vascl", "micro")
    large = write_checkpoint(tmp_path / "large", "roberta", layers=1, width=1024)
    printed("esimcse", large, "--set", "variant=simclr")
    method = identity(tmp_path / "esimcse" / "large")["method"]
    assert (method["queue"], method["rate"]) == (0, 0.28)


def test_a_run_that_stopped_early_says_so_and_a_quiet_one_nothing(encoder, corpus, own_pairs, tmp_path):
    options = ("--dev", own_pairs, "--eval-every", 1, "--lr", 0, "--steps", 9, "--patience", 2)
    printed = train(encoder, corpus, tmp_path / "run", *options)
    assert "stopped early: no better dev score in 2 evaluations, step 3" in printed
    assert train(encoder, corpus, tmp_path / "quiet", "--dev", own_pairs, "-q") == ""


def test_a_method_of_several_columns_reads_a_table(encoder, tmp_path, monkeypatch):
    class Triples(METHODS["simcse"]):
        columns = ("sentence", "negative")

        def views(self, encode, batch):
            return super().views(encode, [f"{one} {other}" for one, other in batch])

    Triples.name = "simcse"
    monkeypatch.setitem(METHODS, "simcse", Triples)
    table, plain = tmp_path / "corpus.tsv", tmp_path / "plain.txt"
    rows = zip(CORPUS, reversed(CORPUS), strict=True)
    table.write_text("negative\tid\tsentence\n" + "".join(f"{a}\t1\t{b}\n" for a, b in rows))
    assert "64 sentences" in train(encoder, table, tmp_path / "run")
    plain.write_text("\n".join(CORPUS))
    assert "has no column 'sentence'" in train(encoder, plain, tmp_path / "no", ok=False)


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
    """Writes a user's file, whose names are forgotten afterwards."""
    for registry in (METHODS, SUITES):
        for name in ("of_mine", "recipes"):
            monkeypatch.setitem(registry, name, None)
            registry.pop(name)

    def write(content):
        (tmp_path / "mine.py").write_text(content)
        return tmp_path / "mine.py"

    return write


def test_a_users_file_brings_its_methods_and_suites(mine, encoder, corpus, tmp_path):
    assert "cselab --code FILE" in train(encoder, corpus, tmp_path / "run", method="of_mine", ok=False)
    printed = run("--code", mine(MINE), "methods", "of_mine")
    assert "SimCSE again." in printed and "temperature = 0.05" in printed
    train(encoder, corpus, tmp_path / "run", method="of_mine")
    assert identity(tmp_path / "run")["method"]["name"] == "of_mine"
    assert "no such file" in run("--code", tmp_path / "none.py", "methods", ok=False)
    assert "not a Python file" in run("--code", corpus, "methods", ok=False)
    found = run_json("--code", mine(RECIPES), "evaluate", "word-overlap", "--suite", "recipes")
    assert found["scores"] == {"Recipes": pytest.approx(100)}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("def views(:\n", "mine.py, line 1: SyntaxError: invalid syntax"),
        ("\nraise RuntimeError('not today')\n", "mine.py, line 2: RuntimeError: not today"),
        ("import sys\nsys.exit(0)", "mine.py, line 2: SystemExit: 0"),
        (MINE.replace("Contrastive", "Method"), "the method 'of_mine' has no views()"),
        (MINE + "    def views(self, *_):\n        return None\n", "mine.py: "),
        (MINE + "    def views(self, *_):\n        return _.no\n", "mine.py, line 8: AttributeError: "),
    ],
    ids=["no Python", "raises", "ends", "no views", "None for views", "views raise"],
)
def test_a_users_file_that_fails_is_blamed_in_one_line(content, words, mine, encoder, corpus, tmp_path):
    options = ("--encoder", encoder, "--corpus", corpus, "--output", tmp_path / "run", "--dev", "none")
    assert words in run("--code", mine(content), "train", "of_mine", *options, "--batch-size", 8, ok=False)


def test_ctrl_c_names_the_saved_step_and_the_same_command_continues(encoder, corpus, tmp_path, monkeypatch):
    module = sys.modules["cselab.training.loop"]
    batch_of_step, at = module.batch_of_step, {"step": 2}

    def interrupted(corpus, config, step):
        if step == at["step"]:
            raise KeyboardInterrupt
        return batch_of_step(corpus, config, step)

    monkeypatch.setattr(module, "batch_of_step", interrupted)
    line = (encoder, corpus, tmp_path / "run", "--eval-every", 2)
    assert "holds no checkpoint yet; run the same command to start again" in train(*line, ok=False)
    at["step"] = 4
    assert "holds the run up to step 2; run the same command to continue" in train(*line, ok=False)
    at["step"] = None
    assert "simcse: continues from step 2 of 4" in train(*line).split("simcse: 3/4")[0]  # at the start


# ------------------------------------------------------------------------------------------ evaluate, compare


def test_sts_scores_are_written_by_task_name_with_their_details(encoder, stsb, tmp_path):
    file = tmp_path / "scores.json"
    printed = run("evaluate", encoder, "--suite", "sts", "--task", "STS-B", "--data", stsb, "--json", file)
    found = json.loads(file.read_text())
    model = SentenceEncoder.from_pretrained(encoder)
    pairs = sts.load_sts("STS-B", stsb)
    a, b = (torch.from_numpy(model.encode(side)) for side in (pairs.sentences1, pairs.sentences2))
    expected = 100 * spearmanr(torch.cosine_similarity(a.double(), b.double()), pairs.scores).statistic
    assert expected > 20
    assert found["scores"] == {"STS-B": pytest.approx(expected, abs=0.01)}
    assert f"{found['scores']['STS-B']:.2f}" in printed
    assert "avg" not in found and "no average: only STS-B of the seven" in printed
    record = next(record for record in found["records"] if record["key"] == "STS-B")
    assert (record["split"], record["rows"], record["metric"]) == ("test", 1379, "spearman")
    assert (record["pooling"], record["encoder"]) == ("mean", "tiny")


def test_baselines_and_transforms_are_scored_and_named(encoder, own_pairs, corpus, tmp_path):
    glove = tmp_path / "glove.txt"
    glove.write_text("".join(f"{word} {row} {row**2 % 7} 1\n" for row, word in enumerate(WORDS)))
    names_of = {
        "random": "random",
        f"static:{glove}": "averaged glove.txt",
        f"static:{encoder}": "input embeddings of tiny",
    }
    found = {}
    for name, known_as in names_of.items():
        found[known_as] = run_json("evaluate", name, "--suite", own_pairs)
    for transform in ("centred", "without 2", "whitening", "flow"):
        line = ("evaluate", encoder, "--suite", own_pairs, "--posthoc", transform, "--fit", corpus)
        found[f"tiny + {transform} fitted on 64 sentences of corpus.txt"] = run_json(*line)
    assert all(scores["records"][0]["encoder"] == known_as for known_as, scores in found.items())
    assert len({scores["scores"]["ours"] for scores in found.values()}) == len(found)
    assert "does not exist" in run("evaluate", f"static:{tmp_path}/no", ok=False)
    file = tmp_path / "all.json"
    printed = run("baselines", encoder, "--suite", own_pairs, "--fit", corpus, "--json", file)
    rows = [line.rsplit("  ", 1) for line in printed.splitlines() if re.search(r" -?\d+\.\d\d$", line)]
    found = json.loads(file.read_text())
    assert [name.strip() for name, _ in rows] == list(found)
    untrained = ["random", "word overlap", "input embeddings of tiny", "tiny with random weights (seed 0)"]
    assert list(found)[:5] == [*untrained, "tiny"] and len(found) == 7
    assert [score for _, score in rows] == [f"{scores['scores']['ours']:.2f}" for scores in found.values()]


def test_a_failed_evaluation_exits_with_1_and_has_no_score(encoder, stsb, tmp_path, monkeypatch):
    monkeypatch.setattr(SentenceEncoder, "encode", lambda self, sentences, *_, **__: np.ones((len(sentences), 4)))
    options = ("--suite", "sts", "--task", "STS-B", "--data", stsb, "--json", tmp_path / "scores.json")
    result = CliRunner().invoke(cli.app, ["evaluate", str(encoder), *map(str, options)])
    assert result.exit_code == 1 and "STS-B failed: " in result.output
    found = json.loads((tmp_path / "scores.json").read_text())
    assert found["scores"] == {} and found["failures"].keys() == {"STS-B"}


@pytest.mark.parametrize(
    "options, words",
    [
        (["--aggregation", "median"], "unknown aggregation 'median'"),
        (["--representation", "head"], "this one has none"),
        (["--device", "cuda:99"], "--device cuda:99: this machine has "),
        (["--fit", "world"], "--fit needs a transform: add --posthoc"),
        (["--posthoc", "without K"], "'without K': K must be a number of components, for example 'without 3'"),
        (["--suite", "nothere.tsv"], "nothere.tsv: no such file"),
    ],
)
def test_an_evaluation_that_cannot_be_made_is_refused(options, words, encoder, stsb):
    assert words in run("evaluate", encoder, "--suite", "sts", *options, "--data", stsb, ok=False)


def test_without_a_suite_the_world_is_scored_and_sts_if_its_data_are_found(stsb, monkeypatch):
    monkeypatch.setenv("CSELAB_DATA", "")
    assert suites_or_default([], None) == ["world"]
    assert suites_or_default([], stsb) == ["world", "sts"]


def test_a_users_pairs_are_a_suite_and_a_dev_set(encoder, corpus, own_pairs, stsb, tmp_path):
    assert "dev: 60 pairs of ours.tsv" in train(encoder, corpus, tmp_path / "run", "--dev", own_pairs)
    best = json.loads((tmp_path / "run" / "run.json").read_text())["best"]
    found = run_json("evaluate", tmp_path / "run", "--suite", own_pairs)
    assert found["scores"] == {"ours": pytest.approx(best["score"], abs=1e-4)} and found["records"][0]["rows"] == 60
    more = ("--suite", "sts", "--suite", "geometry", "--task", "STS-B", "--task", "uniformity", "--data", stsb)
    scores = run_json("evaluate", encoder, "--suite", own_pairs, *more)["scores"]
    assert scores.keys() == {"STS-B", "uniformity", "ours"}
    for form, starts in (("md", "|"), ("csv", ",split,rows,metric,score")):
        printed = run("evaluate", encoder, "--suite", own_pairs, "--format", form)
        assert printed.startswith(starts) and "ours" in printed


def test_compare_prints_the_difference_of_two_encoders_and_its_interval(encoder, own_pairs, tmp_path):
    other = write_checkpoint(tmp_path / "other", seed=1)
    (row,) = run_json("compare", encoder, other, "--suite", own_pairs)
    first, second = (run_json("evaluate", name, "--suite", own_pairs)["scores"]["ours"] for name in (encoder, other))
    assert row["name"] == "ours, paired bootstrap" and row["over"] == "60"
    assert (row["first"], row["second"]) == (pytest.approx(first), pytest.approx(second))
    assert float(row["difference"]) == pytest.approx(second - first, abs=0.006)
    low, high = map(float, row["95 % interval"].split(" to "))
    assert low < second - first < high


def test_an_encoder_is_used_on_the_accelerator_unless_a_device_is_named(encoder, own_pairs, corpus, monkeypatch):
    devices = []
    original = SentenceEncoder.from_pretrained.__func__

    def opened(cls, *arguments, device=None, **options):
        devices.append(str(device))
        return original(cls, *arguments, **options)

    monkeypatch.setattr(SentenceEncoder, "from_pretrained", classmethod(opened))
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("cuda"))
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: 2)
    run("evaluate", encoder, "--suite", own_pairs)
    run("evaluate", encoder, "--suite", own_pairs, "--device", "cpu")
    run("encode", encoder, corpus, "--output", corpus.with_suffix(".npy"), "--device", "cuda:1")
    assert devices == ["cuda", "cpu", "cuda:1"]


# ------------------------------------------------------------------------------------------ encode, search


@pytest.fixture(scope="module")
def prompted(tmp_path_factory):
    encoder = make_encoder()
    encoder.prompts = {"query": "this cat sees ", "document": "the old "}
    path = tmp_path_factory.mktemp("prompted") / "encoder"
    encoder.save_pretrained(path)
    return path, encoder


@pytest.mark.parametrize("ending", [".npy", ".safetensors"])
def test_encode_writes_the_vectors_of_a_file_in_their_order(ending, encoder, prompted, corpus, tmp_path):
    def read():
        return np.load(file) if ending == ".npy" else load_file(file)["vectors"]

    file = tmp_path / f"vectors{ending}"
    assert "64 vectors of width 8" in run("encode", encoder, corpus, "--output", file, "--pooling", "cls")
    expected = SentenceEncoder.from_pretrained(encoder, pooling="cls").encode(CORPUS)
    assert read().dtype == np.float32 and np.allclose(read(), expected, atol=1e-6)
    run("encode", encoder, corpus, "--output", file, "--normalize", "--batch-size", 5)
    assert np.allclose(np.linalg.norm(read(), axis=1), 1, atol=1e-5)
    run("encode", prompted[0], corpus, "--output", file, "--prompt-name", "query")
    assert np.allclose(read(), prompted[1].encode(CORPUS, prompt_name="query"), atol=1e-6)
    file.unlink()
    corpus.with_suffix(".csv").write_text("id,text\n1,one\n2,\n3,three\n4, \n")
    error = run("encode", encoder, corpus.with_suffix(".csv"), "--output", file, ok=False)
    assert "corpus.csv: 2 rows have no text (lines 3, 5)" in error and not file.exists()
    assert "must end in .npy or .safetensors" in run("encode", encoder, corpus, "--output", "v.csv", ok=False)


def test_search_finds_the_sentence_and_puts_the_prompt_only_before_the_query(encoder, prompted, corpus):
    found = run_json("search", encoder, corpus, CORPUS[9], "--top", 3)
    assert len(found) == 3 and found[0]["line"] == "10"
    assert found[0]["sentence"] == CORPUS[9] and found[0]["cosine"] == pytest.approx(1, abs=1e-5)
    path, model = prompted
    found = run_json("search", path, corpus, "a cat", "--prompt-name", "query")
    query, texts = model.encode("this cat sees a cat"), model.encode(CORPUS)
    expected = sorted(model.similarity(texts, query[None])[:, 0].tolist(), reverse=True)[:10]
    assert [row["cosine"] for row in found] == pytest.approx(expected, abs=1e-5)


def test_evaluate_scores_prompted_sentences(prompted, corpus, own_pairs):
    for posthoc in ((), ("--posthoc", "whitening", "--fit", corpus)):
        line = ("evaluate", prompted[0], "--suite", own_pairs, *posthoc, "--prompt-name")
        records = [run_json(*line, prompt)["records"][0] for prompt in ("query", "document")]
        assert records[0]["value"] != records[1]["value"] and records[1]["encoder"].endswith("prompt document")
    assert "has ['query', 'document']" in run(*line, "passage", ok=False)
    assert "random has no prompts" in run("evaluate", "random", *line[2:4], "--prompt-name", "query", ok=False)


# ------------------------------------------------------------------------------------------ diagnose, ties


def test_a_fault_in_vectors_or_a_corpus_exits_with_1(encoder, corpus, tmp_path):
    cloud = np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)
    np.save(tmp_path / "sound.npy", cloud)
    np.save(tmp_path / "collapsed.npy", 1 + 0.001 * cloud)
    assert "no faults" in run("diagnose", tmp_path / "sound.npy")
    found = run_json("diagnose", tmp_path / "collapsed.npy", "--page", tmp_path / "page.html", ok=False)
    assert [one["name"] for one in found["findings"]] == ["complete collapse"]
    assert (tmp_path / "page.html").stat().st_size > 1e6  # with plotly.js
    corpus.write_text("\n".join(make_sentences(20) * 3))
    result = CliRunner().invoke(cli.app, ["diagnose", str(encoder), "--texts", str(corpus), "--corpus", str(corpus)])
    assert result.exit_code == 1 and "DUPLICATES IN THE CORPUS" in result.output


def test_a_score_is_explained_by_the_pooling(encoder, own_pairs):
    score = run_json("evaluate", encoder, "--pooling", "cls", "--suite", own_pairs)["scores"]["ours"]
    line = ("explain-score", encoder, "--task", own_pairs, "--changes", 1, "--expected")
    assert "pooling cls" in run(*line, f"{score:.4f}")
    assert "none of" in run(*line, "99.99", ok=False)


def test_ties_are_printed_in_each_form(tmp_path):
    file = tmp_path / "scores.csv"
    file.write_text("model,a,b,c\nsmall,60,61,59\nmiddle,60.2,60.9,59.3\nlarge,80,81.1,79\n")
    printed = run("ties", file)
    assert printed.splitlines()[1].startswith("large") and "1 of 2 neighbours" in printed
    assert [row["system"] for row in run_json("ties", file)] == ["large", "middle", "small"]


# ------------------------------------------------------------------------------------------ world, methods, data


def test_world_prints_the_sentences_documents_and_pairs_of_the_generator():
    world = World(seed=3)
    sentences = run("world", "sentences", 4, "--split", "dev", "--seed", 3)
    assert sentences.splitlines() == [one.text for one in world.sentences(4, "dev")]
    documents = run("world", "documents", 2, "--seed", 3)
    assert documents.splitlines() == [one.text for document in world.documents(2) for one in document]
    first, second, grade, kind = run("world", "pairs", 6, "--seed", 3).splitlines()[5].split("\t")
    pairs = world.sts(6)
    assert (first, second, kind) == (pairs.sentences1[5], pairs.sentences2[5], pairs.subsets[5])
    assert float(grade) == pairs.scores[5] == 5.0


def test_methods_lists_all_by_family():
    printed = run("methods")
    families = {method.family for method in METHODS.values()}
    assert len(printed.splitlines()) == len(METHODS) + len(families)
    assert all(re.search(rf"^  {name} +\S", printed, re.MULTILINE) for name in METHODS)
    assert (
        printed.index("baseline:") < printed.index("  simcse ") < printed.index("loss:") < printed.index("  imsimcse ")
    )


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_shown_with_its_parameters_and_the_changes_of_its_variants(name):
    printed = run("methods", name)
    for parameter, default in METHODS[name].hyperparameters().items():
        assert f"  {parameter} = {default!r}" in printed
    for variant in METHODS[name].variants:
        (line,) = re.findall(rf"^  variant={variant}: (.*)$", printed, flags=re.MULTILINE)
        bert, roberta = (METHODS[name].changes(variant, config) for config in (BertConfig(), RobertaConfig()))
        for key, value in bert.items():
            assert f"{key}={value!r}" in line
        for key, value in roberta.items():
            assert f"{value!r}" in line and (bert.get(key) == value or f"{value!r} (RoBERTa-base)" in line)
        assert (line == "as default") == (not bert and not roberta)


def test_data_check_names_missing_and_damaged_files(stsb, tmp_path, monkeypatch):
    printed = run("data", "check", stsb, "--allow-missing")
    assert re.search(r"ok .*STS-B +test +1379 rows", printed) and re.search(r"missing .*STS12", printed)
    result = CliRunner().invoke(cli.app, ["data", "check", str(stsb)])
    assert result.exit_code == 1 and re.match(r"\d+ of \d+ are missing: run `cselab data fetch`", result.stderr)
    file = tmp_path / "STS" / "STSBenchmark" / "sts-dev.csv"
    file.parent.mkdir(parents=True)
    file.write_text((stsb / "STS" / "STSBenchmark" / "sts-dev.csv").read_text()[:-200])
    printed = run("data", "check", tmp_path, "--allow-missing", ok=False)
    assert re.search(rf"damaged .*STS-B .*{re.escape(str(file))}", printed)
    file.unlink()
    assert f"no data sets in {tmp_path}" in run("data", "check", "--data", tmp_path, ok=False)
    assert "none is not a folder" in run("data", "check", tmp_path / "none", ok=False)
    assert f"two folders: {tmp_path} and" in run("data", "check", tmp_path, "--data", "here", ok=False)
    monkeypatch.setenv("CSELAB_DATA", "")
    assert "no data folder: give one (`data=`, `--data DIR`)" in run("data", "check", ok=False)


@pytest.mark.filterwarnings("ignore:.*rows have no text")
def test_data_negate_writes_the_rows_that_sncse_trains_on(tmp_path):
    corpus, table, output = tmp_path / "text.txt", tmp_path / "rows.tsv", tmp_path / "run"
    lines = [f"The {one} is\tnear.\n\nA {one} sings.\n" for one in ("cat", "dog", "bird", "child")]
    corpus.write_text("".join(lines), encoding="utf-8")
    assert "8 rows, 4 of them denied by 'It is not true that'" in run("data", "negate", corpus, table)
    assert table.read_text(encoding="utf-8").splitlines()[:3] == [
        "sentence\tnegation",
        "The cat is near.\tThe cat is not near.",
        "A cat sings.\tIt is not true that a cat sings.",
    ]
    options = ("--corpus", table, "--output", output, "--steps", 1, "--batch-size", 4, "--dev", "none")
    run("train", "sncse_dropout", *options)
    assert (output / "model.safetensors").exists()


def test_data_fetch_prints_the_result_for_each_set_and_fails_if_one_is_refused(monkeypatch, tmp_path):
    calls = []

    def fetching(*statuses):
        def fetch(*arguments):
            calls.append(arguments)
            yield from (Fetched(STS_TASKS[row], status, "in detail") for row, status in enumerate(statuses))

        monkeypatch.setattr("cselab.data.fetch.fetch", fetch)

    fetching("fetched", "kept")
    printed = run("data", "fetch", tmp_path)
    assert printed.splitlines()[:2] == ["fetched  STS12    in detail", "kept     STS13    in detail"]
    assert "GoogleNews are not fetched" in printed
    fetching("fetched", "refused", "kept")
    printed = run("data", "fetch", tmp_path, "--task", "STS12", "--task", "STS13", ok=False)
    assert "refused  STS13" in printed and "STS14" in printed and "GoogleNews" not in printed
    assert calls == [(tmp_path, None), (tmp_path, ["STS12", "STS13"])]


def test_data_fetch_gets_a_training_corpus_by_its_name(monkeypatch, tmp_path):
    calls = []

    def fetched(name, folder):
        calls.append((name, folder))
        return folder / f"{name}.txt", True

    monkeypatch.setattr("cselab_lab.experiments.corpora.fetch_corpus", fetched)
    printed = run("data", "fetch", "wiki1m", "nli", tmp_path)
    assert calls == [("wiki1m", tmp_path), ("nli", tmp_path)]
    assert f"fetched  wiki1m   {tmp_path / 'wiki1m.txt'} (1,000,000 rows)" in printed
    assert "Did you mean 'wiki1m'?" in run("data", "fetch", "wiki2m", tmp_path, ok=False)
    assert "--task names evaluation sets" in run("data", "fetch", "nli", "--task", "MR", ok=False)


def test_data_fetch_without_a_network_names_the_next_step(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    error = run("data", "fetch", tmp_path / "data", "--task", "MR", ok=False)
    assert "cannot be reached" in error and "Not fetched: MR." in error and "cselab data check" in error


# ------------------------------------------------------------------------------------------ notebooks


@pytest.mark.lesson
def test_notebooks_run_and_leave_pages_and_reports_and_the_exit_code_of_a_failure(tmp_path):
    numbers = "from cselab_lab.headless.record import record\nrecord('size', size)\nrecord('half', size / 2, 0.5)"
    folder = tmp_path / "notebooks"
    folder.mkdir()
    for name, source in {"00_good": numbers, "01_bad": "1 / 0"}.items():
        cells = [new_code_cell("size = 3", metadata={"tags": ["parameters"]}), new_code_cell(source)]
        nbformat.write(new_notebook(cells=cells), folder / f"{name}.ipynb")
    where = ("--folder", folder, "--output", tmp_path / "out", "--profile", "smoke")
    run("notebooks", "run", "00", *where, "--quiet", "--update-recorded")
    recorded = folder / "recorded" / "00_good.smoke.json"
    recorded.write_text(recorded.read_text(encoding="utf-8").replace('"value": 3', '"value": 4'))
    reports = ("--summary", tmp_path / "ci" / "summary.md")
    printed = run("notebooks", "run", *where, "--require-recorded", *reports, ok=False)
    assert "1 of 2 within tolerance" in printed and "00_good  FAILED" in printed and "00_good  passed" not in printed
    assert "01_bad  FAILED" in printed and "ZeroDivisionError" in printed
    assert (tmp_path / "out" / "00_good.html").exists() and (tmp_path / "out" / "records.json").exists()
    summary = (tmp_path / "ci" / "summary.md").read_text(encoding="utf-8")
    assert "| 00_good | smoke | **failed** |" in summary and "1 of 2 within tolerance" in summary
    assert "* problem: 'size' is 3, recorded was 4 (tolerance 1e-06)" in summary
    assert "00_good  passed" in run("notebooks", "run", "00", *where, "--set", "size=5")


def test_notebooks_are_listed_with_their_titles_and_copied_to_work_in(tmp_path):
    assert re.search(r"^00_tour +00 · .* \(recorded: .*smoke", run("notebooks", "list"), re.MULTILINE)
    assert f"copied: {tmp_path / 'work' / '00_tour.ipynb'}" in run("notebooks", "copy", tmp_path / "work")
    assert "unchanged: " in run("notebooks", "copy", tmp_path / "work")


# ------------------------------------------------------------------------------------------ the line itself


def test_a_field_of_another_class_is_no_hyperparameter():
    assert names.methods_with("rows") == [] and "moco" in names.methods_with("queue")


def test_the_names_known_without_torch_are_those_of_the_registries():
    fields = {field["name"]: field for field in names.train_settings()}
    assert {name: field["default"] for name, field in fields.items()} == asdict(TrainConfig())
    assert (fields["steps"]["ge"], fields["warmup"]["lt"], fields["clip"]["gt"]) == (1, 1, 0)
    assert fields["precision"]["choices"] == ["auto", "fp32", "bf16"] and fields["lr"]["kind"] == "float"
    table = json.loads(FILE.read_text(encoding="utf-8"))
    assert table == of_the_classes(), "run: python scripts/reference_pages.py registered.json"
    lists = {"poolings": POOLINGS, "transforms": NAMES, "dev": CHOICES, "recipes": BUNDLED, "lessons": SIZES}
    assert {kind: names.names(kind) for kind in lists} == {kind: list(held) for kind, held in lists.items()}
    classes = {"methods": METHODS, "suites": SUITES}
    assert {kind: sorted(names.names(kind)) for kind in classes} == {
        kind: sorted(held) for kind, held in classes.items()
    }
    assert names.purposes() == {name: profile.purpose for name, profile in PROFILES.items()}


def test_version_completion_the_exit_code_of_a_refusal_and_a_reader_that_stops():
    assert run("--version") == f"cselab {cselab.__version__}\n"
    command = Path(sys.executable).with_name("cselab")
    completing = {"_CSELAB_COMPLETE": "bash_complete", "COMP_WORDS": "cselab train whi", "COMP_CWORD": "2"}
    done = subprocess.run([command], capture_output=True, text=True, env=os.environ | completing)
    assert done.stdout.split() == ["plain,whitenedcse"]
    refused = subprocess.run([command, "methods", "simsce"], capture_output=True, text=True)
    assert refused.returncode == 2 and "unknown method 'simsce'" in refused.stderr
    assert "Traceback" not in refused.stdout + refused.stderr
    line = f"{command} world sentences 3000 | head -n 1"
    done = subprocess.run(line, shell=True, capture_output=True, text=True)
    assert len(done.stdout.splitlines()) == 1 and done.stderr == ""


def test_a_warning_is_one_line_without_a_path(monkeypatch):
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
    monkeypatch.setattr(sys, "argv", ["cselab", "--version"])
    with pytest.raises(SystemExit):
        cli.main()
    assert warnings.formatwarning(UserWarning("of two\n  lines"), UserWarning, "a.py", 7) == "Warning: of two lines\n"


def test_a_library_that_is_missing_is_named_with_the_line_that_installs_it(encoder, corpus, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "papermill", None)
    printed = run("notebooks", "run", "00", "--profile", "smoke", "--output", tmp_path / "out", ok=False)
    assert "pip install papermill, or all in a clone with pip install '.[notebooks]'" in printed
    monkeypatch.setitem(sys.modules, "peft", None)
    line = ("train", "simcse", "--encoder", encoder, "--corpus", corpus, "--lora", 2, "--output", tmp_path / "run")
    assert "Error: adapters need peft: pip install peft\n" in run(*line, ok=False)


def test_full_memory_is_one_sentence(encoder, corpus, tmp_path, monkeypatch):
    with pytest.raises(RuntimeError) as real:
        torch.empty(1 << 46)  # 256 TB, and the error of this system
    words = "[enforce fail] DefaultCPUAllocator: not enough memory: you tried to allocate 1 bytes"
    for error in [MemoryError(), torch.OutOfMemoryError("CUDA out of memory"), RuntimeError(words), real.value]:

        def full(*_, error=error, **__):
            raise error

        monkeypatch.setattr(SentenceEncoder, "encode", full)
        printed = run("encode", encoder, corpus, "--output", tmp_path / "v.npy", ok=False)
        assert printed.startswith("Error: out of memory: use a smaller --batch-size")


@pytest.mark.parametrize(
    ("given", "left"),
    [({}, (None, "10000")), ({"GOMP_SPINCOUNT": "7"}, (None, "7")), ({"OMP_WAIT_POLICY": "active"}, ("active", None))],
)
def test_waiting_threads_sleep_soon_unless_the_user_chose_otherwise(given, left, monkeypatch):
    for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT"):
        monkeypatch.setenv(name, given.get(name, ""))
        if name not in given:
            monkeypatch.delenv(name)
    monkeypatch.setattr(sys, "argv", ["cselab", "-h"])
    cli.main()
    assert (os.environ.get("OMP_WAIT_POLICY"), os.environ.get("GOMP_SPINCOUNT")) == left
