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
from command_line import run, run_json
from cselab_lab import cli
from cselab_lab.cli import names
from cselab_lab.cli.options import suites_or_default
from cselab_lab.experiments.dev import CHOICES
from cselab_lab.experiments.plan import PROFILES
from cselab_lab.experiments.plan import RECIPES as BUNDLED
from cselab_lab.experiments.registered import FILE, of_the_classes
from cselab_lab.headless.sizes import SIZES
from nbformat.v4 import new_code_cell, new_notebook
from safetensors.numpy import load_file
from scipy.stats import spearmanr
from tiny import make_sentences, write_checkpoint
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

pytestmark = pytest.mark.usefixtures("here")
CORPUS = make_sentences(64)
OPENED = SentenceEncoder.from_pretrained
READ = "--encoder tiny --corpus corpus.txt"


def train(more="", output="run", method="simcse", ok=True):
    steps = "" if "--epochs" in more else "--steps 4"
    dev = "" if "--dev" in more or "--data" in more else "--dev none"
    return run(f"train {method} {READ} --output {output} --batch-size 8 --lr 1e-3 {steps} {dev} {more}", ok)


def weights(*folders):
    """Whether the runs in these folders ended with the same bytes."""
    return len({Path(folder, "model.safetensors").read_bytes() for folder in folders}) == 1


def of_run(what, output="run"):
    return json.loads(Path(output, "run.json").read_text())[what]


@pytest.fixture(scope="module")
def trained(home):
    """The output of `cselab train`, and the folder of the run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        patch.setenv("CSELAB_HEADLESS", "1")
        patch.setattr(sys.modules["cselab.encoders.speed"], "faster_in_bf16", lambda: False)
        return train("--data data --eval-every 2"), home / "run"


# ------------------------------------------------------------------------------------------ train


def test_train_prints_its_progress_and_leaves_an_encoder(trained, tmp_path):
    printed, output = trained
    assert "simcse on tiny (cls), 64 sentences, dev: STS-B dev (not the published text), fp32" in printed
    assert re.search(r"^simcse: 3/4 .* loss \d\.\d+, dev -?\d+\.\d\d at step 2$", printed, re.M)
    assert re.findall(r"^step (\d): dev -?\d+\.\d\d, alignment \d", printed, re.M) == ["0", "2", "4"]
    assert re.search(r"best at step [24]: dev .*, alignment \d.*, uniformity -\d", printed)
    assert "encoder in run" in printed
    (tmp_path / "new").touch()  # under this umask
    files = [file for file in output.rglob("*") if file.is_file()]
    assert {file.stat().st_mode for file in files} == {(tmp_path / "new").stat().st_mode}
    run(f"encode {output} corpus.txt --output v.npy")
    assert np.load("v.npy").shape == (64, 8)
    scores = run_json(f"evaluate {output} --suite STS --task sts-b/dev --data data")["scores"]
    assert scores["STS-B/dev"] == pytest.approx(of_run("best", output)["score"], abs=1e-4)


def test_a_finished_run_is_read_back_and_a_different_run_refused(trained):
    _, output = trained
    before = (output / "model.safetensors").stat().st_mtime_ns
    again = "--data data --eval-every 2"
    printed = train(again, output)
    assert "already finished: read from the folder" in printed and "best at step" in printed
    error = train(f"{again} --seed 1", output, ok=False)
    assert "holds a run with a different config (seed was 42, now 1)" in error
    assert (output / "model.safetensors").stat().st_mtime_ns == before


def test_a_table_trains_as_its_sentences_and_is_searched():
    Path("s.csv").write_text("id,text\n" + "".join(f'{row},"{text}"\n' for row, text in enumerate(CORPUS)))
    train(output="plain")
    assert "s.csv: reading the sentences from column 'text'" in train("--corpus s.csv", "table")
    assert weights("plain", "table")
    search = f"search tiny s.csv '{CORPUS[9]}' --top 1"
    assert f"1.000  line 11: {CORPUS[9]}" in run(search)
    with pytest.warns(UnknownTokensWarning):  # numbers, of which this tokenizer knows none
        assert "column 'id'" not in run(f"{search} --column id")


@pytest.mark.parametrize("lines", [CORPUS, [json.dumps({"text": text}) for text in CORPUS]], ids=["text", "json"])
def test_a_corpus_may_come_from_standard_input(lines):
    piped = {"input": "\n".join(lines)}
    assert f"1.000  line 10: {CORPUS[9]}" in run(f"search tiny - '{CORPUS[9]}' --top 1", **piped)
    line = f"train simcse {READ} --seeds 0,1 --batch-size 8 --steps 2 --dev none --output"
    run(f"{line} piped --corpus -", **piped)
    run(f"{line} read")
    assert weights("piped/simcse/seed-1", "read/simcse/seed-1")


def test_a_bundled_encoder_has_its_recipe_by_default(monkeypatch):
    configs = []

    def stopped(encoder, method, sentences, config, *_, **__):
        configs.append(config)
        raise ValueError("enough")

    monkeypatch.setattr("cselab.training.train", stopped)

    def settings(options=""):
        line = f"train simcse --corpus corpus.txt --output run --dev none {options}"
        return run(line, ok=False, stream="stdout"), configs[-1]

    printed, config = settings()
    assert config == BUNDLED["micro"].config()
    assert "using the bundled recipe for micro: steps 50, lr 0.0005" in printed
    assert settings("--encoder mini")[1] == BUNDLED["mini"].config()
    for options, changed in {
        "--seed 3 --lr 0.1": dict(seed=3, lr=0.1),
        "--steps 16": dict(steps=16, eval_every=2),
        "--epochs 32": dict(steps=None, epochs=32, eval_every=4),
    }.items():
        assert settings(options)[1] == BUNDLED["micro"].config(**changed)
    printed, config = settings("--recipe none")
    assert config == TrainConfig(eval_every=1) and "recipe" not in printed


def test_settings_reach_the_method_and_the_run():
    settings = "--set num_groups=4 --set num_views=2 --set variant=paper"
    more = "--limit 32 --seed 7 --pooling cls --representation head --dropout 0.2"
    train(f"{settings} {more}", method="whitenedcse")
    told = of_run("identity")
    assert told["method"] | {"num_groups": 4, "num_views": 2, "variant": "paper"} == told["method"]
    assert told["corpus"]["sentences"] == 32 and told["config"]["seed"] == 7
    saved = OPENED("run")
    assert (saved.pooling, saved.representation) == ("cls", "head")
    config = json.loads(Path("run/config.json").read_text())
    assert config["hidden_dropout_prob"] == config["attention_probs_dropout_prob"] == 0.2
    train("--set temperature=1", "focal", "focal")  # None by default
    assert of_run("identity", "focal")["method"]["temperature"] == 1


@pytest.mark.skipif(find_spec("peft") is None, reason="adapters are made by peft")
def test_adapters_of_that_rank_are_trained_and_merged():
    train("--lora 3")
    before, after = (load_file(f"{folder}/model.safetensors") for folder in ("tiny", "run"))
    adapters = load_file("run/adapter/adapter_model.safetensors")
    assert {min(weights.shape) for weights in adapters.values()} == {3}
    changed = {name for name in after if not (after[name] == before[name]).all()}
    assert changed and all(f"{name.removesuffix('.weight')}.lora_A.weight" in " ".join(adapters) for name in changed)


def test_seeds_and_methods_make_a_run_each_and_are_compared():
    line = f"train simcse focal {READ} --output runs --batch-size 8 --steps 2 --seeds 0,1 --dev ours.tsv --set m=0.2"
    printed = run(line)
    best = {}
    for method in ("simcse", "focal"):
        for seed in (0, 1):
            folder = f"runs/{method}/seed-{seed}"
            told = of_run("identity", folder)
            assert (told["method"]["name"], told["config"]["seed"]) == (method, seed)
            assert told["method"].get("m", 0.2) == 0.2
            assert re.search(rf"^{method}, seed {seed} .* {folder}$", printed, re.M)
            best.setdefault(method, []).append(of_run("best", folder)["score"])
        means = f"{np.mean(best[method]):.2f} ± {np.std(best[method], ddof=1):.2f}"
        assert re.search(rf"^{method}, mean ± sd +{means}", printed, re.M)
    rows = run_json(f"{line} -q")
    assert [row["name"] for row in rows] == [f"{m}, seed {s}" for m in ("simcse", "focal") for s in (0, 1)]
    (row,) = run_json("compare runs/simcse runs/focal --suite ours.tsv")
    assert row["name"] == "ours, paired t-test" and row["over"] == "2"
    means = [np.mean(best[method]) for method in ("simcse", "focal")]
    assert [row["first"], row["second"]] == pytest.approx(means, abs=1e-3)
    error = run("compare runs/simcse tiny --suite ours.tsv", ok=False)
    assert "simcse has 0, 1" in error and "no seeds" in error


def test_the_recipe_of_a_paper_gives_way_to_given_settings():
    def settings(output, more=""):
        run(f"train whitenedcse {READ} --steps 1 --dev none --set num_groups=4 --recipe paper --output {output} {more}")
        return of_run("identity", output)

    printed, plain = METHODS["whitenedcse"].recipe(OPENED("tiny")), settings("plain")
    assert plain["config"]["lr"] == printed.lr and plain["encoder"]["pooling"] == printed.pooling
    assert plain["method"]["num_groups"] == 4
    own = settings("own", "--lr 1e-3 --batch-size 8 --pooling mean")
    assert (own["config"]["lr"], own["config"]["batch_size"], own["encoder"]["pooling"]) == (1e-3, 8, "mean")


def test_a_recipe_of_another_encoder_is_named_a_variant_wins(tmp_path):
    write_checkpoint(tmp_path / "roberta", "roberta", layers=1)
    write_checkpoint(tmp_path / "large", "roberta", layers=1, width=1024)

    def printed(method, model, more=""):
        return train(f"--encoder {model} --recipe paper --steps 1 {more}", f"{method}-{model}", method)

    note = "mixcse: the paper has no recipe for roberta-base; using its recipe for bert-base"
    assert note in printed("mixcse", "roberta").splitlines()
    assert "the paper has no recipe" not in printed("simcse", "roberta") + printed("vascl", "micro")
    printed("esimcse", "large", "--set variant=simclr")
    method = of_run("identity", "esimcse-large")["method"]
    assert (method["queue"], method["rate"]) == (0, 0.28)


def test_a_run_that_stopped_early_says_so_a_quiet_one_not():
    printed = train("--dev ours.tsv --eval-every 1 --lr 0 --steps 9 --patience 2")
    assert "stopped early: no better dev score in 2 evaluations, step 3" in printed
    assert train("--dev ours.tsv -q", "quiet") == ""


def test_a_method_of_several_columns_reads_a_table(monkeypatch):
    class Triples(METHODS["simcse"]):
        columns = ("sentence", "negative")

        def views(self, encode, batch):
            return super().views(encode, [f"{one} {other}" for one, other in batch])

    Triples.name = "simcse"
    monkeypatch.setitem(METHODS, "simcse", Triples)
    rows = zip(CORPUS, reversed(CORPUS), strict=True)
    Path("corpus.tsv").write_text("negative\tid\tsentence\n" + "".join(f"{a}\t1\t{b}\n" for a, b in rows))
    assert "64 sentences" in train("--corpus corpus.tsv")
    assert "has no column 'sentence'" in train(output="no", ok=False)


MINE = """
from dataclasses import dataclass
from typing import ClassVar
from cselab.data import as_pairs
from cselab.evaluators import STS, register
from cselab.evaluators.task import Collected
from cselab.methods import Contrastive
from cselab.methods import register as register_method

@register_method("of_mine", "Of mine")
class OfMine(Contrastive):
    "SimCSE again."

@register
@dataclass(frozen=True)
class Recipes(STS):
    name: ClassVar[str] = "recipes"
    tasks: ClassVar[tuple[str, ...]] = ("Recipes",)

    def collect(self, data, tasks):
        rows = [("Boil it.", "Boil it.", 4.5), ("Chop it.", "Bake bread.", 1.0), ("Salt it.", "Salt fish.", 3)]
        return Collected([self.task(as_pairs(rows), "Recipes")], {})
"""


def test_a_users_file_brings_its_methods_and_suites():
    Path("mine.py").write_text(MINE)
    printed = run("--code mine.py methods of_mine")
    assert "SimCSE again." in printed and "temperature = 0.05" in printed
    train(method="of_mine")
    assert of_run("identity")["method"]["name"] == "of_mine"
    found = run_json("evaluate word-overlap --suite recipes")
    assert found["scores"] == {"Recipes": pytest.approx(100)}


def test_ctrl_c_names_the_saved_step_and_the_run_continues(monkeypatch):
    module = sys.modules["cselab.training.loop"]
    batch_of_step, at = module.batch_of_step, {"step": 2}

    def interrupted(corpus, config, step):
        if step == at["step"]:
            raise KeyboardInterrupt
        return batch_of_step(corpus, config, step)

    monkeypatch.setattr(module, "batch_of_step", interrupted)
    line = "--eval-every 2"
    assert "holds no checkpoint yet; run the same command to start again" in train(line, ok=False)
    at["step"] = 4
    assert "holds the run up to step 2; run the same command to continue" in train(line, ok=False)
    at["step"] = None
    assert "simcse: continues from step 2 of 4" in train(line).split("simcse: 3/4")[0]  # at the start


# ------------------------------------------------------------------------------------------ evaluate, compare


def test_sts_scores_are_written_by_task_name_with_their_details():
    printed = run("evaluate tiny --suite sts --task STS-B --data data --json scores.json")
    found, model, pairs = json.loads(Path("scores.json").read_text()), OPENED("tiny"), sts.load_sts("STS-B", "data")
    a, b = (torch.from_numpy(model.encode(side)) for side in (pairs.sentences1, pairs.sentences2))
    expected = 100 * spearmanr(torch.cosine_similarity(a.double(), b.double()), pairs.scores).statistic
    assert expected > 20
    assert found["scores"] == {"STS-B": pytest.approx(expected, abs=0.01)}
    assert f"{found['scores']['STS-B']:.2f}" in printed
    assert "avg" not in found and "no average: only STS-B of the seven" in printed
    record = next(record for record in found["records"] if record["key"] == "STS-B")
    facts = {"split": "test", "rows": 1379, "metric": "spearman", "pooling": "mean", "encoder": "tiny"}
    assert record | facts == record


def test_baselines_and_transforms_are_scored_and_named():
    subjects = {"random": "random", "input embeddings of tiny": "static:tiny"} | {
        f"tiny + {transform} fitted on 64 sentences of corpus.txt": f"tiny --posthoc '{transform}' --fit corpus.txt"
        for transform in ("centred", "without 2", "whitening", "flow")
    }
    found = {name: run_json(f"evaluate {subject} --suite ours.tsv") for name, subject in subjects.items()}
    assert [scores["records"][0]["encoder"] for scores in found.values()] == list(subjects)
    assert len({scores["scores"]["ours"] for scores in found.values()}) == len(found)
    printed = run("baselines tiny --suite ours.tsv --fit corpus.txt --json all.json")
    rows = [line.rsplit("  ", 1) for line in printed.splitlines() if re.search(r" -?\d+\.\d\d$", line)]
    found = json.loads(Path("all.json").read_text())
    assert [name.strip() for name, _ in rows] == list(found)
    untrained = ["random", "word overlap", "input embeddings of tiny", "tiny with random weights (seed 0)"]
    assert list(found)[:5] == [*untrained, "tiny"] and len(found) == 7
    assert [score for _, score in rows] == [f"{scores['scores']['ours']:.2f}" for scores in found.values()]


def test_a_failed_evaluation_exits_with_1_and_has_no_score(monkeypatch):
    monkeypatch.setattr(SentenceEncoder, "encode", lambda self, sentences, *_, **__: np.ones((len(sentences), 4)))
    assert "STS-B failed: " in run("evaluate tiny --suite sts --task STS-B --data data --json scores.json", ok=False)
    found = json.loads(Path("scores.json").read_text())
    assert found["scores"] == {} and found["failures"].keys() == {"STS-B"}


def test_the_suites_by_default_depend_on_the_data():
    assert suites_or_default([], None) == ["world"]
    assert suites_or_default([], Path("data")) == ["world", "sts"]


def test_a_users_pairs_are_a_suite_and_a_dev_set():
    assert "dev: 60 pairs of ours.tsv" in train("--dev ours.tsv")
    found = run_json("evaluate run --suite ours.tsv")
    assert found["scores"] == {"ours": pytest.approx(of_run("best")["score"], abs=1e-4)}
    assert found["records"][0]["rows"] == 60
    more = "--suite sts --suite geometry --task STS-B --task uniformity --data data"
    scores = run_json(f"evaluate tiny --suite ours.tsv {more}")["scores"]
    assert scores.keys() == {"STS-B", "uniformity", "ours"}
    for form, starts in (("md", "|"), ("csv", ",split,rows,metric,score")):
        printed = run(f"evaluate tiny --suite ours.tsv --format {form}")
        assert printed.startswith(starts) and "ours" in printed


def test_compare_prints_a_difference_and_its_interval(tmp_path):
    write_checkpoint(tmp_path / "other", seed=1)
    (row,) = run_json("compare tiny other --suite ours.tsv")
    first, second = (run_json(f"evaluate {name} --suite ours.tsv")["scores"]["ours"] for name in ("tiny", "other"))
    assert row["name"] == "ours, paired bootstrap" and row["over"] == "60"
    assert (row["first"], row["second"]) == (pytest.approx(first), pytest.approx(second))
    assert float(row["difference"]) == pytest.approx(second - first, abs=0.006)
    low, high = map(float, row["95 % interval"].split(" to "))
    assert low < second - first < high


def test_an_encoder_is_on_the_accelerator_or_the_named_device(monkeypatch):
    devices = []

    def opened(cls, *arguments, device=None, **options):
        devices.append(str(device))
        return OPENED(*arguments, **options)

    monkeypatch.setattr(SentenceEncoder, "from_pretrained", classmethod(opened))
    for name, value in {"is_available": True, "current_accelerator": torch.device("cuda"), "device_count": 2}.items():
        monkeypatch.setattr(torch.accelerator, name, lambda value=value: value)
    run("evaluate tiny --suite ours.tsv")
    run("evaluate tiny --suite ours.tsv --device cpu")
    run("encode tiny corpus.txt --output v.npy --device cuda:1")
    assert devices == ["cuda", "cpu", "cuda:1"]


# ------------------------------------------------------------------------------------------ encode, search


@pytest.mark.parametrize("file", ["vectors.npy", "vectors.safetensors"])
def test_encode_writes_the_vectors_of_a_file_in_their_order(file):
    def read():
        return np.load(file) if file.endswith("npy") else load_file(file)["vectors"]

    assert "64 vectors of width 8" in run(f"encode tiny corpus.txt --output {file} --pooling cls")
    assert read().dtype == np.float32 and np.allclose(read(), OPENED("tiny", pooling="cls").encode(CORPUS), atol=1e-6)
    run(f"encode tiny corpus.txt --output {file} --normalize --batch-size 5")
    assert np.allclose(np.linalg.norm(read(), axis=1), 1, atol=1e-5)
    run(f"encode prompted corpus.txt --output {file} --prompt-name query")
    assert np.allclose(read(), OPENED("prompted").encode(CORPUS, prompt_name="query"), atol=1e-6)


def test_search_puts_the_prompt_only_before_the_query():
    found = run_json(f"search tiny corpus.txt '{CORPUS[9]}' --top 3")
    assert len(found) == 3 and found[0]["line"] == "10"
    assert found[0]["sentence"] == CORPUS[9] and found[0]["cosine"] == pytest.approx(1, abs=1e-5)
    found, model = run_json("search prompted corpus.txt 'a cat' --prompt-name query"), OPENED("prompted")
    query, texts = model.encode("this cat sees a cat"), model.encode(CORPUS)
    expected = sorted(model.similarity(texts, query[None])[:, 0].tolist(), reverse=True)[:10]
    assert [row["cosine"] for row in found] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("posthoc", ["", "--posthoc whitening --fit corpus.txt"])
def test_evaluate_scores_prompted_sentences(posthoc):
    line = f"evaluate prompted --suite ours.tsv {posthoc} --prompt-name"
    query, document = (run_json(f"{line} {prompt}")["records"][0] for prompt in ("query", "document"))
    assert query["value"] != document["value"] and document["encoder"].endswith("prompt document")


# ------------------------------------------------------------------------------------------ diagnose, ties


def test_a_fault_in_vectors_or_a_corpus_exits_with_1():
    cloud = np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)
    np.save("sound.npy", cloud)
    np.save("collapsed.npy", 1 + 0.001 * cloud)
    assert "no faults" in run("diagnose sound.npy")
    found = run_json("diagnose collapsed.npy", ok=False)
    assert [one["name"] for one in found["findings"]] == ["complete collapse"]
    Path("corpus.txt").write_text("\n".join(make_sentences(20) * 3))
    assert "DUPLICATES IN THE CORPUS" in run("diagnose tiny --texts corpus.txt --corpus corpus.txt", ok=False)


def test_a_score_is_explained_by_the_pooling():
    score = run_json("evaluate tiny --pooling cls --suite ours.tsv")["scores"]["ours"]
    line = "explain-score tiny --task ours.tsv --changes 1 --expected"
    assert "pooling cls" in run(f"{line} {score:.4f}")
    assert "none of" in run(f"{line} 99.99", ok=False)


def test_ties_are_printed_in_each_form():
    Path("scores.csv").write_text("model,a,b,c\nsmall,60,61,59\nmiddle,60.2,60.9,59.3\nlarge,80,81.1,79\n")
    printed = run("ties scores.csv")
    assert printed.splitlines()[1].startswith("large") and "1 of 2 neighbours" in printed
    assert [row["system"] for row in run_json("ties scores.csv")] == ["large", "middle", "small"]


# ------------------------------------------------------------------------------------------ world, methods, data


def test_world_prints_what_the_generator_gives():
    world = World(seed=3)
    sentences, pairs = (run(f"world {line} --seed 3").splitlines() for line in ("sentences 4 --split dev", "pairs 6"))
    assert sentences == [one.text for one in world.sentences(4, "dev")]
    first, second, grade, kind = pairs[5].split("\t")
    expected = world.sts(6)
    assert (first, second, kind) == (expected.sentences1[5], expected.sentences2[5], expected.subsets[5])
    assert float(grade) == expected.scores[5] == 5.0


def test_methods_lists_all_by_family(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    printed = run("methods")
    families = {method.family for method in METHODS.values()}
    heads = [line for line in printed.splitlines() if not line.startswith("   ")]
    assert len(heads) == len(METHODS) + len(families)
    assert max(map(len, printed.splitlines())) <= 80
    assert all(re.search(rf"^  {name} +\S", printed, re.MULTILINE) for name in METHODS)
    places = [printed.index(part) for part in ("baseline:", "  simcse ", "loss:", "  imsimcse ")]
    assert places == sorted(places)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_shown_with_parameters_and_variants(name):
    printed = run(f"methods {name}")
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


def test_data_check_names_missing_and_damaged_files():
    printed = run("data check data --allow-missing")
    assert re.search(r"ok .*STS-B +test +1379 rows", printed) and re.search(r"missing .*STS12", printed)
    assert re.match(r"\d+ of \d+ are missing: run `cselab data fetch`", run("data check data", False, "stderr"))
    file = Path("cut/STS/STSBenchmark/sts-dev.csv")
    file.parent.mkdir(parents=True)
    file.write_text(Path("data", *file.parts[1:]).read_text()[:-200])
    assert re.search(rf"damaged .*STS-B .*{file}", run("data check cut --allow-missing", ok=False))


@pytest.mark.filterwarnings("ignore:.*rows have no text")
def test_data_negate_writes_the_rows_that_sncse_trains_on():
    lines = [f"The {one} is\tnear.\n\nA {one} sings.\n" for one in ("cat", "dog", "bird", "child")]
    Path("text.txt").write_text("".join(lines))
    assert "8 rows, 4 of them denied by 'It is not true that'" in run("data negate text.txt rows.tsv")
    assert Path("rows.tsv").read_text().splitlines()[:3] == [
        "sentence\tnegation",
        "The cat is near.\tThe cat is not near.",
        "A cat sings.\tIt is not true that a cat sings.",
    ]
    run("train sncse_dropout --corpus rows.tsv --output run --steps 1 --batch-size 4 --dev none")
    assert Path("run/model.safetensors").exists()


def test_data_fetch_prints_each_result_and_fails_if_one_did(monkeypatch):
    calls = []

    def fetching(*statuses):
        def fetch(*arguments):
            calls.append(arguments)
            yield from (Fetched(STS_TASKS[row], status, "in detail") for row, status in enumerate(statuses))

        monkeypatch.setattr("cselab.data.fetch.fetch", fetch)

    fetching("fetched", "kept")
    printed = run("data fetch here")
    assert printed.splitlines()[:2] == ["fetched  STS12    in detail", "kept     STS13    in detail"]
    assert "GoogleNews are not fetched" in printed
    fetching("fetched", "refused", "kept")
    printed = run("data fetch here --task STS12 --task STS13", ok=False)
    assert "refused  STS13" in printed and "STS14" in printed and "GoogleNews" not in printed
    assert calls == [(Path("here"), None), (Path("here"), ["STS12", "STS13"])]


def test_data_fetch_gets_a_training_corpus_by_its_name(monkeypatch):
    calls = []

    def fetched(name, folder):
        calls.append((name, folder))
        return folder / f"{name}.txt", True

    monkeypatch.setattr("cselab_lab.experiments.corpora.fetch_corpus", fetched)
    printed = run("data fetch wiki1m nli here")
    assert calls == [("wiki1m", Path("here")), ("nli", Path("here"))]
    assert "fetched  wiki1m   here/wiki1m.txt (1,000,000 rows, text not verified" in printed


def test_data_fetch_without_a_network_names_the_next_step(monkeypatch):
    for name, value in {"HF_HUB_OFFLINE": True, "HF_HUB_CACHE": "cache"}.items():
        monkeypatch.setattr(f"huggingface_hub.constants.{name}", value)
    error = run("data fetch here --task MR", ok=False)
    assert "cannot be reached" in error and "Not fetched: MR." in error and "cselab data check" in error


# ------------------------------------------------------------------------------------------ notebooks


@pytest.mark.lesson
def test_notebooks_run_and_leave_pages_reports_and_an_exit_code(tmp_path):
    numbers = "from cselab_lab.headless.record import record\nrecord('size', size)\nrecord('half', size / 2, 0.5)"
    Path("notebooks").mkdir()
    for name, source in {"00_good": numbers, "01_bad": "1 / 0"}.items():
        cells = [new_code_cell("size = 3", metadata={"tags": ["parameters"]}), new_code_cell(source)]
        nbformat.write(new_notebook(cells=cells), f"notebooks/{name}.ipynb")
    where = "--folder notebooks --output out --profile smoke"
    run(f"notebooks run 00 {where} --quiet --update-recorded")
    recorded = Path("notebooks/recorded/00_good.smoke.json")
    recorded.write_text(recorded.read_text().replace('"value": 3', '"value": 4'))
    printed = run(f"notebooks run {where} --require-recorded --summary ci/summary.md", ok=False)
    assert "1 of 2 within tolerance" in printed and "00_good  FAILED" in printed and "00_good  passed" not in printed
    assert "01_bad  FAILED" in printed and "ZeroDivisionError" in printed
    assert Path("out/00_good.html").exists() and Path("out/records.json").exists()
    summary = Path("ci/summary.md").read_text()
    assert "| 00_good | smoke | **failed** |" in summary and "1 of 2 within tolerance" in summary
    assert "* problem: 'size' is 3, recorded was 4 (tolerance 1e-06)" in summary
    assert "00_good  passed" in run(f"notebooks run 00 {where} --set size=5")


def test_notebooks_are_listed_by_title_and_copied():
    assert re.search(r"^00_tour +00 · .* \(recorded: .*smoke", run("notebooks list"), re.MULTILINE)
    assert "copied: work/00_tour.ipynb" in run("notebooks copy work")
    assert "unchanged: " in run("notebooks copy work")


# ------------------------------------------------------------------------------------------ the line itself


def test_names_known_without_torch_are_those_of_registries():
    assert names.methods_with("rows") == [] and "moco" in names.methods_with("queue")
    fields = {field["name"]: field for field in names.train_settings()}
    assert {name: field["default"] for name, field in fields.items()} == asdict(TrainConfig())
    assert (fields["steps"]["ge"], fields["warmup"]["lt"], fields["clip"]["gt"]) == (1, 1, 0)
    assert fields["precision"]["choices"] == ["auto", "fp32", "bf16"] and fields["lr"]["kind"] == "float"
    table = json.loads(FILE.read_text(encoding="utf-8"))
    assert table == of_the_classes(), "run: python scripts/reference_pages.py registered.json"
    lists = {"poolings": POOLINGS, "transforms": NAMES, "dev": CHOICES, "recipes": BUNDLED, "lessons": SIZES}
    assert {kind: names.names(kind) for kind in lists} == {kind: list(held) for kind, held in lists.items()}
    for kind, held in {"methods": METHODS, "suites": SUITES}.items():
        assert sorted(names.names(kind)) == sorted(held)
    assert names.purposes() == {name: profile.purpose for name, profile in PROFILES.items()}


def test_the_program_completes_refuses_and_stops_with_its_pipe():
    def done(line, **environment):
        line = f"{Path(sys.executable).with_name('cselab')} {line}"
        return subprocess.run(line, shell=True, capture_output=True, text=True, env=os.environ | environment)

    assert run("--version") == f"cselab {cselab.__version__}\n"
    completed = done("", _CSELAB_COMPLETE="bash_complete", COMP_WORDS="cselab train whi", COMP_CWORD="2")
    assert completed.stdout.split() == ["plain,whitenedcse"]
    refused = done("methods simsce")
    assert refused.returncode == 2 and "unknown method 'simsce'" in refused.stderr
    assert "Traceback" not in refused.stdout + refused.stderr
    stopped = done("world sentences 3000 | head -n 1")
    assert len(stopped.stdout.splitlines()) == 1 and stopped.stderr == ""


def test_a_warning_is_one_line_without_a_path(monkeypatch):
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
    monkeypatch.setattr(sys, "argv", ["cselab", "--version"])
    with pytest.raises(SystemExit):
        cli.main()
    assert warnings.formatwarning(UserWarning("of two\n  lines"), UserWarning, "a.py", 7) == "Warning: of two lines\n"


@pytest.mark.parametrize(
    "missing, line, said",
    [
        (
            "papermill",
            "notebooks run 00 --profile smoke --output out",
            "pip install papermill, or all in a clone with pip install '.[notebooks]'",
        ),
        ("peft", f"train simcse {READ} --lora 2 --output run", "Error: adapters need peft: pip install peft\n"),
    ],
)
def test_a_missing_library_is_named_with_its_installation(missing, line, said, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    assert said in run(line, ok=False)


def test_full_memory_is_one_sentence(monkeypatch):
    with pytest.raises(RuntimeError) as real:
        torch.empty(1 << 46)  # 256 TB, and the error of this system
    words = "[enforce fail] DefaultCPUAllocator: not enough memory: you tried to allocate 1 bytes"
    for error in [MemoryError(), torch.OutOfMemoryError("CUDA out of memory"), RuntimeError(words), real.value]:

        def full(*_, error=error, **__):
            raise error

        monkeypatch.setattr(SentenceEncoder, "encode", full)
        printed = run("encode tiny corpus.txt --output v.npy", ok=False)
        assert printed.startswith("Error: out of memory: use a smaller --batch-size")


@pytest.mark.parametrize(
    "given, left",
    [({}, (None, "10000")), ({"GOMP_SPINCOUNT": "7"}, (None, "7")), ({"OMP_WAIT_POLICY": "active"}, ("active", None))],
)
def test_waiting_threads_sleep_soon_by_default(given, left, monkeypatch):
    for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT"):
        monkeypatch.setenv(name, given.get(name, ""))
        if name not in given:
            monkeypatch.delenv(name)
    monkeypatch.setattr(sys, "argv", ["cselab", "-h"])
    cli.main()
    assert (os.environ.get("OMP_WAIT_POLICY"), os.environ.get("GOMP_SPINCOUNT")) == left
