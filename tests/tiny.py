"""Encoders small enough for a test: a BERT or RoBERTa with seeded random weights and a tokenizer made on the spot."""

import random
from functools import cache
from pathlib import Path

import torch
from transformers import BertConfig, BertModel, BertTokenizer, RobertaConfig, RobertaModel, RobertaTokenizer

from cselab.encoders.encoder import SentenceEncoder
from cselab.methods import METHODS
from cselab.training import TrainConfig, train

FAMILIES = ("bert", "roberta")
PROMPTS = {"bert": "this sentence : {sentence} means [MASK] .", "roberta": "this sentence : {sentence} means<mask> ."}
WORDS = (
    "the a this cat dog bird house river train child teacher sees likes follows paints old small red quiet "
    "quickly today never in near under sentence means : ."
).split()
LETTERS = "abcdefghijklmnopqrstuvwxyz"
LONGEST = 48  # tokens


def make_sentences(count: int, seed: int = 0) -> list[str]:
    """Different sentences of three to eleven words."""
    draw = random.Random(seed)
    made: dict[str, None] = {}
    while len(made) < count:
        made[" ".join(draw.choices(WORDS[:-4], k=draw.randint(3, 11)))] = None
    return list(made)


@cache
def _world_rows(columns: tuple[str, ...], count: int) -> list:
    from cselab.world import World

    return World(seed=0).rows(columns, count)


def family_for(method) -> str:
    """The family of encoders that a method of this class, instance or name can be tried on."""
    known = METHODS.get(getattr(method, "name", method), method)
    return "roberta" if getattr(known, "needs_capitals", False) else "bert"  # RoBERTa has capitals


def make_rows(columns: tuple[str, ...], count: int) -> list:
    """Rows for a method: its batch is made of sentences, or of the world's rows with its columns."""
    return make_sentences(count) if columns == ("sentence",) else list(_world_rows(columns, count))


@cache
def _byte_pairs() -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Vocabulary and merges of a byte-level BPE, learnt from the words."""
    import json

    from tokenizers import ByteLevelBPETokenizer

    learner = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    learner.train_from_iterator([" ".join(WORDS)] * 3, vocab_size=320, special_tokens=special, show_progress=False)
    model = json.loads(learner.to_str())["model"]
    return model["vocab"], [tuple(merge) for merge in model["merges"]]


def make_tokenizer(family: str = "bert"):
    """An uncased WordPiece that knows the words and the letters, or a byte-level BPE that knows all."""
    if family == "roberta":
        vocabulary, merges = _byte_pairs()
        return RobertaTokenizer(vocab=dict(vocabulary), merges=list(merges), model_max_length=LONGEST)
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *LETTERS[1:], *(f"##{x}" for x in LETTERS)]
    return BertTokenizer(vocab={piece: row for row, piece in enumerate(pieces)}, model_max_length=LONGEST)


def make_backbone(
    family: str = "bert",
    *,
    layers: int = 2,
    width: int = 8,
    dropout: float = 0.1,
    pooler: bool = True,
    seed: int = 0,
    **settings,
):
    """A transformer in eval mode, its weights drawn with `seed`; the caller's random numbers are left alone."""
    tokenizer = make_tokenizer(family)
    kinds = {"bert": (BertConfig, BertModel, 0), "roberta": (RobertaConfig, RobertaModel, 2)}
    make_config, make_model, offset = kinds[family]
    config = make_config(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=2 * width,
        max_position_embeddings=LONGEST + offset,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        initializer_range=0.3,  # wide, so that a small change anywhere shows in the vectors
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.cls_token_id,
        eos_token_id=tokenizer.sep_token_id,
        **settings,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make_model(config, add_pooling_layer=pooler).eval()


def make_encoder(family: str = "bert", *, pooling: str = "mean", name: str = "tiny", **backbone) -> SentenceEncoder:
    """A `SentenceEncoder` on a tiny backbone; a prompt belongs to the pooling "mask"."""
    template = PROMPTS[family] if pooling == "mask" else None
    return SentenceEncoder(
        make_backbone(family, **backbone), make_tokenizer(family), pooling, template=template, name=name
    ).eval()


SHORT = {"steps": 2, "batch_size": 8, "lr": 1e-2, "precision": "fp32"}


def short_run(method="simcse", encoder=None, corpus=None, evaluator=None, callbacks=(), output=None, **config):
    """A run of two steps on an encoder of one layer; what differs from `SHORT` is an argument."""
    encoder, corpus = encoder or make_encoder(layers=1), make_sentences(24) if corpus is None else corpus
    return train(encoder, method, corpus, TrainConfig(**SHORT | config), evaluator, callbacks, output, False)


class Stopped(Exception):
    """As a kill does: nothing of the run goes on."""


def stop_at(step: int, error: BaseException = Stopped):
    """A callback that raises the error in the row of that step."""

    def stop(run, row):
        if row["step"] == step:
            raise error

    return stop


def differing(one, other) -> set[str]:
    """The names of what only one of two modules or state dictionaries has, or what differs."""
    one, other = (each.state_dict() if hasattr(each, "state_dict") else each for each in (one, other))
    return (one.keys() ^ other.keys()) | {
        key for key in one.keys() & other.keys() if not torch.equal(one[key], other[key])
    }


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def write_checkpoint(folder: Path, family: str = "bert", **backbone) -> Path:
    """A plain transformers checkpoint, without anything of cselab or sentence-transformers in it."""
    make_backbone(family, **backbone).save_pretrained(folder)
    make_tokenizer(family).save_pretrained(folder)
    return folder
