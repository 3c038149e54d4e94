"""Pretrain a small plain BERT: masked words, and whether two passages are neighbours (Devlin et al. 2019).

The result is a *plain* language model, anisotropic as BERT is, for contrastive training to repair. Rows of 64
tokens start at the start of a sentence. A corpus whose lines follow one another (`neighbours`) gives rows of two
passages, the second one the true continuation or a random one, which is the [CLS] vector's task; a corpus of
scattered sentences gives rows of one passage. Batches depend on (seed, step) alone, so a run that is killed
and started again continues as if nothing had happened.
"""

import hashlib
import json
import math
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from cselab._util.checksums import sha256_of
from cselab._util.versions import versions
from cselab.data import read_sentences
from cselab.encoders.folder import quiet_transformers
from cselab.encoders.speed import faster_in_bf16
from cselab.training.resumable import ResumableSteps
from cselab.training.run_folder import RunFolder
from pretraining.corpus import (
    SPECIAL_TOKENS,
    TokenizedCorpus,
    prepared_corpus,
    prepared_tokenizer,
    smooth_inverse_frequency,
    token_counts,
)
from pretraining.warm_start import start_embeddings, token_vectors

LONGEST = 128  # tokens the encoder can take
LOG_EVERY = 100  # steps


@dataclass(frozen=True)
class PretrainConfig:
    """How the encoder is shaped and trained. `steps` optimiser steps of `batch_size` rows of `length` tokens.

    `embedding_lr` is the share of `lr` at which the embedding layer learns (tokens, positions, segments and their
    normalisation): below 1 it keeps more of what it started with, at 0 all of it. `tie_word_embeddings`: words are
    predicted with the token table, as BERT does; False gives them a table of their own, which always learns.
    `mask_share` of the tokens of each row are masked: all alike likely, or, with `subsample`, in proportion to
    subsample / (subsample + the token's share of the text), so that words of content are asked for, not "the"
    (the weights of Arora et al. 2017, to the end of word2vec's subsampling; 1e-3, say).

    Raises:
        ValueError: a value out of its range; names it.
    """

    layers: int = 2
    width: int = 128
    heads: int = 2
    vocabulary: int = 8192
    length: int = 64
    steps: int = 6000
    batch_size: int = 128
    lr: float = 2e-3
    embedding_lr: float = 1.0
    tie_word_embeddings: bool = True
    warmup: float = 0.05
    weight_decay: float = 0.01
    mask_share: float = 0.15
    subsample: float | None = None
    seed: int = 0
    checkpoint_every: int = 500

    def __post_init__(self) -> None:
        ranges = {
            "layers": (1, math.inf), "heads": (1, math.inf), "vocabulary": (1, 2**16), "length": (16, LONGEST),
            "steps": (1, math.inf), "batch_size": (1, math.inf), "lr": (0, math.inf),
            "embedding_lr": (0, 1), "warmup": (0, 1), "weight_decay": (0, math.inf), "mask_share": (0.01, 0.5),
            "seed": (0, math.inf), "checkpoint_every": (1, math.inf),
        }  # fmt: skip
        for name, (least, most) in ranges.items():
            if not least <= getattr(self, name) <= most:
                raise ValueError(f"{name} must be from {least:g} to {most:g}, got {getattr(self, name)}")
        if self.subsample is not None and not (isinstance(self.subsample, int | float) and 0 < self.subsample <= 1):
            raise ValueError(f"subsample must be above 0 and at most 1, or None, got {self.subsample}")
        if self.width < 1 or self.width % self.heads:
            raise ValueError(f"width must be a multiple of heads ({self.heads}), got {self.width}")


@dataclass(frozen=True)
class Batch:
    """Rows of token ids with some positions masked, and what to predict."""

    input_ids: Tensor
    token_type_ids: Tensor
    masked: Tensor  # flat positions of the masked tokens
    labels: Tensor  # the tokens that stood there
    is_next: Tensor  # per row: 1 true continuation, 0 random (BERT numbers them the other way), -100 one passage


def make_batch(
    corpora: Sequence[TokenizedCorpus],
    tokenizer: Any,
    config: PretrainConfig,
    step: int,
    weights: Float[np.ndarray, " v"] | None = None,
) -> Batch:
    """The batch of a step; drawn from (seed, step) alone. `weights`: how readily each token is masked."""
    random = np.random.default_rng([config.seed, step])
    size, length = config.batch_size, config.length
    cls, sep, mask = tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.mask_token_id
    ids = np.empty((size, length), dtype=np.int64)
    types = np.zeros((size, length), dtype=np.int64)
    is_next = np.full(size, -100, dtype=np.int64)
    tokens = np.array([len(corpus.ids) for corpus in corpora], dtype=np.float64)
    for row, which in enumerate(random.choice(len(corpora), size=size, p=tokens / tokens.sum())):
        corpus = corpora[which]
        beginnings, starts = corpus.beginnings(length), corpus.starts
        sentence = random.integers(beginnings)
        if corpus.neighbours:
            first = random.integers(length // 4, length // 2 + 1)
            is_next[row] = random.integers(2)
            # passage A is whole sentences (the end of them where they are long), B starts with a sentence
            end = np.searchsorted(starts, starts[sentence] + first)
            room = int(min(starts[end] - starts[sentence], length - 3 - length // 4))
            other = end if is_next[row] else random.integers(beginnings)
            a, b = corpus.passage(starts[end] - room, room), corpus.passage(starts[other], length - 3 - room)
            ids[row] = np.concatenate([[cls], a, [sep], b, [sep]])
            types[row, room + 2 :] = 1
        else:
            ids[row] = np.concatenate([[cls], corpus.passage(starts[sentence], length - 2), [sep]])
    # a fixed number of masked tokens a row: 80 % [MASK], 10 % a random token, 10 % left as they are
    count = max(1, round(config.mask_share * length))
    # the first of exponential clocks: without replacement, in proportion to the weights
    noise = random.exponential(size=(size, length)) / (1.0 if weights is None else weights[ids])
    noise[(ids == cls) | (ids == sep)] = np.inf
    columns = np.argpartition(noise, count, axis=1)[:, :count]
    masked = (np.arange(size)[:, None] * length + columns).ravel()
    flat = ids.ravel()
    labels = flat[masked].copy()
    kind = random.random(len(masked))
    flat[masked[kind < 0.8]] = mask
    swapped = masked[(kind >= 0.8) & (kind < 0.9)]
    flat[swapped] = random.integers(len(SPECIAL_TOKENS), len(tokenizer), size=len(swapped))
    return Batch(*(torch.from_numpy(array) for array in (ids, types, masked, labels, is_next)))


def new_model(
    tokenizer: Any, config: PretrainConfig, counts: Int[np.ndarray, " v"], tokens: Tensor | None = None
) -> Any:
    """A randomly initialised BERT with both pretraining heads and no dropout; its token table may be given.

    What it predicts at first is how often each token occurs (`counts`), so that no steps go into learning that.
    """
    from transformers import BertConfig, BertForPreTraining

    shape = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=config.width,
        num_hidden_layers=config.layers,
        num_attention_heads=config.heads,
        intermediate_size=4 * config.width,
        max_position_embeddings=LONGEST,
        trained_positions=config.length,  # type: ignore[call-arg]  # ours: `SentenceEncoder` warns of longer sentences
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=tokenizer.pad_token_id,
        tie_word_embeddings=config.tie_word_embeddings,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        model = BertForPreTraining(shape)
    predictions = model.cls.predictions
    if not config.tie_word_embeddings:
        predictions.bias.requires_grad_(False)  # without a use then: the decoder has its own
    shares = torch.from_numpy((counts + 1) / (counts + 1).sum())
    predictions.decoder.bias.data.copy_(shares.log())
    if tokens is not None:
        predictions.decoder.weight.data.copy_(tokens)
        start_embeddings(model.bert.embeddings, tokens, counts, config.length)
    return model


def pretraining_losses(model: Any, batch: Batch) -> tuple[Tensor, Tensor]:
    """(masked-token cross-entropy, next-passage cross-entropy), in nats; logits at masked positions only."""
    hidden, pooled = model.bert(input_ids=batch.input_ids, token_type_ids=batch.token_type_ids, return_dict=False)
    at_masked = hidden.flatten(0, 1)[batch.masked]
    logits, next_logits = model.cls.predictions(at_masked), model.cls.seq_relationship(pooled)
    words = F.cross_entropy(logits.float(), batch.labels)
    if bool((batch.is_next >= 0).any()):
        return words, F.cross_entropy(next_logits.float(), batch.is_next, ignore_index=-100)
    return words, words.new_zeros(())


def pretrain(
    tokenizer: Any,
    corpora: Sequence[TokenizedCorpus],
    config: PretrainConfig,
    output: Path,
    *,
    tokens: Tensor | None = None,
    precision: Literal["auto", "fp32", "bf16"] = "auto",
) -> Path:
    """Train, checkpoint, resume; the finished encoder lies in `output` as float16 safetensors.

    `output/checkpoint.safetensors` is the state to resume from, `output/log.jsonl` the loss curve (masked-word
    loss, next-passage loss, tokens seen). `tokens` is the token table to start from, [vocabulary, width], as
    `token_vectors` makes it; without it the table is random. `precision` is "fp32", "bf16" (autocast), or
    "auto": bf16 where this machine is faster with it; a resumed run keeps its own.

    Raises:
        ValueError: a corpus too small for one row; `output` holds a run with other settings.
        CheckpointError: a damaged checkpoint.
        FloatingPointError: NaN or infinity, with the step; the last checkpoint stays.
    """
    from accelerate import Accelerator

    for number, corpus in enumerate(corpora, start=1):
        if not corpus.beginnings(config.length):
            raise ValueError(
                f"corpus {number} has {len(corpus.ids)} tokens in {len(corpus.starts)} sentences, too few for a row "
                f"of {config.length}: give a longer text or a smaller length"
            )
    output = Path(output)
    output.mkdir(parents=True, exist_ok=True)
    accelerator = Accelerator()
    if precision == "auto":
        precision = "bf16" if faster_in_bf16() else "fp32"
    counts = token_counts(tokenizer, corpora)
    weights = None if config.subsample is None else smooth_inverse_frequency(counts, config.subsample)
    model = new_model(tokenizer, config, counts, tokens)
    optimizer = _optimizer(model, config)
    warmup = max(1, round(config.warmup * config.steps))
    falling = max(1, config.steps - warmup)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warmup, (config.steps - step) / falling)
    )
    log = output / "log.jsonl"
    checkpoint = output / "checkpoint.safetensors"
    parts = {"model": model, "optimizer": optimizer, "schedule": schedule}
    identity = {"config": asdict(config)}
    steps = ResumableSteps(
        "pretrain", config.steps, parts, checkpoint, config.checkpoint_every, lines=100, identity=identity
    )
    if checkpoint.exists():
        precision = steps.resume()["precision"]
    _cut_log(log, steps.done)
    prepared, stepper = accelerator.prepare(model, optimizer)
    prepared.train()
    curve = _Curve(log, config, steps)
    for step in steps:
        batch = make_batch(corpora, tokenizer, config, step - 1, weights)
        batch = Batch(*(tensor.to(accelerator.device) for tensor in vars(batch).values()))
        # not accelerate's own autocast: it keeps the first precision of a process for good
        with torch.autocast(accelerator.device.type, torch.bfloat16, enabled=precision == "bf16"):
            words, neighbours = pretraining_losses(prepared, batch)
        loss = words + neighbours
        if not math.isfinite(loss.item()):
            raise FloatingPointError(
                f"step {step}: loss is {loss.item()} (words {words.item()}, next {neighbours.item()}); "
                "a lower lr may help"
            )
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(prepared.parameters(), 1.0)
        stepper.step()
        schedule.step()
        stepper.zero_grad()
        steps.note = curve.add(words.item(), neighbours.item())
        steps.save_if_due(precision=precision)
    if steps.done:
        steps.save(precision=precision)
    export(accelerator.unwrap_model(prepared), tokenizer, output)
    return output


class _Curve:
    """The log of the losses: a row each `LOG_EVERY` steps and at each checkpoint, so that no mean is half made."""

    def __init__(self, file: Path, config: PretrainConfig, steps: ResumableSteps) -> None:
        self.file, self.config, self.steps = file, config, steps
        self.logged, self.sums = steps.done, np.zeros(2)

    def add(self, words: float, neighbours: float) -> str:
        """Count the losses of a step; a note for the progress where a row was written."""
        self.sums += words, neighbours
        done = self.steps.done
        if done % self.config.checkpoint_every and done % LOG_EVERY and done != self.config.steps:
            return ""
        mean = self.sums / (done - self.logged)
        row = {
            "step": done,
            "tokens": done * self.config.batch_size * self.config.length,
            "words": round(float(mean[0]), 4),
            "next": round(float(mean[1]), 4),
            "seconds": round(self.steps.seconds, 1),
        }
        with open(self.file, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        self.logged, self.sums[:] = done, 0
        return f"words {mean[0]:.3f}, next {mean[1]:.3f}"


def _optimizer(model: Any, config: PretrainConfig) -> torch.optim.AdamW:
    """AdamW, no decay of biases and normalisations; the embedding layer has a rate of its own, or stays."""
    embeddings = list(model.bert.embeddings.parameters())
    others = [p for p in model.parameters() if not any(p is one for one in embeddings)]
    for parameter in embeddings:
        parameter.requires_grad_(config.embedding_lr > 0)  # one that stays has no part in the gradient's norm
    groups = [
        {"params": [p for p in parameters if (p.ndim > 1) is decays], "lr": lr, "weight_decay": decay}
        for parameters, lr in ((others, config.lr), (embeddings, config.lr * config.embedding_lr))
        for decays, decay in ((True, config.weight_decay), (False, 0.0))
    ]
    return torch.optim.AdamW(groups, betas=(0.9, 0.98))


def _cut_log(log: Path, step: int) -> None:
    """Drop the rows after a step: they are made again."""
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    kept = [line for line in lines if line.endswith("}") and json.loads(line)["step"] <= step]
    partial = log.with_name(log.name + ".part")
    partial.write_text("".join(line + "\n" for line in kept), encoding="utf-8")
    os.replace(partial, log)


def pretrain_from_files(
    output: Path,
    neighbours: Sequence[Path],
    scattered: Sequence[Path],
    config: PretrainConfig,
    *,
    tokenizer: Path | None = None,
    tokens_from: Path | None = None,
) -> Path:
    """`pretrain` on text files: `neighbours` whose lines follow one another, and `scattered` sentences.

    Without a tokenizer, one is trained on the first 300,000 sentences of each file. With `tokens_from`, the folder
    of another encoder, the token table starts as its input vectors (see `token_vectors`). Tokenizer and token ids are
    kept in `output` until the run is finished, so that one that is started again goes on at once; a finished one is
    left as it is.

    Raises:
        ValueError: no file; `output` cannot be written, is in use, or holds a run with other settings.
        DataError: a file that is missing, empty, damaged or not UTF-8.
    """
    files = [*neighbours, *scattered]
    if not files:
        raise ValueError("no corpus: give at least one, of neighbouring or of scattered sentences")
    for file in files:
        read_sentences(file)  # a missing or empty one is an error before anything is made
    if tokenizer is not None and not (tokenizer / "tokenizer.json").exists():
        raise ValueError(f"{tokenizer} is not the folder of a tokenizer: it has no tokenizer.json")
    if tokens_from is not None and not (tokens_from / "model.safetensors").exists():
        raise ValueError(f"{tokens_from} is not the folder of an encoder: it has no model.safetensors")
    identity = {
        "config": asdict(config),
        "corpora": {
            "neighbours": [sha256_of(file) for file in neighbours],
            "scattered": [sha256_of(file) for file in scattered],
        },
        "tokenizer": sha256_of(tokenizer / "tokenizer.json") if tokenizer else None,
        "tokens_from": sha256_of(tokens_from / "model.safetensors") if tokens_from else None,
    }
    with RunFolder(output).locked() as folder:
        run = folder.claim(identity)
        if run["finished"]:
            return folder.path
        prepared = folder.path / f"prepared-{_digest(identity['corpora'], identity['tokenizer'], config.vocabulary)}"
        prepared.mkdir(exist_ok=True)
        opened = prepared_tokenizer(prepared, files, config.vocabulary, tokenizer)
        corpora = [
            prepared_corpus(prepared / f"tokens-{number}.npz", file, opened, number < len(neighbours))
            for number, file in enumerate(files)
        ]
        tokens = (
            token_vectors(opened, tokens_from, config.width, token_counts(opened, corpora)) if tokens_from else None
        )
        pretrain(opened, corpora, config, folder.path, tokens=tokens)
        folder.finish(run | {"finished": True, "versions": versions()})
        for left in folder.path.glob("prepared-*"):
            shutil.rmtree(left)
        return folder.path


def _digest(*content: object) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:12]


def export(model: Any, tokenizer: Any, output: Path) -> None:
    """The encoder with its pretraining heads in float16, dropout 0.1 in its config for fine-tuning."""
    model.config.hidden_dropout_prob = 0.1
    model.config.attention_probs_dropout_prob = 0.1
    with quiet_transformers():
        model.to(torch.float16).save_pretrained(output)
    tokenizer.save_pretrained(output)
