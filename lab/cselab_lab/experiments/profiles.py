"""The sizes at which every experiment runs: which encoder, which corpus, how many steps and seeds.

The recipe of a profile is the same for all rows of all experiments: no method is tuned more than its neighbour. Only
`paper` trains each method as its own paper does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cselab._util.choices import check_choice
from cselab.encoders.open import ASSETS, CHECKSUMS
from cselab_lab.experiments.recipes import recipe


@dataclass(frozen=True)
class Backbone:
    """An encoder by its name, its width, its family in the papers' recipes, and how SimCSE trains one of that."""

    name: str
    width: int
    recipe: Mapping[str, Any] = field(default_factory=dict)
    family: str = "bert-base"


def bundled(name: str) -> Backbone:
    """A bundled encoder, its width read from its configuration."""
    configuration = json.loads((ASSETS / name / "config.json").read_text(encoding="utf-8"))
    return Backbone(name, configuration["hidden_size"])


def weights_of(name: str) -> str | None:
    """What tells one release of a bundled encoder from another: a digest of its weights; None for all others."""
    return json.loads(CHECKSUMS.read_text(encoding="utf-8")).get(f"{name}/model.safetensors", "")[:16] or None


@dataclass(frozen=True)
class Profile:
    """A size.

    Args:
        name: a key of `PROFILES`.
        encoders: what stands for the "base", "large", ... encoder of a row; a row whose encoder is not there is
            not run.
        corpus: see `cselab_lab.experiments.corpora`.
        dev: the pairs that select the best step: "Classroom-STS" or "STS-B".
        seeds: the default seeds.
        suites: what is measured; those that need the SentEval folder are left out where there is none.
        geometry: the pairs on which alignment, uniformity and rank are measured: the dev split of "world" or "STS-B",
            or "STS-B test".
        recipe: fields of `TrainConfig`.
        pooling: of every encoder, unless a row says otherwise.
        purpose: what its numbers are good for; help and tables say it.
        fit_on: sentences of the corpus that a post-hoc transform is fitted on; None takes all of them.
        headline_seeds: of the rows of a headline claim (`Experiment.headlines`), where those are more.
        own_recipes: whether a method trains by the recipe of its own paper (`Method.recipes`) where that has one for
            the family of the encoder; `recipe` is for the others.
    """

    name: str
    encoders: Mapping[str, Backbone]
    corpus: str
    dev: str
    seeds: tuple[int, ...]
    suites: tuple[str, ...]
    geometry: str
    recipe: Mapping[str, Any]
    pooling: str
    purpose: str
    fit_on: int | None = None
    own_recipes: bool = False
    headline_seeds: tuple[int, ...] = ()


PAPER_RECIPE = {"epochs": 1.0, "batch_size": 64, "lr": 3e-5, "max_length": 32, "eval_every": 125}
LARGE = {"lr": 1e-5}
ROBERTA = {"lr": 1e-5, "batch_size": 512}
ROBERTA_LARGE = {"lr": 3e-5, "batch_size": 512}

STUDY = Profile(
    name="study",
    encoders={"base": bundled("mini")},
    corpus="world:20000",
    dev="Classroom-STS",
    seeds=(0, 1, 2, 3, 4),
    suites=("world", "sts"),
    geometry="STS-B",
    recipe=recipe("mini").settings(),
    pooling=recipe("mini").pooling,
    purpose="the bundled encoder and corpus, trained as long as it helps: anyone can make its numbers again",
    headline_seeds=(0, 1, 2, 3, 4, 5, 6),
)
PROFILES = {
    profile.name: profile
    for profile in (
        Profile(
            name="smoke",
            encoders={"base": bundled("micro")},
            corpus="world:1000",
            dev="Classroom-STS",
            seeds=(0, 1),
            suites=("world",),
            geometry="world",
            recipe={"steps": 4, "batch_size": 32, "lr": 3e-4, "eval_every": 4, "precision": "fp32"},
            pooling="cls",
            purpose="a check that every row runs; its numbers answer nothing",
        ),
        STUDY,
        Profile(
            name="paper",
            encoders={
                "base": Backbone("bert-base-uncased", 768),
                "large": Backbone("bert-large-uncased", 1024, LARGE, "bert-large"),
                "roberta": Backbone("roberta-base", 768, ROBERTA, "roberta-base"),
                "roberta-large": Backbone("roberta-large", 1024, ROBERTA_LARGE, "roberta-large"),
                "sbert": Backbone("sentence-transformers/bert-base-nli-mean-tokens", 768),
                "sbert-large": Backbone("sentence-transformers/bert-large-nli-mean-tokens", 1024, LARGE, "bert-large"),
            },
            corpus="wiki1m",
            dev="STS-B",
            seeds=(0, 1, 2, 3, 4),
            suites=("world", "sts"),
            geometry="STS-B",
            recipe=PAPER_RECIPE,
            pooling="cls",
            purpose="the encoders and the corpus of the papers, each method by its own paper's recipe: for GPUs",
            fit_on=100_000,
            own_recipes=True,
        ),
    )
}
VARIATIONS = (
    replace(
        PROFILES["paper"],
        name="paper-one-recipe",
        own_recipes=False,
        purpose="the encoders and the corpus of the papers, SimCSE's recipe for all methods: for GPUs",
    ),
    replace(
        STUDY,
        name="million",
        corpus="world:1000000",
        seeds=(0, 1, 2),
        recipe={**PAPER_RECIPE, "precision": "fp32"},
        purpose="SimCSE's own recipe and a million sentences of the bundled world, on the bundled encoder: for GPUs",
        fit_on=20_000,
        headline_seeds=(),
    ),
)
PROFILES |= {profile.name: profile for profile in VARIATIONS}
"""By name. `study` is the default of every experiment."""


def get_profile(name: str) -> Profile:
    """A profile by its name.

    Raises:
        ValueError: an unknown name; lists the known.
    """
    check_choice("profile", name, PROFILES)
    return PROFILES[name]
