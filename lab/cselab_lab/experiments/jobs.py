"""A job is one row with one seed: settings that say everything, and the line of measured numbers that they give."""

from __future__ import annotations

import hashlib
import inspect
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cselab.data import MissingFile
from cselab.evaluators.versions import versions
from cselab_lab.experiments.experiment import DEV, Experiment, Row, Size, times, world_alone
from cselab_lab.experiments.kept import keep, kept
from cselab_lab.experiments.profiles import Profile, weights_of

if TYPE_CHECKING:
    from cselab.encoders.encoder import SentenceEncoder
    from cselab.evaluators.task import Collected, Source, Suite
    from cselab.evaluators.vectors import Encoder, PairScorer

Report = Callable[[int, int], None]
"""Called with the step that was reached, and the steps in all."""

CURVE = ("step", "loss", "score", "alignment", "uniformity", "mean_cosine", "effective_rank")
"""What of the training history a line keeps, at the evaluated steps."""

K_MEANS_RUNS, RUNS_A_SEED = 10, 2
"""As many as the survey took: all at once for a row that is not trained, spread over five seeds for one that is."""


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
    settings: dict[str, Any]
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


def jobs(experiment: Experiment, profile: Profile, seeds: Sequence[int]) -> tuple[list[Job], dict[str, str]]:
    """The jobs of an experiment, seed by seed so that a run that stops early has whole tables, and the rows that
    cannot be run with the reason. Rows with the same settings give one job, under the first label.
    """
    found: dict[str, Job] = {}
    reasons: dict[str, str] = {}
    for seed in (None, *seeds):
        for row in experiment.all_rows:
            if row.seeded == (seed is None) or row.label in reasons:
                continue
            try:
                job = job_of(experiment, row, profile, seed)
            except NotPossible as reason:
                reasons[row.label] = str(reason)
            else:
                found.setdefault(job.hash, job)
    return list(found.values()), reasons


def job_of(experiment: Experiment, row: Row, profile: Profile, seed: int | None) -> Job:
    """The job of a row and a seed.

    Raises:
        NotPossible: the profile has no such encoder, there is no such method or hyper-parameter yet, or a number that
            depends on the width does not exist for this one.
    """
    if row.encoder not in profile.encoders:
        raise NotPossible(f"no {row.encoder} encoder under {profile.name}")
    backbone = profile.encoders[row.encoder]
    settings: dict[str, Any] = {"reference": row.reference}
    if row.reference in (None, "static"):
        settings |= {"encoder": backbone.name, "weights": weights_of(backbone.name)}
    if row.reference is None:
        settings |= {"pooling": row.pooling or profile.pooling, "posthoc": row.posthoc}
    if row.posthoc is not None or row.method is not None:
        settings["corpus"] = profile.corpus
    if row.posthoc is not None:
        settings["fit_on"] = profile.fit_on
    if row.method is not None:
        settings |= _rows_of(row.method, row.corpus, profile)
        recipe = {**profile.recipe, **backbone.recipe}
        recipe |= {name: value(recipe[name]) if callable(value) else value for name, value in row.recipe.items()}
        if row.label in (own := experiment.rates.get(profile.name, {})):
            recipe["lr"] = times(own[row.label])(recipe["lr"])
        size = Size(backbone.width, recipe["batch_size"])
        settings |= {
            "method": row.method,
            "parameters": _parameters(row.method, row.parameters, size),
            "recipe": recipe | {"seed": seed},
            "dev": profile.dev,
        }
    suites = profile.suites
    if experiment.suites and "sts" in suites:
        suites = tuple(suite for suite in suites if suite != "sts") + experiment.suites
    if experiment.on_dev:
        asked = {column.measure for column in experiment.columns}
        suites = tuple(DEV if suite == "sts" else suite for suite in suites if suite != "sts" or DEV in asked)
    return Job(row.label, seed if row.seeded else None, settings, suites, profile.geometry)


def _rows_of(method: str, corpus: Callable[[str], str] | None, profile: Profile) -> dict[str, Any]:
    """The corpus that a method trains on, and the columns of its rows; more than a sentence has the world alone."""
    from cselab.methods import METHODS

    if method not in METHODS:
        raise NotPossible(f"the method {method!r} is not there yet")
    columns = list(METHODS[method].columns)
    corpus = corpus or (world_alone if columns != ["sentence"] else None)
    try:
        return {"corpus": corpus(profile.corpus) if corpus else profile.corpus, "columns": columns}
    except ValueError:
        raise NotPossible(f"{profile.corpus} has no rows of {', '.join(columns)} from the world") from None


def _parameters(method: str, given: Mapping[str, Any], size: Size) -> dict[str, Any]:
    """All hyper-parameters of a method for this size, so that a default that changes is another job."""
    from cselab.methods import METHODS, create_method

    known = inspect.signature(METHODS[method]).parameters
    missing = [name for name in given if name not in known]
    if missing:
        raise NotPossible(f"{method} has no {', '.join(missing)} yet")
    try:
        values = {name: value(size) if callable(value) else value for name, value in given.items()}
        return create_method(method, **values).settings()
    except ValueError as reason:
        raise NotPossible(str(reason)) from None


def settings_hash(settings: dict[str, Any]) -> str:
    """Sixteen hexadecimal digits of the settings' sha256."""
    content = json.dumps(settings, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def run_job(
    settings: dict[str, Any],
    suites: Sequence[str],
    geometry: str,
    report: Report | None = None,
    keep_encoders: Path | None = None,
) -> dict:
    """Compute a job: the part of its line that was measured.

    Args:
        settings, suites, geometry: of the `Job`.
        report: is told how far training is.
        keep_encoders: a folder for the trained encoder, by the hash of the settings; one that is there is measured.

    Returns:
        "scores": numbers by name; "missing": what was not measured and why; "failures": what could not be scored and
        why; "failure": why training broke down, or None; "best_step", "curve", "encoder_hash", "corpus_hash",
        "seconds", "threads", "versions".

    Raises:
        DataError: the corpus or the dev pairs are missing or damaged.
    """
    import torch

    started = time.monotonic()
    line: dict[str, Any] = {"failure": None, "scores": {}, "missing": {}, "failures": {}}
    encoder = _encoder(settings)
    if hasattr(encoder, "weights_hash"):
        line["encoder_hash"] = encoder.weights_hash()
    sentences = _corpus(settings["corpus"]) if "corpus" in settings else []
    before = 0.0
    if "method" in settings:
        encoder, training = _after_training(encoder, settings, report, keep_encoders)
        before = training.pop("seconds", 0.0)
        line |= training
    if line["failure"] is None:
        if settings.get("posthoc"):
            line["corpus_hash"] = _hash(sentences)
            encoder = _transformed(encoder, settings["posthoc"], sentences[: settings["fit_on"]])
        measured = _measured(encoder, suites, geometry, RUNS_A_SEED if "method" in settings else K_MEANS_RUNS)
        line["scores"] |= measured["scores"]
        line |= {name: measured[name] for name in ("missing", "failures")}
    line["scores"] = {name: round(value, 4) for name, value in line["scores"].items()}
    return line | {
        "seconds": round(before + time.monotonic() - started, 1),
        "threads": torch.get_num_threads(),
        "versions": versions(),
    }


def _corpus(name: str, columns: tuple[str, ...] = ("sentence",)) -> list:
    from cselab_lab.experiments.corpora import corpus

    return corpus(name, columns)


def _hash(rows: list) -> str:
    texts = (row if isinstance(row, str) else "\t".join(row) for row in rows)
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _encoder(settings: dict[str, Any]) -> Any:
    from cselab.encoders.encoder import SentenceEncoder
    from cselab.evaluators import RandomEncoder, StaticEmbeddings, word_overlap

    if settings["reference"] == "random":
        return RandomEncoder()
    if settings["reference"] == "word overlap":
        return word_overlap
    encoder = SentenceEncoder.from_pretrained(settings["encoder"], pooling=settings.get("pooling"))
    return StaticEmbeddings.from_encoder(encoder) if settings["reference"] == "static" else encoder


def _after_training(
    encoder: SentenceEncoder, settings: dict[str, Any], report: Report | None, keep_encoders: Path | None
) -> tuple[SentenceEncoder, dict[str, Any]]:
    """The trained encoder and what the line says of its training: as they were kept, or made now."""
    own = None if keep_encoders is None else keep_encoders / settings_hash(settings)
    if own is not None and (there := kept(own)) is not None:
        return there
    started = time.monotonic()
    try:
        training = _trained(encoder, _corpus(settings["corpus"], tuple(settings["columns"])), settings, report)
    except ArithmeticError as reason:  # diverged: with the same settings it always would
        return encoder, {"failure": str(reason)}
    if own is not None:
        keep(own, encoder, training | {"seconds": round(time.monotonic() - started, 1)})
    return encoder, training


def _trained(
    encoder: SentenceEncoder, sentences: list, settings: dict[str, Any], report: Report | None
) -> dict[str, Any]:
    """Train in place; the dev score of the best step, and the curve at the evaluated steps."""
    from cselab.methods import create_method
    from cselab.training import TrainConfig, train

    config = TrainConfig(**settings["recipe"])
    steps = config.steps or max(1, round(config.epochs * (len(sentences) // config.batch_size)))

    def reached(_: Any, row: dict[str, Any]) -> None:
        if report is not None:
            report(row["step"], steps)

    run = train(
        encoder,
        create_method(settings["method"], **settings["parameters"]),
        sentences,
        config,
        dev_evaluator(settings["dev"]),
        callbacks=[reached],
        show_progress_bar=False,
    )
    curve = [
        {name: round(row[name], 4) for name in CURVE if name in row}
        for row in run.history
        if "score" in row or "degenerate" in row
    ]
    best = run.best
    dev = {} if best is None else {f"{settings['dev']} dev": best["score"]}
    dev |= _diversity(run, sentences[: config.batch_size])
    return {
        "scores": dev,
        "best_step": None if best is None else best["step"],
        "curve": curve,
        "corpus_hash": _hash(sentences),
    }


def _diversity(run: Any, sentences: list) -> dict[str, float]:
    """How far apart views of a sentence are after training (WhitenedCSE, Figure 1 d); nothing if they collapsed."""
    import torch

    from cselab.encoders.encoding import Encode
    from cselab.metrics import DegenerateEmbeddings, diversity

    encoder = run.encoder.copy().train()  # a copy: a whitening head would go on with its estimates
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(run.config.seed)
        views = run.method.views(Encode(encoder, run.config.max_length), sentences)
        try:
            return {"diversity": float(diversity([views.anchor, *views.positives]))}
        except DegenerateEmbeddings:
            return {}


@cache
def dev_evaluator(name: str) -> Any:
    """What selects the best step: "Classroom-STS" or "STS-B", their dev pairs."""
    from cselab.data import load_sts
    from cselab.evaluators import PairsEvaluator
    from cselab.evaluators.world import classroom_sts

    return PairsEvaluator(classroom_sts("dev") if name == "Classroom-STS" else load_sts(name, split="dev"))


def _transformed(encoder: SentenceEncoder, posthoc: str, sentences: list[str]) -> Encoder:
    import numpy as np

    from cselab.evaluators import TransformedEncoder
    from cselab.transforms import fit

    vectors = np.asarray(encoder.encode(sentences))
    return TransformedEncoder(encoder, fit(posthoc, vectors), name=f"{encoder.name}, {posthoc}")


def _measured(
    model: Encoder | PairScorer, suites: Sequence[str], geometry: str, k_means_runs: int = K_MEANS_RUNS
) -> dict[str, dict]:
    """All scores of the suites whose data are there, the average of seven STS sets, and the geometry."""
    from cselab.data import senteval_folder
    from cselab.evaluators import Clustering, evaluate

    found: dict[str, dict] = {"scores": {}, "missing": {}, "failures": {}}
    wanted = list(suites)
    try:
        senteval_folder()
    except MissingFile as reason:
        away = [suite for suite in wanted if not suite.startswith("world")]
        found["missing"] = {suite: str(reason).partition(":")[0] for suite in away}
        wanted = [suite for suite in wanted if suite not in away]
    if wanted and hasattr(model, "encode") and (geometry == "world" or {"sts", DEV} & set(wanted)):
        wanted.append("geometry")
    if not wanted:
        return found
    on = {"data": "world"} if geometry == "world" and "geometry" in wanted else {}
    own: dict[str, Suite] = {DEV: _DevPairs(), "clustering": Clustering(seeds=range(k_means_runs))}
    scores = evaluate(_quiet(model), [own.get(suite, suite) for suite in wanted], **on)
    average = {} if scores.avg is None else {"Avg.": scores.avg}
    found["scores"], found["failures"] = scores.scores | average, dict(scores.failures)
    found["missing"] |= scores.missing
    return found


class _DevPairs:
    """The dev pairs of STS-B as a suite."""

    name: ClassVar[str] = DEV
    tasks: ClassVar[tuple[str, ...]] = (DEV,)

    def collect(self, data: Source, tasks: Sequence[str] | None) -> Collected:
        from cselab.data import load_sts
        from cselab.evaluators import STS
        from cselab.evaluators.task import Collected

        return Collected([STS().task(load_sts("STS-B", split="dev"), DEV)], {})


class _Quiet:
    """An encoder that shows no progress of its own: the experiment shows its."""

    def __init__(self, encoder: Any) -> None:
        self.encoder = encoder

    def __getattr__(self, name: str) -> Any:
        return getattr(self.encoder, name)

    def encode(self, sentences: list[str], **options: Any) -> Any:
        return self.encoder.encode(sentences, show_progress_bar=False, **options)


def _quiet(model: Any) -> Any:
    return _Quiet(model) if hasattr(model, "encode") else model


def measurable_here(missing: dict[str, str]) -> bool:
    """Whether something that a line lacks could be measured now: its data have come."""
    from cselab.data import senteval_folder

    try:
        senteval_folder()
    except MissingFile:
        return False
    return any(name in ("sts", "transfer", "clustering") for name in missing)
