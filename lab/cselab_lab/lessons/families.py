"""Tiny encoders of today's families, for lesson 13: made from their config classes, nothing is downloaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cselab._util.arguments import check_choice

from .checks.encoders import plain

if TYPE_CHECKING:
    from cselab.encoders.encoder import SentenceEncoder

TINY_SIZES = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128)
FAMILIES: dict[str, tuple[str, dict[str, Any], str]] = {
    "ModernBERT": ("ModernBertConfig", {}, "mean"),
    "Qwen3": ("Qwen3Config", dict(head_dim=16, num_key_value_heads=2), "last_token"),
}
"""Config class, its settings apart from `TINY_SIZES`, and how the family is pooled."""


def tiny(family: str, seed: int = 0) -> SentenceEncoder:
    """A random encoder of this family with the tokenizer of `mini` and the defaults of its config.

    Raises:
        ValueError: an unknown family; lists those that are known.
    """
    import copy

    import torch
    import transformers

    from cselab import SentenceEncoder

    check_choice("family", family, FAMILIES)
    kind, more, pooling = FAMILIES[family]
    tokenizer = copy.deepcopy(plain().tokenizer)
    names = ("pad_token_id", "cls_token_id", "sep_token_id")
    ids = {name: getattr(tokenizer, name) for name in names} | dict(bos_token_id=None, eos_token_id=None)
    config = getattr(transformers, kind)(
        **TINY_SIZES, **more, **ids, vocab_size=len(tokenizer), max_position_embeddings=plain().max_length
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        backbone = transformers.AutoModel.from_config(config)
    return SentenceEncoder(backbone, tokenizer, pooling=pooling, name=f"tiny {family}").eval()
