"""The settings that a method's paper prints, by family of encoder."""

from dataclasses import dataclass, field
from typing import Any

from cselab.encoders.encoder import SentenceEncoder


@dataclass(frozen=True)
class Recipe:
    """The settings of a paper: the unset options of `cselab train --recipe paper`.

    Attributes:
        lr, batch_size, epochs, max_length, eval_every: as in `TrainConfig`.
        pooling: the pooling of the encoder.
        hyperparameters: the hyperparameters of the method, where they depend on the family.
        whose: the original method, if a paper uses the recipe of an earlier one.
    """

    lr: float
    batch_size: int = 64
    epochs: float = 1.0
    max_length: int = 32
    eval_every: int = 125
    pooling: str = "cls"
    hyperparameters: dict[str, Any] = field(default_factory=dict)
    whose: str = ""

    def settings(self) -> dict[str, Any]:
        """The values that are settings of a run."""
        return {name: value for name, value in vars(self).items() if name in RUN}


RUN = ("lr", "batch_size", "epochs", "max_length", "eval_every")


def family(encoder: SentenceEncoder) -> str:
    """ "bert-base", "bert-large", "roberta-base" or "roberta-large": large is 1,024 wide or more.

    Anything that is not a RoBERTa counts as BERT, as in the papers' scripts.
    """
    config = encoder.backbone.config
    kind = "roberta" if "roberta" in config.model_type else "bert"
    return f"{kind}-{'large' if config.hidden_size >= 1024 else 'base'}"


SIMCSE_RECIPES = {
    "bert-base": Recipe(lr=3e-5, whose="SimCSE"),
    "bert-large": Recipe(lr=1e-5, whose="SimCSE"),
    "roberta-base": Recipe(lr=1e-5, batch_size=512, whose="SimCSE"),
    "roberta-large": Recipe(lr=3e-5, batch_size=512, whose="SimCSE"),
}
"""Unsupervised SimCSE's; Focal-InfoNCE prints the same (its Table 1)."""

IMSIMCSE_RECIPES = {"bert-base": Recipe(lr=3e-5, whose="ImSimCSE"), "bert-large": Recipe(lr=8e-6, whose="ImSimCSE")}
"""ImSimCSE's, section 5: 3e-5 for base and 8e-6 for large models; it trains BERT only."""

SURVEY_RECIPES = {"bert-base": Recipe(lr=3e-5, whose="the survey")}
"""The survey's for most of its models, its Table 7: 64 sentences, 3e-5; the survey trains only BERT-base."""

CARDS_RECIPES = {
    "roberta-base": Recipe(lr=4e-5, batch_size=512),
    "roberta-large": Recipe(lr=7.5e-6, batch_size=512, hyperparameters={"nearest": 8, "share": 0.1}),
}
"""CARDS's recipe, only for RoBERTa, whose vocabulary has cases; the parts of CARDS use their share of it."""

WHITENEDCSE_RECIPES = dict.fromkeys(SIMCSE_RECIPES, Recipe(lr=3e-5))
"""WhitenedCSE's, section 4.1, the same for all; its numbers of groups are the method's own (`default_groups`)."""


def default_groups(config: Any, released: bool = False) -> int:
    """WhitenedCSE's number of groups for an encoder with this config.

    Half the width (the paper's 384 of 768; its 384 for BERT-large do not divide 1,024), 256 for RoBERTa, 128 in the
    released code; also half the width if the rest do not divide it.
    """
    half = max(config.hidden_size // 2, 1)
    wanted = 128 if released else 256 if "roberta" in config.model_type else half
    return wanted if config.hidden_size % wanted == 0 else half
