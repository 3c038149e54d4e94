"""Computing a job: train, transform, measure; what was measured becomes the line of the job."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from cselab._util.progress import be_quiet
from cselab._util.versions import versions
from cselab.data import MissingFile
from cselab.evaluators.vectors import SCORING
from cselab_lab.experiments.corpora import corpus
from cselab_lab.experiments.dev import dev_evaluator
from cselab_lab.experiments.experiment import DEV
from cselab_lab.experiments.jobs import settings_hash
from cselab_lab.experiments.kept import keep, kept

if TYPE_CHECKING:
    from cselab.encoders.encoder import SentenceEncoder
    from cselab.evaluators.task import Suite
    from cselab.evaluators.vectors import Encoder, PairScorer

Report = Callable[[int, int], None]
"""Called with the step that was reached, and the steps in all."""

CURVE = ("step", "loss", "score", "alignment", "uniformity", "mean_cosine", "effective_rank")
"""What of the training history a line keeps, at the evaluated steps."""

PASSES = "by length"
"""How training cuts a batch. Lines without it are of before, when a batch was one pass: a seed drew other masks."""

K_MEANS_RUNS, RUNS_A_SEED = 10, 2
"""As many as the survey took: all at once for a row that is not trained, spread over five seeds for one that is."""


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
        why; "failure": why training broke down, or None; "best_step", "curve", "passes", "encoder_hash",
        "corpus_hash", "seconds", "threads", "scoring", "versions".

    Raises:
        DataError: the corpus or the dev pairs are missing or damaged.
    """
    import torch

    started = time.monotonic()
    line: dict[str, Any] = {"failure": None, "scores": {}, "missing": {}, "failures": {}}
    encoder = _encoder(settings)
    if hasattr(encoder, "weights_hash"):
        line["encoder_hash"] = encoder.weights_hash()
    before = 0.0
    if "method" in settings:
        encoder, training = _after_training(encoder, settings, report, keep_encoders)
        before = training.pop("seconds", 0.0)
        line |= training | {"passes": PASSES}
    if line["failure"] is None:
        if settings.get("posthoc"):
            sentences = corpus(settings["corpus"])
            line["corpus_hash"] = _hash(sentences)
            encoder = _transformed(encoder, settings["posthoc"], sentences[: settings["fit_on"]])
        with be_quiet():
            measured = _measured(encoder, suites, geometry, RUNS_A_SEED if "method" in settings else K_MEANS_RUNS)
        line |= measured | {"scores": line["scores"] | measured["scores"]}
    line["scores"] = {name: round(value, 4) for name, value in line["scores"].items()}
    return line | {
        "seconds": round(before + time.monotonic() - started, 1),
        "threads": torch.get_num_threads(),
        "scoring": SCORING,
        "versions": versions(),
    }


def _hash(rows: list) -> str:
    texts = (row if isinstance(row, str) else "\t".join(row) for row in rows)
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _encoder(settings: dict[str, Any]) -> Any:
    import torch

    from cselab.encoders.encoder import SentenceEncoder
    from cselab.evaluators import RandomEncoder, StaticEmbeddings, word_overlap

    if settings["reference"] == "random":
        return RandomEncoder()
    if settings["reference"] == "word overlap":
        return word_overlap
    device = "cuda" if torch.cuda.is_available() else "cpu"
    encoder = SentenceEncoder.from_pretrained(settings["encoder"], pooling=settings.get("pooling"), device=device)
    return StaticEmbeddings.from_encoder(encoder) if settings["reference"] == "static" else encoder


def _after_training(
    encoder: SentenceEncoder, settings: dict[str, Any], report: Report | None, keep_encoders: Path | None
) -> tuple[SentenceEncoder, dict[str, Any]]:
    """The trained encoder and what the line says of its training: as they were kept, or made now.

    Where encoders are kept, a second process that wants the same one waits until the first has it.
    """
    if keep_encoders is None:
        return _newly_trained(encoder, settings, report, None)
    own = keep_encoders / settings_hash(settings)
    keep_encoders.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{own}.lock"):
        if there := kept(own):
            return there
        started = time.monotonic()
        encoder, training = _newly_trained(encoder, settings, report, keep_encoders)
        if "failure" not in training:
            keep(own, encoder, training | {"seconds": round(time.monotonic() - started, 1)})
        return encoder, training


def _newly_trained(
    encoder: SentenceEncoder, settings: dict[str, Any], report: Report | None, keep_encoders: Path | None
) -> tuple[SentenceEncoder, dict[str, Any]]:
    with TemporaryDirectory() as folder:
        try:
            first = _trained_first(settings["parameters"], report, keep_encoders or Path(folder))
            rows = corpus(settings["corpus"], tuple(settings["columns"]))
            training = _trained(encoder, rows, settings | {"parameters": settings["parameters"] | first}, report)
        except ArithmeticError as reason:  # diverged: with the same settings it always would
            return encoder, {"failure": str(reason)}
    return encoder, training


def _trained_first(parameters: dict[str, Any], report: Report | None, folder: Path) -> dict[str, str]:
    """The folders of the encoders that a method is given, each trained there unless it was kept.

    Raises:
        ArithmeticError: one of them diverged.
    """
    wanted = {name: settings for name, settings in parameters.items() if isinstance(settings, dict)}
    for name, settings in wanted.items():
        _, training = _after_training(_encoder(settings), settings, report, folder)
        if failure := training.get("failure"):
            raise ArithmeticError(f"{name}: {failure}")
    return {name: str(folder / settings_hash(settings)) for name, settings in wanted.items()}


def _trained(
    encoder: SentenceEncoder, sentences: list, settings: dict[str, Any], report: Report | None
) -> dict[str, Any]:
    """Train in place; the dev score of the best step, and the curve at the evaluated steps."""
    from cselab.methods import create_method
    from cselab.training import TrainConfig, train

    config = TrainConfig(**settings["recipe"])
    steps = config.length(len(sentences))

    def reached(_: Any, row: dict[str, Any]) -> None:
        if report is not None:
            report(row["step"], steps)

    run = train(
        encoder,
        create_method(settings["method"], **settings["parameters"]),
        sentences,
        config,
        dev_evaluator(settings["dev"].lower(), sentences)[0],
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
    from cselab.data import load_sts
    from cselab.evaluators import Clustering, Geometry, evaluate

    lacks = no_data()
    missing = {suite: lacks for suite in suites if lacks and not suite.startswith("world")}
    wanted = [suite for suite in suites if suite not in missing and suite != DEV]
    on_dev = DEV in suites and DEV not in missing
    if hasattr(model, "encode") and (on_dev or "sts" in wanted or (wanted and geometry == "world")):
        wanted.append("geometry")
    own: dict[str, Suite] = {
        "clustering": Clustering(seeds=range(k_means_runs)),
        "geometry": Geometry(split="test" if geometry.endswith("test") else "dev"),
    }
    line: dict[str, dict] = {"scores": {}, "missing": missing, "failures": {}}
    if wanted:
        on = {"data": "world"} if geometry == "world" and "geometry" in wanted else {}
        scores = evaluate(model, [own.get(suite, suite) for suite in wanted], **on)
        average = {} if scores.avg is None else {"Avg.": scores.avg}
        line = {
            "scores": scores.scores | average,
            "missing": missing | scores.missing,
            "failures": dict(scores.failures),
        }
    if on_dev:
        line["scores"] |= evaluate(model, replace(load_sts("STS-B", split="dev"), name=DEV)).scores
    return line


def no_data() -> str:
    """Why the real data cannot be had here; empty where they can."""
    from cselab.data import senteval_folder

    try:
        senteval_folder()
    except MissingFile as reason:
        return str(reason).partition(":")[0]
    return ""


def measurable_here(missing: dict[str, str]) -> bool:
    """Whether something that a line lacks could be measured now: its data have come."""
    return any(name in ("sts", "transfer", "clustering") for name in missing) and not no_data()
