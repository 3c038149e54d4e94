"""One tiny random transformer of each family that people embed with, and a tokenizer of its habits."""

from pathlib import Path
from typing import NamedTuple

import torch
from tiny import LONGEST, WORDS
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    AutoModel,
    BertConfig,
    DistilBertConfig,
    Gemma3TextConfig,
    LlamaConfig,
    ModernBertConfig,
    MPNetConfig,
    PreTrainedTokenizerFast,
    Qwen3Config,
    RobertaConfig,
    T5Config,
    T5EncoderModel,
    XLMRobertaConfig,
)


class Family(NamedTuple):
    """A config class with its own names for sizes, how its tokenizer wraps and pads, how it is pooled by its users."""

    config: type
    sizes: dict
    wrap: str = "[CLS] $A [SEP]"
    side: str = "right"
    pooling: str = "mean"


SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
OFFSET = {**SIZES, "max_position_embeddings": LONGEST + 2}  # positions begin behind that of padding
ONE_HEAD = {**SIZES, "head_dim": 8, "num_key_value_heads": 1, "max_position_embeddings": LONGEST}
FAMILIES = {
    "bert": Family(BertConfig, {**SIZES, "max_position_embeddings": LONGEST}, pooling="cls"),
    "roberta": Family(RobertaConfig, OFFSET),
    "distilbert": Family(
        DistilBertConfig, {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32, "max_position_embeddings": LONGEST}
    ),
    "mpnet": Family(MPNetConfig, OFFSET),
    "modernbert": Family(ModernBertConfig, {**SIZES, "max_position_embeddings": LONGEST}),
    "xlm-roberta": Family(XLMRobertaConfig, OFFSET, pooling="cls"),
    "t5": Family(T5Config, {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2}, wrap="$A [SEP]"),
    "llama": Family(LlamaConfig, ONE_HEAD, wrap="[CLS] $A", side="left", pooling="last_token"),
    "qwen3": Family(Qwen3Config, ONE_HEAD, wrap="$A [SEP]", side="left", pooling="last_token"),
    "gemma3": Family(Gemma3TextConfig, ONE_HEAD, pooling="mean"),
}
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def make_tokenizer(family: str) -> PreTrainedTokenizerFast:
    """Words as tokens, wrapped and padded as this family does."""
    vocabulary = {token: row for row, token in enumerate([*SPECIAL, *WORDS])}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    used = [(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")]
    words.post_processor = processors.TemplateProcessing(single=FAMILIES[family].wrap, special_tokens=used)
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True))
    return PreTrainedTokenizerFast(
        tokenizer_object=words,
        padding_side=FAMILIES[family].side,
        model_max_length=LONGEST,
        model_input_names=["input_ids", "attention_mask"],
        **names,
    )


def make_backbone(family: str, seed: int = 0, **settings):
    """The transformer in eval mode, without touching the caller's random numbers."""
    config = FAMILIES[family].config(
        **FAMILIES[family].sizes,
        vocab_size=len(SPECIAL) + len(WORDS),
        **dict.fromkeys(("bos_token_id", "cls_token_id"), 2),
        **dict.fromkeys(("eos_token_id", "sep_token_id"), 3),
        pad_token_id=0,
        initializer_range=0.3,
        **settings,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return (T5EncoderModel(config) if family == "t5" else AutoModel.from_config(config)).eval()


def write_checkpoint(folder: Path, family: str, **settings) -> Path:
    """A plain transformers checkpoint."""
    make_backbone(family, **settings).save_pretrained(folder)
    make_tokenizer(family).save_pretrained(folder)
    return folder
