"""A job is one row with one seed; its settings say everything that decides its numbers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cselab_lab.experiments.experiment import DEV, Experiment, Row, Size, times
from cselab_lab.experiments.profiles import Backbone, Profile, weights_of

if TYPE_CHECKING:
    from cselab.methods.recipe import Recipe

Settings = dict[str, Any]


class NotPossible(ValueError):
    """A row that cannot be run, now or under this profile; the message says why. It stays published only."""


@dataclass(frozen=True)
class Job:
    """One row with one seed.

    Attributes:
        label: of the row.
        seed: None where nothing is drawn at random.
        settings: everything that decides the numbers, JSON-able.
        suites, geometry: what is measured, where the data are; see `Profile`.
    """

    label: str
    seed: int | None
    settings: Settings
    suites: tuple[str, ...]
    geometry: str

    @property
    def hash(self) -> str:
        """What two jobs share exactly when they would compute the same."""
        return settings_hash(self.settings)

    @property
    def name(self) -> str:
        """For people: the row and the seed."""
        return self.label if self.seed is None else f"{self.label}, seed {self.seed}"


def settings_hash(settings: Settings) -> str:
    """Sixteen hexadecimal digits of the settings' sha256."""
    content = json.dumps(settings, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def jobs(
    experiment: Experiment, profile: Profile, seeds: Sequence[int] | None = None
) -> tuple[list[Job], dict[str, str]]:
    """The jobs of an experiment, seed by seed so that a run that stops early has whole tables, and the rows that
    cannot be run with the reason. Rows with the same settings give one job, under the first label. Without seeds
    each row has its own (`Experiment.seeds`).
    """
    possible, reasons = laid_out(experiment, profile)
    of_row = {
        row.label: seeds or experiment.seeds(row, profile) if row.seeded else (None,) for row in experiment.all_rows
    }
    distinct: dict[str, Job] = {}
    for seed in dict.fromkeys((None, *(seeds or (*profile.seeds, *profile.headline_seeds)))):
        for row in experiment.all_rows:
            if row.label in possible and seed in of_row[row.label]:
                job = _job(experiment, row, profile, possible[row.label], seed)
                distinct.setdefault(job.hash, job)
    return list(distinct.values()), reasons


def job_of(experiment: Experiment, row: Row, profile: Profile, seed: int | None) -> Job:
    """The job of a row and a seed.

    Raises:
        NotPossible: see `settings_of`.
    """
    return _job(experiment, row, profile, settings_of(experiment, row, profile), seed)


def _job(experiment: Experiment, row: Row, profile: Profile, settings: Settings, seed: int | None) -> Job:
    if row.seeded:
        settings = of_seed(settings, seed)
    return Job(row.label, seed if row.seeded else None, settings, _suites(experiment, profile), profile.geometry)


def of_seed(settings: Settings, seed: int | None) -> Settings:
    """The settings of a trained row with a seed, which is that of what it trains first, too; None takes it out."""
    recipe = {name: value for name, value in settings["recipe"].items() if name != "seed"}
    parameters = {
        name: of_seed(value, seed) if isinstance(value, dict) else value
        for name, value in settings["parameters"].items()
    }
    return settings | {"recipe": recipe | ({} if seed is None else {"seed": seed}), "parameters": parameters}


def _suites(experiment: Experiment, profile: Profile) -> tuple[str, ...]:
    """What is measured: the profile's suites, with those of the experiment, or dev pairs alone, in place of STS."""
    instead: tuple[str, ...] = ("sts",)
    if experiment.on_dev:
        instead = (DEV,) if any(column.measure == DEV for column in experiment.columns) else ()
    elif experiment.suites:
        instead = experiment.suites
    if "sts" not in profile.suites:
        return profile.suites
    return (*(suite for suite in profile.suites if suite != "sts"), *instead)


def laid_out(experiment: Experiment, profile: Profile) -> tuple[dict[str, Settings], dict[str, str]]:
    """By row the settings of those that can be run, without the seed, and why the others cannot be."""
    possible: dict[str, Settings] = {}
    reasons: dict[str, str] = {}
    for row in experiment.all_rows:
        try:
            possible[row.label] = settings_of(experiment, row, profile)
        except NotPossible as reason:
            reasons[row.label] = str(reason)
    return possible, reasons


def settings_of(experiment: Experiment, row: Row, profile: Profile) -> Settings:
    """Everything that decides the numbers of a row, but the seed; no method is built for it.

    Raises:
        NotPossible: the profile has no such encoder, there is no such method or hyper-parameter yet, or a number that
            depends on the width does not exist for this one.
    """
    if row.encoder not in profile.encoders:
        raise NotPossible(f"no {row.encoder} encoder under {profile.name}")
    backbone = profile.encoders[row.encoder]
    settings: Settings = {"reference": row.reference}
    if row.reference in (None, "static"):
        settings |= {"encoder": backbone.name, "weights": weights_of(backbone.name)}
    if row.reference is None:
        settings |= {"pooling": row.pooling or profile.pooling, "posthoc": row.posthoc}
    if row.posthoc is not None or row.method is not None:
        settings["corpus"] = profile.corpus
    if row.posthoc is not None:
        settings["fit_on"] = profile.fit_on
    if row.method is not None:
        settings |= _training(experiment, row, row.method, profile, backbone)
    return settings


def _training(experiment: Experiment, row: Row, method: str, profile: Profile, backbone: Backbone) -> Settings:
    """The corpus and its columns, the method with all its hyper-parameters, the recipe, the dev pairs."""
    from cselab.methods import METHODS

    if method not in METHODS:
        raise NotPossible(f"the method {method!r} is not there yet")
    columns = list(METHODS[method].columns)
    if columns != ["sentence"] and not profile.corpus.startswith("world:"):
        raise NotPossible(f"{profile.corpus} has no rows of {', '.join(columns)} from the world")
    recipe, own = {**profile.recipe, **backbone.recipe}, own_recipe(row, profile)
    recipe |= own.settings() if own else {} if row.rate == 1 else {"lr": times(row.rate)(recipe["lr"])}
    if missing := [name for name, value in row.recipe.items() if callable(value) and name not in recipe]:
        raise NotPossible(f"the recipe of {profile.name} has no {', '.join(missing)}")
    recipe |= {name: value(recipe[name]) if callable(value) else value for name, value in row.recipe.items()}
    given = {
        name: settings_of(experiment, value, profile) if isinstance(value, Row) else value
        for name, value in ((own.hyperparameters if own else {}) | dict(row.parameters)).items()
    }
    parameters = _parameters(method, given, Size(backbone.width, recipe["batch_size"]))
    pooling = {"pooling": own.pooling} if own and not row.pooling else {}
    told = {"corpus": profile.corpus, "columns": columns, "method": method, "parameters": parameters}
    return pooling | told | {"recipe": recipe, "dev": profile.dev}


def own_recipe(row: Row, profile: Profile) -> Recipe | None:
    """The recipe of the method's own paper, where the profile takes that and it has one for the row's encoder."""
    from cselab.methods import METHODS

    if not profile.own_recipes or row.method is None or row.encoder not in profile.encoders:
        return None
    return METHODS[row.method].recipes.get(profile.encoders[row.encoder].family)


def whose_recipe(row: Row, profile: Profile) -> str:
    """Whose recipe a trained row has under this profile, and its numbers; nothing where the profile has one for all."""
    from cselab.methods import METHODS

    if not profile.own_recipes or row.method is None or row.encoder not in profile.encoders:
        return ""
    own = own_recipe(row, profile)
    has = {**profile.recipe, **profile.encoders[row.encoder].recipe, **(own.settings() if own else {})}
    whose = (
        f"{own.whose or METHODS[row.method].title}'s recipe" if own else "SimCSE's recipe, for want of one of its own"
    )
    length = "" if has["max_length"] == profile.recipe["max_length"] else f", {has['max_length']} tokens"
    epochs = f"{has['epochs']:g} epoch" + "s" * (has["epochs"] != 1)
    return f"{whose} (batch {has['batch_size']}, lr {has['lr']:g}, {epochs}{length})"


def _parameters(method: str, given: Mapping[str, Any], size: Size) -> Settings:
    """All hyper-parameters of a method for this size, so that a default that changes is another job."""
    from cselab.methods import METHODS

    known, variants = METHODS[method].hyperparameters(), METHODS[method].variants
    if missing := given.keys() - known.keys() - {"variant"}:
        raise NotPossible(f"{method} has no {', '.join(sorted(missing))} yet")
    try:
        own = {name: value(size) if callable(value) else value for name, value in given.items()}
    except ValueError as reason:
        raise NotPossible(str(reason)) from None
    variant = own.get("variant", "default")
    return {"variant": variant} | known | variants.get(variant, {}) | own
