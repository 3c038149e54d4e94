"""Pretrain a small plain BERT: masked words, and whether two passages are neighbours (Devlin et al. 2019).

The result is a *plain* language model, anisotropic as BERT is, for contrastive training to repair. Rows of 64
tokens start at the start of a sentence. A corpus whose lines follow one another (`neighbours`) gives rows of two
passages, the second one the true continuation or a random one, which is the [CLS] vector's task; a corpus of
scattered sentences gives rows of one passage. Batches depend on (seed, step) alone, so a run that is killed
and started again continues as if nothing had happened.
"""

import json
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from cselab.checkpoint import load_checkpoint, pack, save_checkpoint, unpack
from cselab.data import read_sentences
from cselab.progress import Progress

TOKENIZER_SENTENCES = 300_000
SPECIAL_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


@dataclass(frozen=True)
class PretrainConfig:
    """How the encoder is shaped and trained. `steps` optimiser steps of `batch_size` rows of `length` tokens."""

    layers: int = 2
    width: int = 128
    heads: int = 2
    vocabulary: int = 8192
    length: int = 64
    steps: int = 6000
    batch_size: int = 128
    lr: float = 2e-3
    warmup: float = 0.05
    weight_decay: float = 0.01
    mask_share: float = 0.15
    seed: int = 0
    checkpoint_every: int = 500


@dataclass(frozen=True)
class TokenizedCorpus:
    """Sentences as one flat array of token ids and the offsets where each begins."""

    ids: np.ndarray
    starts: np.ndarray
    neighbours: bool

    def passage(self, sentence: int, room: int) -> np.ndarray:
        """`room` tokens from the start of a sentence on, across the sentences that follow."""
        start = self.starts[sentence]
        return self.ids[start : start + room]


def train_tokenizer(sentences: Iterable[str], vocabulary: int = 8192):
    """An uncased WordPiece tokenizer with BERT's normalisation and its [CLS] ... [SEP] template."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import BertTokenizerFast

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary, special_tokens=SPECIAL_TOKENS, limit_alphabet=200, show_progress=False
    )
    tokenizer.train_from_iterator(sentences, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")],
    )
    return BertTokenizerFast(tokenizer_object=tokenizer, do_lower_case=True, model_max_length=128)


def tokenize_corpus(tokenizer, sentences: Iterable[str], *, neighbours: bool) -> TokenizedCorpus:
    """Token ids of a whole corpus, without special tokens, in 16 bits each."""
    pieces, lengths = [], []
    for batch in _batched(sentences, 10_000):
        for encoding in tokenizer.backend_tokenizer.encode_batch_fast(batch, add_special_tokens=False):
            pieces.append(np.asarray(encoding.ids, dtype=np.uint16))
            lengths.append(len(encoding.ids))
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
    return TokenizedCorpus(np.concatenate(pieces), starts, neighbours)


def _batched(items: Iterable[str], size: int) -> Iterator[list[str]]:
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


@dataclass(frozen=True)
class Batch:
    """Rows of token ids with some positions masked, and what to predict."""

    input_ids: Tensor
    token_type_ids: Tensor
    masked: Tensor  # flat positions of the masked tokens
    labels: Tensor  # the tokens that stood there
    is_next: Tensor  # per row: 1 true continuation, 0 random, -100 a row of one passage


def make_batch(corpora: Sequence[TokenizedCorpus], tokenizer, config: PretrainConfig, step: int) -> Batch:
    """The batch of a step; drawn from (seed, step) alone."""
    random = np.random.default_rng([config.seed, step])
    size, length = config.batch_size, config.length
    cls, sep, mask = tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.mask_token_id
    ids = np.empty((size, length), dtype=np.int64)
    types = np.zeros((size, length), dtype=np.int64)
    is_next = np.full(size, -100, dtype=np.int64)
    tokens = np.array([len(corpus.ids) for corpus in corpora], dtype=np.float64)
    for row, which in enumerate(random.choice(len(corpora), size=size, p=tokens / tokens.sum())):
        corpus = corpora[which]
        last = np.searchsorted(corpus.starts, len(corpus.ids) - 2 * length)
        sentence = random.integers(last)
        if corpus.neighbours:
            first = random.integers(length // 4, length // 2 + 1)
            is_next[row] = random.integers(2)
            # the true continuation starts at the sentence in which passage A ends
            end = np.searchsorted(corpus.starts, corpus.starts[sentence] + first)
            room = corpus.starts[end] - corpus.starts[sentence]
            room = int(min(room, length - 3 - length // 4))
            other = end if is_next[row] else random.integers(last)
            second = length - 3 - room
            ids[row] = np.concatenate(
                [[cls], corpus.passage(sentence, room), [sep], corpus.passage(other, second), [sep]]
            )
            types[row, room + 2 :] = 1
        else:
            ids[row] = np.concatenate([[cls], corpus.passage(sentence, length - 2), [sep]])
    # a fixed number of masked tokens a row: 80 % [MASK], 10 % a random token, 10 % left as they are
    count = round(config.mask_share * length)
    noise = random.random((size, length))
    noise[(ids == cls) | (ids == sep)] = 2.0
    columns = np.argpartition(noise, count, axis=1)[:, :count]
    masked = (np.arange(size)[:, None] * length + columns).ravel()
    flat = ids.ravel()
    labels = flat[masked].copy()
    kind = random.random(len(masked))
    flat[masked[kind < 0.8]] = mask
    swapped = masked[(kind >= 0.8) & (kind < 0.9)]
    flat[swapped] = random.integers(len(SPECIAL_TOKENS), len(tokenizer), size=len(swapped))
    return Batch(*(torch.from_numpy(array) for array in (ids, types, masked, labels, is_next)))


def new_model(tokenizer, config: PretrainConfig):
    """A randomly initialised BERT with both pretraining heads and no dropout."""
    from transformers import BertConfig, BertForPreTraining

    torch.manual_seed(config.seed)
    shape = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=config.width,
        num_hidden_layers=config.layers,
        num_attention_heads=config.heads,
        intermediate_size=4 * config.width,
        max_position_embeddings=128,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=tokenizer.pad_token_id,
    )
    return BertForPreTraining(shape)


def pretraining_losses(model, batch: Batch) -> tuple[Tensor, Tensor]:
    """(masked-token cross-entropy, next-passage cross-entropy), in nats; logits at masked positions only."""
    hidden, pooled = model.bert(
        input_ids=batch.input_ids, token_type_ids=batch.token_type_ids, return_dict=False
    )
    at_masked = hidden.flatten(0, 1)[batch.masked]
    logits, next_logits = model.cls.predictions(at_masked), model.cls.seq_relationship(pooled)
    words = F.cross_entropy(logits.float(), batch.labels)
    if bool((batch.is_next >= 0).any()):
        return words, F.cross_entropy(next_logits.float(), batch.is_next, ignore_index=-100)
    return words, words.new_zeros(())


def pretrain(
    tokenizer,
    corpora: Sequence[TokenizedCorpus],
    config: PretrainConfig,
    output: Path,
    *,
    precision: str = "no",
) -> Path:
    """Train, checkpoint, resume; the finished encoder lies in `output` as float16 safetensors.

    `output/checkpoint.safetensors` is the state to resume from, `output/log.jsonl` the loss curve (masked-word
    loss, next-passage loss, tokens seen). `precision` is accelerate's: "no", "bf16" or "fp16".
    """
    from accelerate import Accelerator

    output = Path(output)
    output.mkdir(parents=True, exist_ok=True)
    accelerator = Accelerator(mixed_precision=precision)
    model = new_model(tokenizer, config)
    decay = [p for p in model.parameters() if p.ndim > 1]
    plain = [p for p in model.parameters() if p.ndim <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": decay}, {"params": plain, "weight_decay": 0.0}],
        lr=config.lr,
        betas=(0.9, 0.98),
        weight_decay=config.weight_decay,
    )
    warmup = max(1, round(config.warmup * config.steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warmup, (config.steps - step) / (config.steps - warmup))
    )
    checkpoint = output / "checkpoint.safetensors"
    start, seconds_before = 0, 0.0
    if checkpoint.exists():
        tensors, info = load_checkpoint(checkpoint)
        if info["config"] != asdict(config):
            raise ValueError(
                f"{output} holds a run with other settings ({info['config']}); choose another output"
            )
        model.load_state_dict(unpack(tensors, info["model"]))
        optimizer.load_state_dict(unpack(tensors, info["optimizer"]))
        schedule.load_state_dict(info["schedule"])
        start, seconds_before = info["step"], info["seconds"]
    model, optimizer = accelerator.prepare(model, optimizer)

    def save(step: int) -> None:
        tensors, tree = pack("model", accelerator.unwrap_model(model).state_dict())
        optimizer_tensors, optimizer_tree = pack("optimizer", optimizer.state_dict())
        info = {
            "config": asdict(config),
            "step": step,
            "seconds": seconds_before + time.monotonic() - began,
            "model": tree,
            "optimizer": optimizer_tree,
            "schedule": {k: v for k, v in schedule.state_dict().items() if k != "lr_lambdas"}
            | {"lr_lambdas": [None, None]},
        }
        save_checkpoint(checkpoint, tensors | optimizer_tensors, info)

    began = time.monotonic()
    model.train()
    log = open(output / "log.jsonl", "a", encoding="utf-8")
    with log, Progress(config.steps, "pretrain", lines=100) as progress:
        progress.done = start
        sums = np.zeros(2)
        for step in range(start, config.steps):
            batch = Batch(
                *(
                    t.to(accelerator.device)
                    for t in vars(make_batch(corpora, tokenizer, config, step)).values()
                )
            )
            with accelerator.autocast():
                words, neighbours = pretraining_losses(model, batch)
            loss = words + neighbours
            if not math.isfinite(loss.item()):
                raise FloatingPointError(
                    f"step {step}: loss is {loss.item()} (words {words.item()}, next {neighbours.item()})"
                )
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            sums += words.item(), neighbours.item()
            done = step + 1
            if done % 100 == 0:
                mean = sums / 100
                sums[:] = 0
                row = {
                    "step": done,
                    "tokens": done * config.batch_size * config.length,
                    "words": round(float(mean[0]), 4),
                    "next": round(float(mean[1]), 4),
                    "seconds": round(seconds_before + time.monotonic() - began, 1),
                }
                log.write(json.dumps(row) + "\n")
                log.flush()
                progress.update(100, f"words {mean[0]:.3f}, next {mean[1]:.3f}")
            if done % config.checkpoint_every == 0 or done == config.steps:
                save(done)
    export(accelerator.unwrap_model(model), tokenizer, output)
    return output


def pretrain_from_files(
    output: Path,
    neighbours: Sequence[Path],
    scattered: Sequence[Path],
    config: PretrainConfig,
    *,
    tokenizer: Path | None = None,
    precision: str = "no",
) -> Path:
    """`pretrain` on text files: `neighbours` whose lines follow one another, and `scattered` sentences.

    Without a tokenizer, one is trained on the first 300,000 sentences of each file. Tokenizer and token ids are
    kept in `output`, so that a run that is started again goes on at once.

    Raises:
        ValueError: no file; `output` holds a run with other settings.
        DataError: a file that is missing, empty, damaged or not UTF-8.
    """
    from transformers import AutoTokenizer

    files = [*neighbours, *scattered]
    if not files:
        raise ValueError("give at least one corpus")
    output = Path(output)
    kept = output / "tokenizer"
    if tokenizer is None and not kept.exists():
        sample = chain.from_iterable(islice(read_sentences(file), TOKENIZER_SENTENCES) for file in files)
        train_tokenizer(sample, config.vocabulary).save_pretrained(kept)
    opened = AutoTokenizer.from_pretrained(tokenizer or kept)
    corpora = []
    for number, file in enumerate(files):
        cached = output / f"tokens-{number}.npz"
        if not cached.exists():
            corpus = tokenize_corpus(opened, read_sentences(file), neighbours=file in neighbours)
            np.savez(cached, ids=corpus.ids, starts=corpus.starts)
        arrays = np.load(cached, allow_pickle=False)
        corpora.append(TokenizedCorpus(arrays["ids"], arrays["starts"], file in neighbours))
    return pretrain(opened, corpora, config, output, precision=precision)


def export(model, tokenizer, output: Path) -> None:
    """The encoder with its pretraining heads in float16, dropout 0.1 in its config for fine-tuning."""
    model.config.hidden_dropout_prob = 0.1
    model.config.attention_probs_dropout_prob = 0.1
    model.to(torch.float16).save_pretrained(output)
    tokenizer.save_pretrained(output)
