"""Altered files, full disks, killed processes, numbers that are none: told in a sentence, and nothing is lost."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from cselab_lab import cli
from cselab_lab.headless.notebooks import run_notebooks
from safetensors.torch import load_file, save_file
from stsb import write_stsb
from tiny import make_encoder, make_sentences, short_run, stop_at, write_checkpoint

import cselab
from cselab import SentenceEncoder, evaluate
from cselab._util.checksums import CheckpointError
from cselab.data import DataError, load_sts
from cselab.encoders.encoder import TruncationWarning
from cselab.encoders.text import CHARACTERS
from cselab.evaluators import PairsEvaluator, UnlabelledEvaluator
from cselab.methods import METHODS, create_method
from cselab.metrics.degenerate import DegenerateEmbeddings
from cselab.training.run_folder import RunFolderError

CORPUS = make_sentences(40)
CONFIG = {"steps": 4, "eval_every": 2}


def pairs(seed):
    sentences = make_sentences(24, seed)
    return [(a, b, float(row % 6)) for row, (a, b) in enumerate(zip(sentences[::2], sentences[1::2], strict=True))]


def run(output, evaluator=None, corpus=CORPUS, **options):
    return short_run(output=output, evaluator=evaluator, corpus=corpus, **CONFIG | options)


def command(*arguments):
    result = CliRunner(env={"CSELAB_HEADLESS": "1"}).invoke(cli.app, list(map(str, arguments)))
    assert isinstance(result.exception, SystemExit) and result.exit_code == 1, repr(result.exception)
    assert len(result.stderr.splitlines()) == 1
    return result.stderr


# ------------------------------------------------------------------------------------------ two dev sets


@pytest.mark.parametrize(
    "first, second, said",
    [
        (PairsEvaluator(pairs(1)), PairsEvaluator(pairs(2)), "a different dev .sha256 was"),
        (PairsEvaluator(pairs(1)), UnlabelledEvaluator(CORPUS), "a different dev .sentences was None, now 40"),
        (UnlabelledEvaluator(CORPUS), UnlabelledEvaluator(CORPUS[:30]), "a different dev .sentences was 40, now 30"),
        (PairsEvaluator(pairs(1)), None, "a different dev"),
        (None, PairsEvaluator(pairs(1)), "a different dev .was None, now"),
    ],
)
def test_a_stopped_run_does_not_go_on_with_another_dev_set(first, second, said, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, first, callbacks=[stop_at(3, KeyboardInterrupt)])
    with pytest.raises(RunFolderError, match=said):
        run(tmp_path, second)
    assert run(tmp_path, first).resumed_from == 2


# ------------------------------------------------------------------------------------------ a full disk

ON_A_SMALL_DISK = """
import subprocess
os.mkdir("disk")
subprocess.run("mount -t tmpfs -o size=2m tmpfs disk".split(), check=True)
disk = os.path.abspath("disk")

def fill():
    with open("disk/filler", "wb", buffering=0) as filler:
        try:
            while True: filler.write(bytes(4096))
        except OSError: pass

save, when = t.SentenceEncoder.save_pretrained, {when!r}
if when == "in the final save":
    t.SentenceEncoder.save_pretrained = lambda *given: (fill(), save(*given))
try:
    t.run(disk + "/run", callbacks=[lambda run, row: row["step"] == when and fill()])
    print("it fitted")
except OSError as error:
    print(error)
os.remove("disk/filler")
t.SentenceEncoder.save_pretrained = save
again = t.run(disk + "/run")
print(again.resumed_from, again.encoder.weights_hash())
"""


@pytest.mark.parametrize("when", [3, "in the final save"])
def test_on_a_full_disk_a_run_stops_with_a_sentence(when, ended, tmp_path):
    """On a full disk a run stops with a sentence and goes on when there is space."""
    if when not in ended:
        pytest.skip("a small disk cannot be mounted here: that takes Linux and root")
    folder, code = ended[when]
    said, after = (folder / "said").read_text().strip().splitlines()
    assert (
        code == 0
        and said.startswith(f"{folder}/disk/run")
        and "could not be written (no space left on the disk)" in said
    )
    assert "free some space and run the same command again" in said
    assert after.split() == ["2", run(tmp_path / "whole").encoder.weights_hash()]


# Each script in a process and a folder of its own; one process imports torch, and forks.
FORKS = """
import json, os, sys
sys.path.insert(0, {tests!r})
import test_worst_day as t
codes = []
for number, script in enumerate({scripts!r}):
    if not (child := os.fork()):
        os.mkdir(str(number))
        os.chdir(str(number))
        sys.stdout = open("said", "w", buffering=1)
        try:
            exec(script)
        except BaseException as error:
            print(repr(error))
            os._exit(1)
        os._exit(0)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(json.dumps(codes))
"""


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """By script its folder and its exit code."""
    folder = tmp_path_factory.mktemp("ended")
    unshared = ["unshare", "--mount"] if shutil.which("unshare") else []
    if unshared and subprocess.run([*unshared, *"mount -t tmpfs tmpfs /mnt".split()], capture_output=True).returncode:
        unshared = []
    scripts = {when: ON_A_SMALL_DISK.format(when=when) for when in (3, "in the final save") if unshared}
    scripts |= {moves: KILLED_WHILE_SAVING.format(moves=moves) for moves in (1, 5)}
    scripts["checkpoint"] = KILLED_IN_A_CHECKPOINT
    code = FORKS.format(tests=str(Path(__file__).parent), scripts=[*scripts.values()])
    environment = os.environ | {"OMP_NUM_THREADS": str(torch.get_num_threads())}
    line = [*unshared, sys.executable, "-c", code]
    done = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    codes = json.loads(done.stdout.splitlines()[-1])
    return {name: (folder / str(at), code) for at, (name, code) in enumerate(zip(scripts, codes, strict=True))}


@pytest.fixture
def full_disk(monkeypatch):
    """Nothing more can be put on the disk."""

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("cselab._util.writing.os.fsync", refuse)


@pytest.mark.parametrize("suffix", ["npy", "safetensors"])
def test_vectors_are_written_aside_and_on_a_full_disk(full_disk, suffix, tmp_path):
    """Vectors are written aside and on a full disk the old ones stay."""
    encoder = write_checkpoint(tmp_path / "encoder")
    (tmp_path / "corpus.txt").write_text("\n".join(CORPUS))
    output = tmp_path / f"vectors.{suffix}"
    output.write_bytes(b"from before")
    said = command("encode", encoder, tmp_path / "corpus.txt", "--output", output)
    assert f"{output} could not be written (no space left on the disk): free some space" in said
    assert output.read_bytes() == b"from before" and not list(tmp_path.glob("*.part"))


def test_an_encoder_that_cannot_be_saved_leaves_the_one_before(tmp_path, monkeypatch):
    make_encoder(seed=1).save_pretrained(tmp_path)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("cselab.encoders.folder._write_json", full)
    with pytest.raises(OSError, match=r"could not be written \(no space left on the disk\)"):
        make_encoder(seed=2).save_pretrained(tmp_path)
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


# ------------------------------------------------------------------------------------------ killed while saving

KILLED_WHILE_SAVING = """
import cselab._util.writing as writing
moves, move = [], os.replace
def replace(source, place):
    if "saving.part" in str(source):
        moves.append(place)
        if len(moves) == {moves}: os._exit(9)
    move(source, place)
writing.os.replace = replace
t.run("run")
"""


@pytest.mark.parametrize("moves", [1, 5])
def test_a_run_killed_in_its_final_save_is_no_encoder(moves, ended, tmp_path):
    """A run killed in its final save is no encoder and the next one clears up."""
    folder, code = ended[moves]
    output = folder / "run"
    assert code == 9 and (output / "saving.part").is_dir()
    with pytest.raises(CheckpointError, match=r"config\.json is missing: the run is not finished"):
        SentenceEncoder.from_pretrained(output)
    finished = run(output)
    whole = run(tmp_path / "whole")
    assert finished.encoder.weights_hash() == whole.encoder.weights_hash()
    names = [{file.name for file in folder.iterdir()} for folder in (output, tmp_path / "whole")]
    assert names[0] == names[1] and not any(name.endswith(".part") for name in names[0])


KILLED_IN_A_CHECKPOINT = """
import signal
import cselab.encoders.checkpoint as checkpoint
save, saved = checkpoint.save_file, []
def save_file(tensors, file, **options):
    saved.append(file)
    if len(saved) == 2:
        file.with_name(".tmpQ1w2E3").write_bytes(b"half")
        os.kill(os.getpid(), signal.SIGTERM)
    save(tensors, file, **options)
checkpoint.save_file = save_file
t.run("run", method="mocose", checkpoint_every=1)
"""


def content(folder):
    """The files of a folder, byte by byte; of run.json all but the time that it took."""
    files = {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    said = json.loads(files.pop("run.json"))
    return files | {name: value for name, value in said.items() if name not in ("seconds", "sha256")}


def test_a_run_ended_while_its_checkpoint_was_written_leaves(ended, tmp_path):
    """A run ended while its checkpoint was written leaves what an uninterrupted one leaves."""
    folder, code = ended["checkpoint"]
    output = folder / "run"
    assert code == -signal.SIGTERM
    assert (output / ".tmpQ1w2E3").exists() and (output / "checkpoint.safetensors").exists()
    assert run(output, method="mocose", checkpoint_every=1).resumed_from == 1
    for again in range(3):  # safetensors wrote two entries of metadata now in this order, now in that
        run(tmp_path / f"whole-{again}", method="mocose", checkpoint_every=1)
        assert content(output) == content(tmp_path / f"whole-{again}")


def test_a_run_out_of_patience_that_is_interrupted(tmp_path, monkeypatch):
    """A run out of patience that is interrupted in its final save does not train on."""

    def worse(encoder):
        worse.score -= 1
        return {"score": worse.score}

    def interrupted(*_):
        raise KeyboardInterrupt

    config = {"steps": 8, "patience": 1}
    worse.score = 0
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(SentenceEncoder, "save_pretrained", interrupted)
        run(tmp_path / "run", worse, **config)
    assert run(tmp_path / "run", worse, **config).stopped == "no better dev score in 1 evaluations, step 4"
    worse.score = 0
    run(tmp_path / "whole", worse, **config)
    assert content(tmp_path / "run") == content(tmp_path / "whole")


# ------------------------------------------------------------------------------------------ altered files


@pytest.fixture(scope="module")
def with_queue(tmp_path_factory):
    """A finished run of a method that has a state of its own, under dev pairs, whose encoder has a head."""
    return read_back(tmp_path_factory.mktemp("finished") / "run").output


def read_back(folder):
    return run(folder, PairsEvaluator(pairs(1)), method="esimcse", representation="head")


def better_score(file):
    file.write_text(re.sub(r'"score": -?\d+', '"score": 99', file.read_text()))


def heavier_word(file):
    weights = load_file(file)
    weights["embeddings.word_embeddings.weight"][7] += 0.01
    save_file(weights, file, metadata={"format": "pt"})


def swapped_words(file):
    cat, dog = file.read_text().split('"cat"')
    file.write_text('"dog"'.join([cat, dog.replace('"dog"', '"cat"')]))


def set_in(**changes):
    return lambda file: file.write_text(json.dumps(json.loads(file.read_text()) | changes))


@pytest.mark.parametrize(
    "file, alter, said",
    [
        ("history.jsonl", better_score, "is not"),
        ("run.json", better_score, "is not"),
        ("cselab.json", set_in(max_length=12), "is not"),
        ("1_Pooling/config.json", set_in(pooling_mode_cls_token=True), "is not"),
        ("tokenizer.json", swapped_words, "is not"),
        ("model.safetensors", heavier_word, "is not"),
        ("method.safetensors", lambda file: file.write_bytes(file.read_bytes()[:-4] + b"1234"), "is not"),
        ("method.safetensors", Path.unlink, "is missing"),
        ("history.jsonl", Path.unlink, "is missing"),
    ],
)
def test_a_finished_run_that_was_altered_is_not_read_back(file, alter, said, with_queue, tmp_path):
    folder = shutil.copytree(with_queue, tmp_path / "run")
    alter(folder / file)
    of_encoder = not file.startswith(("history", "run", "method"))
    for opened in (read_back, SentenceEncoder.from_pretrained) if of_encoder else (read_back,):
        with pytest.raises(CheckpointError, match=rf"run/{re.escape(file)} {said}"):
            opened(folder)


def test_runs_without_checksums_as_earlier_versions_wrote(with_queue, tmp_path):
    """Runs without checksums as earlier versions wrote them are read back."""
    folder = shutil.copytree(with_queue, tmp_path / "run")
    for file in ("run.json", "cselab.json"):
        without(folder / file, "sha256")
    old, new = read_back(folder), read_back(with_queue)
    assert old.history == new.history and old.best == new.best
    assert old.encoder.weights_hash() == new.encoder.weights_hash()


def without(file, *names):
    said = json.loads(file.read_text())
    file.write_text(json.dumps({name: value for name, value in said.items() if name not in names}))


@pytest.mark.parametrize(
    "file, damage, said",
    [
        *(("run.json", lost, f"damaged ('{lost}' is missing, or no such value): rest") for lost in ("steps", "best")),
        ("history.jsonl", lambda file: file.write_text(""), "missing or empty"),
        ("history.jsonl", lambda file: file.write_text("{}\n"), "damaged"),
    ],
)
def test_a_record_that_lacks_something_is_named(file, damage, said, with_queue, tmp_path):
    folder = shutil.copytree(with_queue, tmp_path / "run")
    without(folder / "run.json", "sha256", damage)
    if callable(damage):
        damage(folder / file)
    with pytest.raises(CheckpointError, match=re.escape(f"{file} is {said}")):
        read_back(folder)


@pytest.mark.parametrize("name", ["checkpoint", "best"])
def test_a_checkpoint_of_another_run(name, tmp_path):
    """A checkpoint of another run or under another name is refused."""
    evaluator = PairsEvaluator(pairs(1))
    for folder, corpus in (("one", CORPUS), ("other", make_sentences(40, 7))):
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path / folder, evaluator, corpus, callbacks=[stop_at(3, KeyboardInterrupt)])
    mine, file = tmp_path / "one", f"{name}.safetensors"
    kept = (mine / file).read_bytes()
    shutil.copy(tmp_path / "other" / file, mine / file)
    with pytest.raises(
        RunFolderError, match=rf"one/{name}\.safetensors holds a run with a different corpus \(sha256 was"
    ):
        run(mine, evaluator)
    swapped = {"checkpoint": "best", "best": "checkpoint"}[name]
    (mine / file).write_bytes(kept)
    shutil.copy(mine / f"{swapped}.safetensors", mine / file)
    with pytest.raises(CheckpointError, match=rf"{name}\.safetensors does not fit this run .*Restore the file, or"):
        run(mine, evaluator)
    (mine / file).write_bytes(kept)
    assert run(mine, evaluator).resumed_from == 2


@pytest.fixture(scope="module")
def with_head(tmp_path_factory):
    """A finished run whose representation is its head."""
    return run(tmp_path_factory.mktemp("headed") / "run", steps=1, representation="head").output


@pytest.fixture
def of_others(with_head, tmp_path):
    """A folder as sentence-transformers writes it: transformer, pooling, dense layer."""
    folder = shutil.copytree(with_head, tmp_path / "model")
    (folder / "cselab.json").unlink()
    return folder


def changed(**values):
    """Other values in a JSON file that holds an object."""
    return lambda content: json.dumps(json.loads(content) | values)


def first_module(**values):
    return lambda content: json.dumps([json.loads(content)[0] | values, *json.loads(content)[1:]])


@pytest.mark.parametrize(
    "file, damage, said",
    [
        ("modules.json", first_module(type=7), "not a list of modules with a path and a type"),
        ("1_Pooling/config.json", "[{}]", "is damaged: the file holds"),
        ("2_Dense/config.json", changed(in_features=10**12), "is damaged: its sizes are"),
        ("sentence_bert_config.json", "7", "is damaged: the file holds 7"),
        ("sentence_bert_config.json", changed(max_seq_length=[1]), "'max_seq_length' is"),
        ("tokenizer_config.json", changed(model_max_length=[1]), "leaves no room for a sentence: its model_max"),
        ("tokenizer_config.json", changed(pad_token=None), "a tokenizer without a padding token"),
        ("config.json", changed(num_hidden_layers=1000), "has 1000 layers, and the weights have"),
        ("config.json", changed(hidden_size="wide"), "cannot be opened as an encoder"),
        ("tokenizer.json", '{"version": "1.0"', "no tokenizer that can be opened"),
        ("cselab.json", "[]", "cselab.json is damaged: the file holds"),
        ("cselab.json", '{"pooling": 7}', "cselab.json is damaged: 'pooling' is 7"),
    ],
)
def test_a_damaged_file_of_an_encoder_is_named(file, damage, said, of_others):
    """A damaged file of an encoder is named without a traceback."""
    text = (of_others / file).read_text() if callable(damage) else ""
    (of_others / file).write_text(damage(text) if callable(damage) else damage)
    (of_others.parent / "corpus.txt").write_text("a dog\n")
    assert said in command("search", of_others, of_others.parent / "corpus.txt", "a cat")


def test_a_dense_layer_of_another_width_is_named(of_others):
    folder = of_others / "2_Dense"
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"in_features": 5}))
    state = load_file(folder / "model.safetensors")
    save_file(state | {"linear.weight": state["linear.weight"][:, :5].contiguous()}, folder / "model.safetensors")
    with pytest.raises(CheckpointError, match="a dense layer for 5 numbers but its input has 8"):
        SentenceEncoder.from_pretrained(of_others)


def test_a_change_on_purpose_is_accepted_when_it_is_said(with_queue, tmp_path):
    folder = shutil.copytree(with_queue, tmp_path / "run")
    heavier_word(folder / "model.safetensors")
    without(folder / "cselab.json", "sha256")
    assert SentenceEncoder.from_pretrained(folder).encode(CORPUS[0]).shape == (8,)


def test_weights_of_more_layers_than_the_config_has_are_noticed(tmp_path):
    folder = write_checkpoint(tmp_path, layers=3)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 2}))
    with pytest.raises(CheckpointError, match=r"weights that are not in its config \(.*encoder\.layer\.2\."):
        SentenceEncoder.from_pretrained(folder)


@pytest.mark.parametrize("content", ["", "[]", '{"cells": 3}'])
def test_a_damaged_notebook_is_named(content, tmp_path):
    (tmp_path / "00_tour.ipynb").write_text(content)
    with pytest.raises(ValueError, match=r"00_tour\.ipynb is not a complete notebook"):
        run_notebooks([], "smoke", {}, tmp_path / "out", folder=tmp_path)


def test_code_that_a_folder_brings_is_neither_run(tmp_path, monkeypatch):
    """Code that a folder brings is neither run nor asked about."""
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("it asked"))
    folder = write_checkpoint(tmp_path / "model")
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    config = json.loads((folder / "config.json").read_text())
    config["auto_map"] = {"AutoConfig": "evil.Config", "AutoModel": "evil.Model", "AutoTokenizer": "evil.Tokenizer"}
    (folder / "config.json").write_text(json.dumps(config))
    assert SentenceEncoder.from_pretrained(folder).encode(CORPUS[0]).shape == (8,)  # its own BERT, without the code
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "evil"}))
    with pytest.raises(CheckpointError, match="cannot be opened as an encoder"):
        SentenceEncoder.from_pretrained(folder)
    assert not (tmp_path / "ran").exists()


def test_the_code_of_a_folder_is_refused_everywhere():
    """Wherever transformers opens a folder its code is refused."""
    calls = [
        call
        for file in Path(cselab.__file__).parent.rglob("*.py")
        for call in re.findall(r"\bAuto\w+\.from_pretrained\((?:[^()]|\([^()]*\))*\)", file.read_text(encoding="utf-8"))
    ]
    assert len(calls) >= 4
    assert [call for call in calls if "trust_remote_code=False" not in call] == []


# ------------------------------------------------------------------------------------------ numbers that are none


def test_weights_that_are_not_numbers_give_no_vectors(tmp_path):
    """Weights that are not numbers give no vectors and no score."""
    encoder = make_encoder()
    with torch.no_grad():
        encoder.backbone.encoder.layer[0].output.dense.bias[3] = float("nan")
    with pytest.raises(DegenerateEmbeddings, match=r"contain such numbers \(.*layer\.0\.output\.dense\.bias\)"):
        encoder.encode(CORPUS)
    scores = evaluate(encoder, pairs(1))
    assert scores.scores == {} and "not finite" in scores.failures["pairs"]
    encoder.save_pretrained(tmp_path / "encoder")
    (tmp_path / "corpus.txt").write_text("\n".join(CORPUS))
    said = command("encode", tmp_path / "encoder", tmp_path / "corpus.txt", "--output", tmp_path / "v.npy")
    assert "embeddings are not finite (NaN or Inf)" in said and not (tmp_path / "v.npy").exists()


@pytest.mark.parametrize("name", METHODS)
def test_hyper_parameters_out_of_their_range_are_refused(name):
    """Hyper parameters out of their range are refused when the method is made."""
    for parameter, default in METHODS[name].hyperparameters().items():
        values = ["hot", float("nan"), float("inf")] if type(default) in (int, float) else []
        for value in [*values, *([-1.0] if parameter == "temperature" else [])]:
            with pytest.raises(ValueError, match=rf"{parameter} of {name} is"):
                create_method(name, **{parameter: value})


# ------------------------------------------------------------------------------------------ data


def test_a_line_of_50_megabytes_is_cut_before_it_is_tokenised(monkeypatch):
    encoder = make_encoder()
    longest, inner = [], encoder.tokenizer.backend_tokenizer

    class Watched:
        def encode_batch_fast(self, texts):
            longest.append(max(map(len, texts)))
            return inner.encode_batch_fast(texts)

    monkeypatch.setattr(type(encoder.tokenizer), "backend_tokenizer", Watched())
    line = "the cat " * 6_250_000
    with pytest.warns(TruncationWarning, match="1 of 2 sentences were cut"):
        vectors = encoder.encode([line, "the cat"])
    encoder.tokenize([line, "the cat"], max_length=8)
    assert longest == [CHARACTERS * encoder.max_length, CHARACTERS * 8]
    with pytest.warns(TruncationWarning):
        assert np.array_equal(vectors[0], encoder.encode("the cat " * encoder.max_length))


@pytest.fixture
def stsb(tmp_path):
    sentences = make_sentences(40)
    return write_stsb(tmp_path, lambda _, row: (f"{row % 51 / 10}", sentences[row % 40], sentences[row % 39]))


@pytest.mark.parametrize(
    "first, said",
    [
        ("main file 2012 5.0 17 cat dog", r"sts-test\.csv, line 1: the score 17 is not between 0 and 5; are the col"),
        ("file 2012 17 5.0 cat dog dog", "the score 'cat' is not a number"),
        ("main file 2012 17 -0.5 cat dog", r"line 1: the score -0\.5 is not between 0 and 5"),
    ],
)
def test_sts_files_whose_columns_shifted(first, said, stsb):
    """Sts files whose columns shifted or whose scores cannot be are refused."""
    file = stsb / "STS" / "STSBenchmark" / "sts-test.csv"
    file.write_text(first.replace(" ", "\t") + "\n" + file.read_text().split("\n", 1)[1])
    with pytest.raises(DataError, match=said):
        load_sts("STS-B", stsb)


def test_sts_of_another_text_never_scores_without_a_loud_word(stsb, tmp_path):
    scores = evaluate(make_encoder(), "sts", stsb, ["STS-B"])
    loud = "STS-B was scored on unknown text: 1379 rows as published, but neither the published sentences nor scores"
    assert loud in str(scores) and loud in scores.doubts[0]
    encoder = write_checkpoint(tmp_path / "encoder")
    line = ["evaluate", encoder, "--suite", "sts", "--task", "STS-B", "--data", tmp_path, "--format", "csv"]
    result = CliRunner().invoke(cli.app, list(map(str, line)))
    assert loud in result.stderr and "STS-B" in result.stdout
