"""The plan of an experiment: the profiles, which set the size of its rows, and the jobs.

A row under a profile asks something (`JobSpec`), and with a seed that is a job: `expand_rows`, `jobs`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cselab._util.arguments import check_choice
from cselab._util.reading import read_json
from cselab.encoders.open import ASSETS

from .experiment import DEV, Experiment, Row, Size, times
from .identity import KNOWN, Identity, bundled_weights, identify_encoder, identify_text
from .store import Job, JobSpec

if TYPE_CHECKING:
    from cselab.methods import Method, Recipe
    from cselab.training import TrainConfig

# ------------------------------------------------------------------------------------------------ recipes, profiles


@dataclass(frozen=True)
class BundledRecipe:
    """The settings under which a bundled encoder shows the papers' effects: the same for all methods.

    `results/search.md` has the searches on dev data (rate, batch, temperature, length, corpus) that found them.

    Attributes:
        steps, lr, batch_size, eval_every: as in `TrainConfig`. The score jumps within the first steps: evaluate often.
        precision: float32, so that the same seed gives the same numbers with and without bfloat16.
        pooling: the pooling of the encoder: [CLS] for `mini`, as in the papers, with the training head of the method;
            the mean for `micro`, whose [CLS] gets worse with contrastive training (its card has the numbers).

    See also: `cselab.methods.recipe`, the papers' settings for BERT and RoBERTa.

    >>> RECIPES["mini"].config(seed=1).batch_size
    64
    """

    steps: int
    lr: float
    batch_size: int = 64
    eval_every: int = 20
    precision: Literal["fp32"] = "fp32"
    pooling: str = "cls"

    def settings(self) -> dict[str, Any]:
        """The fields of `TrainConfig`."""
        return {name: value for name, value in asdict(self).items() if name != "pooling"}

    def config(self, **changes: Any) -> "TrainConfig":
        """These settings as a `TrainConfig`, with further fields (`seed`, ...) or values from the caller."""
        from cselab.training import TrainConfig

        return TrainConfig(**self.settings() | changes)


RECIPES = {
    "mini": BundledRecipe(steps=200, lr=3e-4),
    "micro": BundledRecipe(steps=50, lr=5e-4, eval_every=10, pooling="mean"),
}


@dataclass(frozen=True)
class Backbone:
    """An encoder by its name, its width, its family in the papers' recipes, and how SimCSE's recipe differs for it."""

    name: str
    width: int
    recipe: Mapping[str, Any] = field(default_factory=dict)
    family: str = "bert-base"


def backbone_in(folder: Path, name: str) -> Backbone:
    """The encoder in a folder, its width and family read from its configuration."""
    configuration = read_json(folder / "config.json")
    width = configuration["hidden_size"]
    kind = "roberta" if "roberta" in configuration["model_type"] else "bert"
    return Backbone(name, width, family=f"{kind}-{'large' if width >= 1024 else 'base'}")


def bundled(name: str) -> Backbone:
    """A bundled encoder."""
    return backbone_in(ASSETS / name, name)


@dataclass(frozen=True)
class Profile:
    """A size at which every experiment can run. Its recipe is the same for all rows: no method is tuned more.

    Args:
        name: a key of `PROFILES`.
        encoders: the backbone of rows with the encoder "base", "large", ...; the remaining rows do not run.
        corpus: see `cselab_lab.experiments.corpora.corpus`.
        dev: the pairs that select the best step: "Classroom-STS", "STS-B", or "STS-B or Classroom-STS", which is the
            first where its data are.
        seeds: the default seeds.
        suites: the measured suites; those that need the SentEval folder are omitted without one.
        geometry: the pairs on which alignment, uniformity and rank are measured: the dev split of "world" or "STS-B".
        recipe: fields of `TrainConfig`.
        pooling: the pooling of every encoder, unless a row sets its own.
        purpose: the use of its numbers, for help and tables.
        fit_on: number of the corpus's sentences for fitting a post-hoc transform; None means all.
        headline_seeds: the seeds of the rows of a headline claim (`Experiment.headlines`), where those are more.
        own_recipes: whether a method trains with its paper's recipe (`Method.recipes`) if that has one for the family
            of the encoder; `recipe` is for the rest.
        words: the least and the most words of a sentence of the corpus; all sentences when None.
        files: where a corpus or an encoder lies on this machine, by its name; no part of a record.
        hashes: the SHA-256 of the weights of an encoder and of the file of a corpus, by their names.
        own_encoder: whether the encoder is not the one of the profile: tables name it.
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
    words: tuple[int, int] | None = None
    files: Mapping[str, Path] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=lambda: KNOWN)
    own_encoder: bool = False


PAPER_RECIPE = {"epochs": 1.0, "batch_size": 64, "lr": 3e-5, "max_length": 32, "eval_every": 125}

SMOKE = Profile(
    name="smoke",
    encoders={"base": bundled("micro")},
    corpus="world:1000",
    dev="Classroom-STS",
    seeds=(0, 1),
    suites=("world",),
    geometry="world",
    recipe={"steps": 4, "batch_size": 32, "lr": 3e-4, "eval_every": 4, "precision": "fp32"},
    pooling="cls",
    purpose="a quick test of every row; ignore the scores",
)
STUDY = Profile(
    name="study",
    encoders={"base": bundled("mini")},
    corpus="world:20000",
    dev="Classroom-STS",
    seeds=(0, 1, 2, 3, 4),
    suites=("world", "sts"),
    geometry="STS-B",
    recipe=RECIPES["mini"].settings(),
    pooling=RECIPES["mini"].pooling,
    purpose="the bundled encoder and corpus: anyone can reproduce these numbers",
    headline_seeds=(0, 1, 2, 3, 4, 5, 6),
)
PAPER = replace(
    STUDY,
    name="paper",
    encoders={
        "base": Backbone("bert-base-uncased", 768),
        "large": Backbone("bert-large-uncased", 1024, {"lr": 1e-5}, "bert-large"),
        "roberta": Backbone("roberta-base", 768, {"lr": 1e-5, "batch_size": 512}, "roberta-base"),
        "roberta-large": Backbone("roberta-large", 1024, {"lr": 3e-5, "batch_size": 512}, "roberta-large"),
        "sbert": Backbone("sentence-transformers/bert-base-nli-mean-tokens", 768),
        "sbert-large": Backbone("sentence-transformers/bert-large-nli-mean-tokens", 1024, {"lr": 1e-5}, "bert-large"),
    },
    corpus="wiki1m",
    dev="STS-B",
    recipe=PAPER_RECIPE,
    pooling="cls",
    purpose="the encoders and the corpus of the papers, each method with the recipe of its paper: for GPUs",
    fit_on=100_000,
    own_recipes=True,
    headline_seeds=(),
)
PAPER_ONE_RECIPE = replace(
    PAPER,
    name="paper-one-recipe",
    own_recipes=False,
    purpose="the encoders and the corpus of the papers, SimCSE's recipe for all methods: for GPUs",
)
MILLION = replace(
    STUDY,
    name="million",
    corpus="world:1000000",
    seeds=(0, 1, 2),
    recipe={**PAPER_RECIPE, "precision": "fp32"},
    purpose="SimCSE's recipe and a million sentences of the bundled world, on the bundled encoder: for GPUs",
    fit_on=20_000,
    headline_seeds=(),
)
WIKI = replace(
    STUDY,
    name="wiki",
    corpus="wiki1m",
    dev="STS-B or Classroom-STS",
    seeds=(0, 1, 2),
    recipe={**RECIPES["mini"].settings(), "steps": 600, "max_length": 32},
    purpose="the bundled encoder on sentences of Wikipedia: two hours of a core for a seed of the experiment wiki",
    fit_on=20_000,
    words=(5, 40),
)
PROFILES = {profile.name: profile for profile in (SMOKE, STUDY, PAPER, PAPER_ONE_RECIPE, MILLION, WIKI)}
"""By name. `study` is the default of every experiment."""


def get_profile(name: str | Profile) -> Profile:
    """A profile by its name; a profile itself is returned.

    Raises:
        ValueError: an unknown name; the message lists the known ones.
    """
    if isinstance(name, Profile):
        return name
    check_choice("profile", name, PROFILES)
    return PROFILES[name]


def with_changes(
    profile: str | Profile,
    encoder: str | Path | None = None,
    corpus: str | Path | None = None,
    recipe: Mapping[str, Any] | None = None,
    dev_only: bool = False,
) -> Profile:
    """A profile with an encoder, a text or training settings of one's own. Its name says which, so its results have
    files of their own.

    Args:
        profile: the profile to change.
        encoder: a bundled name, a folder, or a name of the hub; instead of all encoders of the profile.
        corpus: a text file, or the name of a known text.
        recipe: fields of `TrainConfig` that differ.
        dev_only: whether only STS-B dev is scored, as in a search of a hyper-parameter.

    Raises:
        ValueError: an unknown profile.
        CheckpointError: there is no such encoder.
        DataError: the file cannot be read.

    >>> with_changes("wiki", "micro", "simplewiki-1m", {"lr": 1e-4}).name
    'wiki-micro-simplewiki-1m-lr=0.0001'
    """
    profile = get_profile(profile)
    base = profile.encoders["base"].name
    own = Identity(base) if encoder is None else identify_encoder(encoder)
    text = Identity(profile.corpus) if corpus is None else identify_text(corpus)
    changed = dict(recipe or {})
    parts = [own.name] * (own.name != base) + [text.name.replace(":", "-")] * (text.name != profile.corpus)
    parts += [f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}" for name, value in changed.items()]
    parts += ["dev"] * dev_only
    encoders = profile.encoders
    if encoder is not None:
        encoders = {"base": bundled(own.name) if own.place is None else backbone_in(own.place, own.name)}
    return replace(
        profile,
        name="-".join([profile.name, *parts]),
        purpose=f"as {profile.name}, with the changes in the name" if parts else profile.purpose,
        encoders=encoders,
        corpus=text.name,
        recipe={**profile.recipe, **changed},
        suites=(DEV,) if dev_only else profile.suites,
        files={**profile.files, **{one.name: one.place for one in (own, text) if one.place is not None}},
        hashes={**profile.hashes, **{one.name: one.sha256 for one in (own, text) if one.sha256 is not None}},
        own_encoder=profile.own_encoder or own.name != base,
    )


# ------------------------------------------------------------------------------------------------ jobs


class NotPossible(ValueError):
    """A row that cannot run, now or under this profile; the message has the reason. It has only published numbers."""


def jobs(
    experiment: Experiment, profile: Profile, seeds: Sequence[int] | None = None
) -> tuple[list[Job], dict[str, str]]:
    """The jobs of an experiment, seed by seed so that a run that stops early has whole tables, and the rows that
    cannot be run with the reason. Rows that ask the same give one job, under the first label. Without seeds each row
    has the profile's.
    """
    possible, reasons = expand_rows(experiment, profile)
    suites = profile.suites
    if "sts" in suites:
        suites = (*(suite for suite in suites if suite != "sts"), *experiment.suites)
    more = experiment.headline_labels if profile.headline_seeds else ()
    drawn = {
        row.label: seeds or (profile.headline_seeds if row.label in more else profile.seeds)
        for row in experiment.all_rows
        if row.drawn
    }
    distinct: dict[str, Job] = {}
    for seed in dict.fromkeys((None, *(seeds or (*profile.seeds, *profile.headline_seeds)))):
        for label, spec in possible.items():
            if seed in drawn.get(label, (None,)):
                seeded = spec.with_seed(seed)
                job = Job(experiment.name, profile.name, label, seeded, suites, profile.geometry, profile.files)
                distinct.setdefault(seeded.hash, job)
    return list(distinct.values()), reasons


def expand_rows(experiment: Experiment, profile: Profile) -> tuple[dict[str, JobSpec], dict[str, str]]:
    """What each row that can run asks, without the seed, and the reasons for the remaining rows."""
    possible: dict[str, JobSpec] = {}
    reasons: dict[str, str] = {}
    for row in experiment.all_rows:
        try:
            possible[row.label] = _spec(row, profile)
        except NotPossible as reason:
            reasons[row.label] = str(reason)
    return possible, reasons


def _spec(row: Row, profile: Profile) -> JobSpec:
    """What a row asks, without the seed; no method is built for it.

    Raises:
        NotPossible: the profile lacks the encoder, the method or hyper-parameter does not exist yet, or a number that
            depends on the width does not exist for this width.
    """
    if row.encoder not in profile.encoders:
        raise NotPossible(f"no {row.encoder} encoder under {profile.name}")
    if row.corpus and profile.corpus.startswith("world:"):
        raise NotPossible(f"no {row.corpus} text under {profile.name}")
    backbone, corpus = profile.encoders[row.encoder], row.corpus or profile.corpus
    asked: dict[str, Any] = {"reference": row.reference}
    if row.reference in (None, "static", "random weights"):
        weights = bundled_weights(backbone.name) or profile.hashes.get(backbone.name)
        asked |= {"encoder": backbone.name, "weights": weights and weights[:16]}
    if row.reference in (None, "random weights"):
        asked |= {"pooling": row.pooling or profile.pooling, "posthoc": row.posthoc}
    if row.posthoc is not None or row.method is not None:
        asked |= {"corpus": corpus, "corpus_sha256": profile.hashes.get(corpus, ""), "words": profile.words}
    if row.posthoc is not None:
        asked["fit_on"] = profile.fit_on
    if row.method is not None:
        asked |= _training(row, row.method, profile, backbone)
    return JobSpec(**asked)


def _training(row: Row, method: str, profile: Profile, backbone: Backbone) -> dict[str, Any]:
    """The part of `JobSpec` that a method needs: columns, hyper-parameters, recipe, dev pairs."""
    from cselab.methods import METHODS

    if method not in METHODS:
        raise NotPossible(f"the method {method!r} does not exist yet")
    columns = METHODS[method].columns
    if columns != ("sentence",) and not profile.corpus.startswith("world:"):
        raise NotPossible(f"{profile.corpus} has no rows of {', '.join(columns)} from the world")
    recipe, own = base_recipe(method, profile, backbone)
    changes = {**({} if own or row.rate == 1 else {"lr": times(row.rate)}), **row.recipe}
    if missing := [name for name, value in changes.items() if callable(value) and name not in recipe]:
        raise NotPossible(f"the recipe of {profile.name} has no {', '.join(missing)}")
    recipe |= {name: value(recipe[name]) if callable(value) else value for name, value in changes.items()}
    given = (own.hyperparameters if own else {}) | {
        name: _spec(value, profile) if isinstance(value, Row) else value for name, value in row.parameters.items()
    }
    parameters = _parameters(METHODS[method], given, Size(backbone.width, recipe["batch_size"]))
    pooling = {"pooling": own.pooling} if own and not row.pooling else {}
    return {
        "columns": columns,
        "method": method,
        "parameters": parameters,
        "recipe": recipe,
        "dev": profile.dev,
        **pooling,
    }


def base_recipe(method: str, profile: Profile, backbone: Backbone) -> "tuple[dict[str, Any], Recipe | None]":
    """The recipe of a method before a row's own changes, and the recipe of its paper if that is in it.

    The profile's, over it the encoder's, and over both the paper's where the profile uses those.
    """
    from cselab.methods import METHODS

    own = METHODS[method].recipes.get(backbone.family) if profile.own_recipes else None
    return {**profile.recipe, **backbone.recipe, **(own.settings() if own else {})}, own


def _parameters(method: "type[Method]", given: Mapping[str, Any], size: Size) -> dict[str, Any]:
    """All hyper-parameters of a method for this size."""
    known, variants = method.hyperparameters(), method.variants
    if missing := given.keys() - known.keys() - {"variant"}:
        raise NotPossible(f"{method.name} has no {', '.join(sorted(missing))} yet")
    try:
        own = {name: value(size) if callable(value) else value for name, value in given.items()}
    except ValueError as reason:
        raise NotPossible(str(reason)) from None
    variant = own.get("variant", "default")
    return {"variant": variant} | known | variants.get(variant, {}) | own


def recipe_source(row: Row, profile: Profile) -> str:
    """The source and numbers of a trained row's recipe under this profile; empty if the profile has one for all."""
    from cselab.methods import METHODS

    if not profile.own_recipes or row.method is None or row.encoder not in profile.encoders:
        return ""
    used, own = base_recipe(row.method, profile, profile.encoders[row.encoder])
    source = f"{own.whose or METHODS[row.method].title}'s recipe" if own else "SimCSE's recipe, because it has none"
    length = "" if used["max_length"] == profile.recipe["max_length"] else f", {used['max_length']} tokens"
    epochs = f"{used['epochs']:g} epoch" + "s" * (used["epochs"] != 1)
    return f"{source} (batch {used['batch_size']}, lr {used['lr']:g}, {epochs}{length})"
