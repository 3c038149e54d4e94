import json
import os
import signal
import subprocess
import sys
from ast import literal_eval
from dataclasses import replace
from pathlib import Path

import numpy as np
import pretrain
import pytest
import torch
from click.testing import CliRunner
from pretrain import Corpus, PretrainConfig, draw_batch, masked_word_loss, new_model, tokenize, train_tokenizer
from safetensors.torch import load_file
from tiny import make_sentences
from transformers import BertForMaskedLM

from cselab import SentenceEncoder

LOREM = make_sentences(300)
SETTINGS = "layers=1 width=16 heads=2 vocabulary=160 length=32 steps=6 batch_size=4 lr=1e-2 checkpoint_every=2".split()
SHAPE = [word for setting in SETTINGS for word in ("--set", setting)]
SMALL = PretrainConfig(**{name: literal_eval(value) for name, value in (one.split("=") for one in SETTINGS)})


class Numbered:
    """A tokenizer of which only the special tokens count; the tokens of its corpus are their own places."""

    cls_token_id, sep_token_id, mask_token_id = 2, 3, 4

    def __len__(self):
        return 6005


NUMBERED = Corpus(torch.arange(5, 6005, dtype=torch.int16), torch.arange(0, 5900, 7))


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(LOREM, 160)


@pytest.fixture(scope="module")
def corpus(tokenizer):
    return tokenize(tokenizer, LOREM, SMALL.length)


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    file = tmp_path_factory.mktemp("text") / "corpus.txt"
    file.write_text("\n".join(LOREM))
    return file


def test_a_batch_depends_on_seed_and_step_alone(corpus, tokenizer):
    def batch(seed, step):
        return draw_batch(corpus, tokenizer, replace(SMALL, seed=seed), step)

    first = batch(0, 3)
    torch.rand(3), batch(7, 1)
    assert all(map(torch.equal, batch(0, 3), first))
    assert not torch.equal(batch(0, 4)[0], first[0]) and not torch.equal(batch(1, 3)[0], first[0])


def test_a_row_is_the_text_from_the_start_of_a_sentence_on():
    rows, places, labels = draw_batch(NUMBERED, Numbered(), replace(SMALL, batch_size=64), 5)
    whole = rows.scatter(1, places, labels)
    assert set(whole[:, 0].tolist()) == {2} and set(whole[:, -1].tolist()) == {3}
    assert torch.equal(whole[:, 1:-1] - whole[:, 1:2], torch.arange(30).expand(64, -1))
    assert set((whole[:, 1] - 5).tolist()) <= set(NUMBERED.starts.tolist())


def test_masked_tokens_are_hidden_swapped_and_left_8_1_1():
    rows, places, labels = draw_batch(NUMBERED, Numbered(), replace(SMALL, batch_size=1000, length=64), 0)
    assert places.shape == (1000, 10) and all(len(set(row)) == 10 for row in places.tolist())  # 15 % of 64
    assert torch.bincount(places.flatten(), minlength=64)[[0, 63]].tolist() == [0, 0]  # never [CLS] and [SEP]
    found = rows.gather(1, places)
    hidden, left = found == 4, found == labels
    # 10,000 masked tokens: four standard deviations are 0.016 and 0.012
    assert hidden.float().mean().item() == pytest.approx(0.8, abs=0.016)
    assert left.float().mean().item() == pytest.approx(0.1, abs=0.012)
    assert found[~hidden & ~left].min() >= 5


def test_the_loss_is_that_of_transformers(corpus, tokenizer):
    rows, places, labels = draw_batch(corpus, tokenizer, replace(SMALL, batch_size=16), 0)
    model = new_model(tokenizer, SMALL, corpus)
    theirs = model(input_ids=rows, labels=torch.full_like(rows, -100).scatter(1, places, labels)).loss
    assert masked_word_loss(model, rows, places, labels).item() == pytest.approx(theirs.item(), abs=1e-5)


def test_the_first_loss_is_the_entropy_of_the_corpus(tokenizer, corpus):
    """With vectors of size 0 the logits are the bias alone: the loss is the entropy of the corpus."""
    model = new_model(tokenizer, SMALL, corpus)
    model.get_output_embeddings().weight.data.zero_()
    share = np.bincount(corpus.ids, minlength=len(tokenizer)) / len(corpus.ids)
    share = share[share > 0]
    loss = masked_word_loss(model, *draw_batch(corpus, tokenizer, replace(SMALL, batch_size=512), 0)).item()
    assert loss == pytest.approx(-(share * np.log(share)).sum(), abs=0.1)
    assert loss < np.log(len(tokenizer)) - 0.2


def test_the_tokenizer_of_a_text_is_always_the_same():
    words = " ".join(LOREM).split()
    text = [f"{'abcdefghijkl'[row % 12]}{'mnopqrst'[row % 8]}{word}" for row, word in enumerate(words)]
    first, *others = [train_tokenizer(text, 80).backend_tokenizer.to_str() for _ in range(4)]
    assert all(other == first for other in others)


def test_the_ids_of_a_corpus_decode_back_to_its_sentences(tokenizer, corpus):
    assert tokenizer.decode(corpus.ids.tolist()) == " ".join(LOREM)
    ends = corpus.starts[1:].tolist()
    assert [tokenizer.decode(corpus.ids[:end].tolist()) for end in ends[:2]] == [LOREM[0], " ".join(LOREM[:2])]


def run(*arguments, ok=True):
    result = CliRunner().invoke(pretrain.app, [str(argument) for argument in arguments])
    assert (result.exit_code == 0) == ok, result.output
    return result.output


@pytest.fixture(scope="module")
def finished(text, tmp_path_factory):
    output = tmp_path_factory.mktemp("runs") / "whole"
    run(output, "--corpus", text, *SHAPE)
    return output


def test_a_finished_run_is_an_encoder_in_float16(text, finished):
    assert {tensor.dtype for tensor in load_file(finished / "model.safetensors").values()} == {torch.float16}
    model, found = BertForMaskedLM.from_pretrained(finished, output_loading_info=True)
    assert not found["missing_keys"] and model.get_output_embeddings().weight is model.get_input_embeddings().weight
    config = json.loads((finished / "config.json").read_text())
    assert config["hidden_dropout_prob"] == config["attention_probs_dropout_prob"] == 0.1
    assert SentenceEncoder(finished, pooling="cls").encode(LOREM[:3]).shape == (3, 16)
    rows = [json.loads(line) for line in (finished / "log.jsonl").read_text().splitlines()]
    assert [row["tokens"] for row in rows] == [256, 512, 768]
    said = run(finished, "--corpus", text, *SHAPE, "--set", "lr=1", ok=False)
    assert "a different config (lr was 0.01, now 1.0)" in said


# in a process of its own: the fifth step is never made, for the process dies of SIGKILL
KILLED = """
import os, signal, sys
import pretrain

draw = pretrain.draw_batch

def dying(corpus, tokenizer, config, step):
    if step == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return draw(corpus, tokenizer, config, step)

pretrain.draw_batch = dying
pretrain.app(sys.argv[1:])
"""


@pytest.mark.slow
def test_a_killed_run_ends_with_the_weights_of_one_that_was_not(text, finished, tmp_path):
    arguments = [str(tmp_path / "killed"), "--corpus", str(text), *SHAPE]
    path = os.pathsep.join([str(Path(pretrain.__file__).parent), os.environ.get("PYTHONPATH", "")])
    died = subprocess.run(
        [sys.executable, "-c", KILLED, *arguments], capture_output=True, env=os.environ | {"PYTHONPATH": path}
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert SentenceEncoder(tmp_path / "killed").encode(LOREM[:2]).shape == (2, 16)  # what is finished stays
    run(*arguments)
    theirs, ours = (load_file(folder / "model.safetensors") for folder in (finished, tmp_path / "killed"))
    assert theirs.keys() == ours.keys() and all(torch.equal(theirs[name], ours[name]) for name in ours)


def test_word_vectors_are_the_singular_vectors_of_ppmi():
    """Compared with loops over pairs of at most five tokens apart in one sentence; signs are free."""
    sentences = [[5, 6, 7, 5, 8, 9, 6], [9, 8, 5], [7, 7, 6, 9, 5, 5, 6, 8], [6, 5, 9, 8, 7, 6, 5, 8]] * 10
    ids = [token for sentence in sentences for token in sentence]
    starts = np.cumsum([0, *map(len, sentences)][:-1])
    counts = np.zeros((10, 10))
    for sentence in sentences:
        for at, token in enumerate(sentence):
            for other in range(max(0, at - 5), min(len(sentence), at + 6)):
                counts[token, sentence[other]] += other != at
    words = counts.sum(1)
    contexts = words**0.75 / (words**0.75).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        information = np.log(counts / counts.sum() / (words / counts.sum())[:, None] / contexts)
    left = np.linalg.svd(np.where(counts > 0, np.maximum(information, 0), 0))[0][5:, :3]
    corpus = Corpus(torch.tensor(ids, dtype=torch.int16), torch.from_numpy(starts))
    vectors = pretrain.word_vectors(corpus, 10, 3)
    left /= np.linalg.norm(left, axis=1, keepdims=True)
    np.testing.assert_allclose(np.abs(vectors[5:].numpy() * left).sum(1), 1, atol=1e-3)
    assert vectors.norm(dim=1).numpy() == pytest.approx(1)


def test_a_second_stage_starts_from_the_first(text, tmp_path):
    stage = [*SHAPE, *"--set word_vectors=true --set decay=0 --set positions=48".split()]
    run(tmp_path / "first", "--corpus", text, *stage)
    run(tmp_path / "second", "--corpus", text, *stage, "--start", tmp_path / "first", "--set", "seed=1")
    first, second = (load_file(tmp_path / name / "model.safetensors") for name in ("first", "second"))
    other = [tmp_path / "other", "--corpus", text, *stage, "--set", "layers=2", "--start", tmp_path / "first"]
    assert "(1, 16, 2), the settings have (2, 16, 2)" in " ".join(run(*other, ok=False).split())
    table, words = "bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"
    vectors = load_file(tmp_path / "first" / "word_vectors.safetensors")["vectors"]
    assert torch.equal(first[table], (0.8 * vectors).half()) and torch.equal(second[table], first[table])
    assert not torch.equal(second[words], first[words])
    encoder = SentenceEncoder(tmp_path / "second")
    assert encoder.encode(LOREM[:2]).shape == (2, 16) and encoder.trained_positions == 32


def test_a_loss_that_is_no_number_stops_the_run(corpus, tokenizer, tmp_path):
    with pytest.raises(FloatingPointError, match=r"the loss is nan at step \d; try a lower lr"):
        config = replace(SMALL, lr=1e30, warmup=0.0)
        pretrain.pretrain(tokenizer, corpus, config, tmp_path, new_model(tokenizer, config, corpus))
    assert not (tmp_path / "model.safetensors").exists()


def test_a_corpus_too_small_for_one_row_is_refused(tokenizer):
    with pytest.raises(ValueError, match="the corpus has 25 tokens, too few for a row of 32"):
        tokenize(tokenizer, ["the cat sees a bird"] * 5, 32)


@pytest.mark.parametrize(
    "options, said",
    [
        ([], "no corpus: give at least one"),
        (["--corpus", "none.txt"], "none.txt: no such file"),
        (["--set", "depth=3"], "pretrain: unknown parameter 'depth'. It has: layers, width"),
    ],
)
def test_an_impossible_pretraining_makes_nothing(options, said, tmp_path):
    assert said in run(tmp_path / "plain", *options, ok=False)
    assert not (tmp_path / "plain").exists()
