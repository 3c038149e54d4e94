"""How the bundled encoders are trained: one recipe each, the same for all methods, found by a search on dev data.

`results/search.md` has the searches (rate, batch, temperature, length and corpus) and what was read from them. No
method is tuned more than its neighbour.

See also: `cselab.methods.recipe`, what the papers print for BERT and RoBERTa.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from cselab.training import TrainConfig


@dataclass(frozen=True)
class BundledRecipe:
    """The settings under which a bundled encoder shows the papers' effects.

    Attributes:
        steps, lr, batch_size, eval_every: as in `TrainConfig`. The score jumps within the first steps: look often.
        precision: float32, so that the same seed gives the same numbers with and without bfloat16.
        pooling: of the encoder: [CLS] for `mini`, as in the papers, with the training head of the method; the mean
            for `micro`, whose [CLS] loses by contrast (its card has the figures).

    >>> recipe("mini").config(seed=1).batch_size
    64
    """

    steps: int
    lr: float
    batch_size: int = 64
    eval_every: int = 20
    precision: Literal["fp32"] = "fp32"
    pooling: str = "cls"

    def settings(self) -> dict[str, Any]:
        """What goes into a `TrainConfig`."""
        return {name: value for name, value in asdict(self).items() if name != "pooling"}

    def config(self, **changes: Any) -> TrainConfig:
        """These settings as a `TrainConfig`, with fields of your own (`seed`, ...) in their place."""
        from cselab.training import TrainConfig

        return TrainConfig(**self.settings() | changes)


RECIPES = {
    "mini": BundledRecipe(steps=200, lr=3e-4),
    "micro": BundledRecipe(steps=50, lr=5e-4, eval_every=10, pooling="mean"),
}


def recipe(encoder: str) -> BundledRecipe:
    """The recipe of a bundled encoder.

    Raises:
        ValueError: no such encoder; lists those that have one.
    """
    if encoder not in RECIPES:
        raise ValueError(f"no recipe for the encoder {encoder!r}; there is one for {', '.join(RECIPES)}")
    return RECIPES[encoder]
