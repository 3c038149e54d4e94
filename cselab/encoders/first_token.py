"""The end of the last layer for the first token alone, where no other is read: the same vectors in less time.

Of the last layer only attention mixes tokens. What follows it, three quarters of the layer's products, is each token's
own; `cls` and `cls_pooler` read [CLS] and nothing else.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

LAID_OUT_ALIKE = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "electra"})
"""Types of models whose layers are `encoder.layer`, each with `attention.output`, `intermediate` and `output`."""


def ends_apart(backbone: Any) -> bool:
    """Whether this network's last layer can end with the first token alone.

    A layer that is computed again in the backward pass, or in chunks of tokens, cannot.
    """
    if backbone.config.model_type not in LAID_OUT_ALIKE:
        return False
    last = backbone.encoder.layer[-1]
    recomputed = last.training and getattr(last, "gradient_checkpointing", False)
    return not recomputed and not last.chunk_size_feed_forward


@contextmanager
def first_token_alone(backbone: Any) -> Iterator[None]:
    """Inside, the backbone's last hidden state is that of the first token [n, 1, d].

    Vectors and gradients are those of a whole pass, to rounding. So are the dropout masks: they are drawn for all
    tokens, and what follows in the stream of random numbers stays the same.
    """
    last = backbone.encoder.layer[-1]
    tokens = 1  # of the pass at hand

    def first(module: nn.Module, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        nonlocal tokens
        tokens = given[0].shape[1]
        return tuple(states[:, :1].contiguous() for states in given)

    def for_all(module: nn.Dropout, given: tuple[Float[Tensor, "n 1 d"]]) -> tuple[Tensor]:
        drawn = tokens if module.training and module.p else 1
        return (given[0].expand(-1, drawn, -1).contiguous(),)

    with ExitStack() as hooks:
        hooks.enter_context(last.attention.output.register_forward_pre_hook(first))
        for dropout in (last.attention.output.dropout, last.output.dropout):
            hooks.enter_context(dropout.register_forward_pre_hook(for_all))
            hooks.enter_context(dropout.register_forward_hook(lambda module, given, out: out[:, :1]))
        yield
