import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from pretraining import corpus
from pretraining import pretrain as pretraining
from pretraining.corpus import TokenizedCorpus, token_counts, tokenize_corpus, train_tokenizer
from pretraining.pretrain import (
    PretrainConfig,
    make_batch,
    new_model,
    pretrain,
    pretrain_from_files,
    pretraining_losses,
)
from pretraining.warm_start import token_vectors
from safetensors.torch import load_file
from tiny import make_sentences
from transformers import AutoTokenizer, BertForPreTraining

from cselab import SentenceEncoder
from cselab.data import read_sentences
from cselab.encoders.checkpoint import load_checkpoint, unpack

SMALL = PretrainConfig(
    layers=1, width=16, heads=2, vocabulary=160, length=32, steps=6, batch_size=4, lr=1e-2, checkpoint_every=2
)
LOREM = make_sentences(300)


@pytest.fixture(autouse=True)
def full_precision(monkeypatch):
    """The same arithmetic whatever machine this is."""
    monkeypatch.setattr(pretraining, "faster_in_bf16", lambda: False)


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(LOREM, 160)


@pytest.fixture(scope="module")
def corpora(tokenizer):
    return [tokenize_corpus(tokenizer, LOREM, neighbours=following) for following in (True, False)]


@pytest.fixture(scope="module")
def counts(tokenizer, corpora):
    return token_counts(tokenizer, corpora)


class Numbered:
    """A tokenizer of which only the special tokens count; the tokens of its corpus are their own places."""

    cls_token_id, sep_token_id, mask_token_id = 2, 3, 4

    def __len__(self):
        return 60_000


def numbered_corpus(neighbours, longest=20, tokens=6000, seed=1):
    """Sentences of one to `longest` tokens; the token at place p is p + 5."""
    ends = np.cumsum(np.random.default_rng(seed).integers(1, longest + 1, size=tokens))
    starts = np.concatenate([[0], ends[ends < tokens]])
    return TokenizedCorpus(np.arange(5, tokens + 5), starts, neighbours)


def unmasked(batch):
    """The rows as they were before masking."""
    ids = batch.input_ids.clone()
    ids.view(-1)[batch.masked] = batch.labels
    return ids


def passages(row):
    """What stands between [CLS], [SEP] and [SEP]: one passage or two, as places in the numbered corpus."""
    first, *others = (row == Numbered.sep_token_id).nonzero().flatten().tolist()
    return [row[1:first] - 5] + [row[first + 1 : end] - 5 for end in others]


def test_a_batch_depends_on_seed_and_step_alone(corpora, tokenizer):
    def batch(seed, step):
        return vars(make_batch(corpora, tokenizer, replace(SMALL, seed=seed), step))

    first = batch(0, 3)
    np.random.default_rng().random(5), torch.rand(3), batch(7, 1)
    for name, value in batch(0, 3).items():
        assert torch.equal(value, first[name])
    assert not torch.equal(batch(0, 4)["input_ids"], first["input_ids"])
    assert not torch.equal(batch(1, 3)["input_ids"], first["input_ids"])


@pytest.mark.parametrize("share, length, expected", [(0.15, 64, 10), (0.3, 20, 6), (0.01, 16, 1)])
def test_each_row_has_the_same_number_of_masked_tokens(share, length, expected):
    config = replace(SMALL, mask_share=share, length=length, batch_size=16)
    batch = make_batch([numbered_corpus(True), numbered_corpus(False)], Numbered(), config, 0)
    assert torch.bincount(batch.masked // length, minlength=16).tolist() == [expected] * 16
    assert len(batch.masked.unique()) == 16 * expected


def test_the_labels_are_the_tokens_that_stood_there():
    config = replace(SMALL, batch_size=64)
    batch = make_batch([numbered_corpus(False)], Numbered(), config, 5)
    for row in unmasked(batch):
        (places,) = passages(row)
        assert torch.equal(places, torch.arange(places[0], places[0] + config.length - 2))


def test_tokens_are_masked_in_proportion_to_their_weights():
    """One of two tokens a row, in a place where either may stand: weights 1 to 3 give a quarter and three."""
    rows = replace(SMALL, batch_size=4000, length=32, mask_share=1 / 32)
    corpus = TokenizedCorpus(np.tile(np.array([10, 11], dtype=np.uint16), 500), np.arange(0, 1000, 2), False)
    weights = np.ones(len(Numbered()))
    weights[11] = 3.0
    labels = make_batch([corpus], Numbered(), rows, 0, weights).labels
    assert set(labels.tolist()) == {10, 11}
    assert (labels == 11).double().mean() == pytest.approx(0.75, abs=0.03)  # four standard deviations


def test_of_the_masked_tokens_four_fifths_are_hidden_a_tenth_swapped_a_tenth_left():
    batch = make_batch([numbered_corpus(False)], Numbered(), replace(SMALL, batch_size=1000, length=64), 0)
    found = batch.input_ids.view(-1)[batch.masked]
    hidden, left = found == Numbered.mask_token_id, found == batch.labels
    swapped = ~hidden & ~left
    # 10,000 masked tokens: four standard deviations are 0.016 and 0.012
    assert hidden.float().mean().item() == pytest.approx(0.8, abs=0.016)
    assert left.float().mean().item() == pytest.approx(0.1, abs=0.012)
    assert swapped.float().mean().item() == pytest.approx(0.1, abs=0.012)
    assert found[swapped].min() >= 5


@pytest.mark.parametrize("longest", [8, 20, 200])
def test_a_true_continuation_goes_on_where_the_first_passage_ends(longest):
    corpus, config = numbered_corpus(True, longest), replace(SMALL, batch_size=200)
    batch = make_batch([corpus], Numbered(), config, 0)
    goes_on = {0: [], 1: []}
    for row, types, label in zip(unmasked(batch), batch.token_type_ids, batch.is_next.tolist(), strict=True):
        a, b = passages(row)
        assert torch.equal(a, torch.arange(a[0], a[0] + len(a)))
        assert torch.equal(b, torch.arange(b[0], b[0] + len(b)))
        assert b[0].item() in corpus.starts
        assert len(a) >= config.length // 4 and len(b) >= config.length // 4
        goes_on[label].append(b[0].item() == a[-1].item() + 1)
        assert types.tolist() == [0] * (len(a) + 2) + [1] * (len(b) + 1)
    assert len(goes_on[1]) > 60 and all(goes_on[1])
    assert len(goes_on[0]) > 60 and np.mean(goes_on[0]) < 0.05  # a random passage may be the true one


@pytest.mark.parametrize("neighbours", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_the_smallest_corpus_that_is_accepted_gives_whole_rows(neighbours, seed):
    config = replace(SMALL, batch_size=50)
    sizes = [
        tokens for tokens in range(20, 200) if numbered_corpus(neighbours, 30, tokens, seed).beginnings(config.length)
    ]
    assert sizes[0] >= config.length
    for tokens in sizes[:3]:
        batch = make_batch([numbered_corpus(neighbours, 30, tokens, seed)], Numbered(), config, 0)
        assert batch.labels.max() < tokens + 5


@pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])
@pytest.mark.parametrize("which", [slice(0, 2), slice(0, 1)], ids=["mixed", "neighbours"])
def test_the_losses_are_those_of_transformers(corpora, tokenizer, counts, which, tied):
    config = replace(SMALL, batch_size=16, tie_word_embeddings=tied)
    batch = make_batch(corpora[which], tokenizer, config, 0)
    model = new_model(tokenizer, config, counts)
    labels = torch.full_like(batch.input_ids, -100)
    labels.view(-1)[batch.masked] = batch.labels
    theirs = model(
        input_ids=batch.input_ids, token_type_ids=batch.token_type_ids, labels=labels, next_sentence_label=batch.is_next
    )
    words, neighbours = pretraining_losses(model, batch)
    assert words.item() > 1 and neighbours.item() > 0.1
    assert (words + neighbours).item() == pytest.approx(theirs.loss.item(), abs=1e-5)


@pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])
def test_before_the_first_step_words_are_predicted_as_often_as_they_occur(tokenizer, corpora, counts, tied):
    """With vectors of size 0 the logits are the bias alone: the loss is the entropy of the corpus."""
    model = new_model(tokenizer, replace(SMALL, tie_word_embeddings=tied), counts)
    model.get_output_embeddings().weight.data.zero_()
    share = counts[counts > 0] / counts.sum()
    batch = make_batch(corpora, tokenizer, replace(SMALL, batch_size=512), 0)
    words, _ = pretraining_losses(model, batch)
    assert words.item() == pytest.approx(-(share * np.log(share)).sum(), abs=0.1)
    assert words.item() < np.log(len(tokenizer)) - 0.2


def test_the_tokenizer_of_a_text_is_always_the_same():
    text = [
        f"{'abcdefghijkl'[row % 12]}{'mnopqrst'[row % 8]}{word}" for row, word in enumerate(" ".join(LOREM).split())
    ]
    first, *others = [train_tokenizer(text, 80).backend_tokenizer.to_str() for _ in range(4)]
    assert all(other == first for other in others)


def test_the_ids_of_a_corpus_decode_back_to_its_sentences(tokenizer, corpora):
    corpus = corpora[0]
    ends = [*corpus.starts[1:], len(corpus.ids)]
    decoded = [tokenizer.decode(corpus.ids[a:b].tolist()) for a, b in zip(corpus.starts, ends, strict=True)]
    assert decoded == LOREM
    assert corpus.ids.dtype == np.uint16


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    (folder / "story.txt").write_text("\n".join(LOREM[:200]) + "\n")
    (folder / "scattered.txt").write_text("\n".join(LOREM[200:]) + "\n")
    return folder


def run_on(files, output, config=SMALL, **more):
    return pretrain_from_files(output, [files / "story.txt"], [files / "scattered.txt"], config, **more)


@pytest.fixture(scope="module")
def finished(files, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pretraining, "faster_in_bf16", lambda: False)
        patch.setattr(pretraining, "LOG_EVERY", 3)
        return run_on(files, tmp_path_factory.mktemp("runs") / "whole")


def curve(folder):
    rows = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [{key: value for key, value in row.items() if key != "seconds"} for row in rows]


def test_a_finished_run_is_an_encoder_in_float16_with_its_trained_pooler(finished):
    weights = load_file(finished / "model.safetensors")
    assert {tensor.dtype for tensor in weights.values()} == {torch.float16}
    config = json.loads((finished / "config.json").read_text())
    assert config["hidden_dropout_prob"] == config["attention_probs_dropout_prob"] == 0.1
    assert config["trained_positions"] == 32
    for pooling in ("mean", "cls", "cls_pooler"):
        vectors = SentenceEncoder.from_pretrained(finished, pooling=pooling).encode(LOREM[:3])
        assert vectors.shape == (3, 16) and vectors.dtype == np.float32
    encoder = SentenceEncoder.from_pretrained(finished)
    assert encoder.tokenizer.convert_ids_to_tokens(encoder.tokenizer("The CAT")["input_ids"])[0] == "[CLS]"
    assert encoder.max_length == 128


# in a process of its own: the batch of the fifth step is never made, for the process dies of SIGKILL
KILLED = """
import json, os, signal, sys
from pathlib import Path
from pretraining import pretrain as pretraining

files, output, config = sys.argv[1:]
make = pretraining.make_batch

def dying(corpora, tokenizer, config, step, weights):
    if step == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return make(corpora, tokenizer, config, step, weights)

pretraining.make_batch, pretraining.faster_in_bf16, pretraining.LOG_EVERY = dying, lambda: False, 1
pretraining.pretrain_from_files(
    Path(output), [Path(files) / "story.txt"], [Path(files) / "scattered.txt"],
    pretraining.PretrainConfig(**json.loads(config)),
)
"""


@pytest.mark.process
def test_a_killed_run_ends_with_the_weights_and_the_log_of_one_that_was_not(files, tmp_path, monkeypatch):
    monkeypatch.setattr(pretraining, "LOG_EVERY", 1)
    output = tmp_path / "killed"
    died = subprocess.run(
        [sys.executable, "-c", KILLED, str(files), str(output), json.dumps(asdict(SMALL))],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(pretraining.__file__).parents[1])},
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert not (output / "model.safetensors").exists()
    # a step past the last checkpoint was logged: it is done again, and stands in the log once
    assert [row["step"] for row in curve(output)] == [1, 2, 3, 4, 5]
    with open(output / "log.jsonl", "a") as log:
        log.write('{"step": 6, "tok')  # and a line was torn
    made = []
    make = pretraining.make_batch
    monkeypatch.setattr(pretraining, "make_batch", lambda *arguments: made.append(arguments[3]) or make(*arguments))
    monkeypatch.setattr(corpus, "tokenize_corpus", lambda *_, **__: pytest.fail("tokenized again"))
    run_on(files, output)
    assert made == [4, 5]

    monkeypatch.undo()
    monkeypatch.setattr(pretraining, "LOG_EVERY", 1)
    monkeypatch.setattr(pretraining, "faster_in_bf16", lambda: False)
    whole = run_on(files, tmp_path / "whole")
    theirs, ours = (load_file(folder / "model.safetensors") for folder in (whole, output))
    assert theirs.keys() == ours.keys()
    assert all(torch.equal(theirs[name], ours[name]) for name in ours)
    assert curve(output) == curve(whole)


def test_a_resumed_run_keeps_its_precision_whatever_is_faster_by_then(tokenizer, corpora, tmp_path, monkeypatch):
    used = []

    def losses(model, batch):
        used.append(torch.is_autocast_enabled("cpu"))
        if len(used) == 3:
            raise KeyboardInterrupt
        return pretraining_losses(model, batch)

    monkeypatch.setattr(pretraining, "pretraining_losses", losses)
    monkeypatch.setattr(pretraining, "faster_in_bf16", lambda: True)
    with pytest.raises(KeyboardInterrupt):
        pretrain(tokenizer, corpora, SMALL, tmp_path)
    monkeypatch.setattr(pretraining, "faster_in_bf16", lambda: False)
    pretrain(tokenizer, corpora, SMALL, tmp_path)
    assert used == [True] * 7  # steps 1 2 3, and again 3 4 5 6


@pytest.mark.parametrize("neighbours", [True, False])
def test_a_corpus_too_small_for_one_row_is_named_before_anything_is_made(tokenizer, tmp_path, neighbours):
    small = tokenize_corpus(tokenizer, ["the cat sees a bird"] * 5, neighbours=neighbours)
    large = tokenize_corpus(tokenizer, LOREM, neighbours=True)
    with pytest.raises(ValueError, match=r"corpus 2 has 25 tokens in 5 sentences, too few for a row of 32"):
        pretrain(tokenizer, [large, small], SMALL, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_token_table_starts_as_the_vectors_of_another_encoder(files, finished, tmp_path):
    """Embeddings that learn at a share of nothing stay as they were made."""
    config = replace(SMALL, steps=1, embedding_lr=0.0, width=8)
    output = run_on(files, tmp_path / "warm", config, tokenizer=finished, tokens_from=finished)
    table = load_file(output / "model.safetensors")["bert.embeddings.word_embeddings.weight"].float()
    tokenizer = AutoTokenizer.from_pretrained(finished)
    texts = [
        tokenize_corpus(tokenizer, read_sentences(files / name), neighbours=False)
        for name in ("story.txt", "scattered.txt")
    ]
    counts = np.bincount(np.concatenate([text.ids for text in texts]), minlength=len(tokenizer))
    assert torch.allclose(table, token_vectors(tokenizer, finished, 8, counts), rtol=1e-3, atol=1e-4)


def test_the_embedding_layer_learns_at_its_share_of_the_rate(tokenizer, corpora, counts, tmp_path):
    """Adam's first step moves each number by the rate, whatever its gradient."""
    moved = {}
    for share in (1.0, 0.1, 0.0):
        config = replace(SMALL, steps=1, lr=1e-3, embedding_lr=share, weight_decay=0.0)
        output = pretrain(tokenizer, corpora, config, tmp_path / str(share), precision="fp32")
        before = new_model(tokenizer, config, counts).state_dict()
        tensors, info = load_checkpoint(output / "checkpoint.safetensors")
        after = unpack(tensors, info["model"])
        steps = {name: (after[name] - before[name]).abs().max().item() for name in before}
        within = "bert.embeddings."
        moved[share] = {name.removeprefix(within): step for name, step in steps.items() if within in name}
        without = (within, "decoder", "key.bias")  # softmax does not see a bias of the keys
        others = {name: step for name, step in steps.items() if not any(part in name for part in without)}
        assert min(others.values()) > 5e-4
    assert len(moved[1.0]) == 5  # words, positions, segments, the normalisation's weight and bias
    for name, step in moved[1.0].items():
        assert 5e-4 < step < 1.5e-3
        assert moved[0.1][name] == pytest.approx(0.1 * step, rel=1e-2)
        assert moved[0.0][name] == 0


def test_a_table_of_its_own_predicts_the_words_where_embeddings_stay(tokenizer, corpora, counts, tmp_path):
    """Both start as the given table; the one that predicts learns, and comes with the finished encoder."""
    config = replace(SMALL, steps=1, lr=1e-3, embedding_lr=0.0, tie_word_embeddings=False)
    tokens = torch.randn(len(tokenizer), SMALL.width, generator=torch.Generator().manual_seed(0))
    output = pretrain(tokenizer, corpora, config, tmp_path, tokens=tokens, precision="fp32")
    finished = BertForPreTraining.from_pretrained(output, dtype=torch.float32)
    assert torch.allclose(finished.get_input_embeddings().weight, tokens, atol=2e-3)  # float16
    moved = (finished.get_output_embeddings().weight - tokens).abs()
    assert 5e-4 < moved.median() < 2e-3


def test_a_loss_that_is_no_number_stops_the_run_and_keeps_the_last_checkpoint(tokenizer, corpora, tmp_path):
    config = replace(SMALL, lr=1e30, warmup=0.0, checkpoint_every=1)
    with pytest.raises(FloatingPointError, match=r"step \d: loss is (nan|inf)"):
        pretrain(tokenizer, corpora, config, tmp_path)
    assert (tmp_path / "checkpoint.safetensors").exists() and not (tmp_path / "model.safetensors").exists()
