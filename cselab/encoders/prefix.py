"""A deep prefix: trained keys and values that every layer attends to, before those of the sentence."""

from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from cselab.encoders.positions import first_position


class DeepPrefix(nn.Module):
    """Key and value vectors for each layer of a transformer: prefix tuning, as DCPCSE has it.

        attention_l( q, [P_l^K ; K], [P_l^V ; V] )       in every layer l, P_l the same for all sentences

    In training each row drops out numbers of the prefix as of its own embedding. The sentence's tokens keep their
    positions; in DCPCSE's code they begin behind the prefix. The prefix belongs to the encoder
    (`SentenceEncoder.prefix`): it is part of its weights, its hash and its folder. transformers and
    sentence-transformers cannot apply it.

    Args:
        keys, values: `[layers, heads, length, width of a head]`.

    See also: `DeepPrefix.fresh`, a prefix to train; `cselab.methods.DCPCSE`, which trains one.
    """

    def __init__(self, keys: Float[Tensor, "layers heads p w"], values: Float[Tensor, "layers heads p w"]) -> None:
        super().__init__()
        self.keys, self.values = nn.Parameter(keys), nn.Parameter(values)

    @classmethod
    def fresh(cls, backbone: Any, length: int, generator: torch.Generator) -> "DeepPrefix":
        """`length` vectors for each layer of the backbone, normal with a standard deviation of 0.02.

        Raises:
            ValueError: a network that is no BERT, RoBERTa or kin of theirs.
        """
        config = backbone.config
        if not hasattr(getattr(backbone, "embeddings", None), "position_embeddings"):
            raise ValueError(
                f"a prefix of keys and values goes before BERT's and RoBERTa's layers; {type(backbone).__name__} has "
                "others: train it with another method, such as simcse"
            )
        width = config.hidden_size // config.num_attention_heads
        shape = (config.num_hidden_layers, config.num_attention_heads, length, width)
        return cls(*(torch.randn(shape, generator=generator) * 0.02 for _ in range(2)))

    def before(self, features: Mapping[str, Tensor], backbone: Any) -> dict[str, Any]:
        """What the backbone takes for these tokens with the prefix before them."""
        from transformers import DynamicCache

        mask, cache = features["attention_mask"], DynamicCache()
        rate = backbone.embeddings.dropout.p
        for layer, pair in enumerate(zip(self.keys, self.values, strict=True)):
            keys, values = (F.dropout(part.expand(len(mask), *part.shape), rate, backbone.training) for part in pair)
            cache.update(keys, values, layer)
        places = first_position(backbone) + torch.arange(mask.shape[1], device=mask.device)
        seen = torch.cat([mask.new_ones(len(mask), self.keys.shape[2]), mask], dim=1)
        ours = {"past_key_values": cache, "attention_mask": seen}
        return {"position_ids": places.expand_as(mask), **features, **ours}

    @classmethod
    def load(cls, *_: Any, **__: Any) -> None:
        """What sentence-transformers calls when it opens the folder of an encoder with a prefix.

        Raises:
            ValueError: always; says what opens it.
        """
        raise ValueError(
            "this encoder has a deep prefix, which sentence-transformers cannot apply, and without it its vectors are "
            "others: open it with cselab.SentenceEncoder.from_pretrained"
        )
