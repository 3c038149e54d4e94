"""Computing a job: train, transform, measure; a folder may keep trained encoders, by the hash of what was asked."""

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from filelock import FileLock

from cselab._util.progress import be_quiet
from cselab._util.reading import read_json
from cselab._util.versions import versions
from cselab._util.writing import write_text
from cselab.data import MissingFile, load_sts
from cselab.encoders.encoder import SentenceEncoder
from cselab.evaluators import RandomEncoder, StaticEmbeddings, TransformedEncoder, random_weights, word_overlap
from cselab.evaluators.task import Suite
from cselab.evaluators.vectors import SCORING, Encoder, PairScorer

from .corpora import corpus, spread_sample
from .dev import dev_evaluator
from .experiment import DEV
from .identity import encoder_folder
from .store import Job, JobRecord, JobSpec

Report = Callable[[int, int], None]
"""Called with the step that was reached, and the steps in all."""

Found = dict[str, Any]
"""Fields of a `JobRecord`."""

Files = Mapping[str, Path]
"""Where a corpus or an encoder lies on this machine, by its name."""

CURVE = ("step", "loss", "score", "alignment", "uniformity", "mean_cosine", "effective_rank")
"""The part of the training history that a line keeps, at the evaluated steps."""

K_MEANS_RUNS, RUNS_A_SEED = 10, 2
"""As many as in the survey: all at once for an untrained row, spread over five seeds for a trained row."""


def run_job(job: Job, report: Report | None = None, cache: Path | None = None) -> JobRecord:
    """Compute a job: train, transform, measure.

    Args:
        job: which.
        report: called as training continues.
        cache: a folder for the trained encoder, by the hash of what was asked; an existing encoder is only measured.

    Raises:
        DataError: the corpus or the dev pairs are missing or damaged.
    """
    started, spec = time.monotonic(), job.spec
    encoder = _encoder(spec, job.files)
    found = {"encoder_hash": encoder.weights_hash()} if hasattr(encoder, "weights_hash") else {}
    if spec.method:
        encoder, training = _trained(encoder, spec, job.files, report, cache)
        found |= training
    before, scores = found.pop("seconds", 0.0), found.pop("scores", {})
    if "failure" not in found:
        if spec.posthoc:
            sentences = _rows(spec, job.files)
            found |= _named_rows(sentences)
            is_text = not spec.corpus.startswith("world:")
            fit_on = spread_sample(sentences, spec.fit_on) if is_text else sentences[: spec.fit_on]
            encoder = _transformed(encoder, spec.posthoc, fit_on)
        with be_quiet():
            measured = _measured(encoder, job.suites, job.geometry, RUNS_A_SEED if spec.method else K_MEANS_RUNS)
        scores |= measured.pop("scores")
        found |= measured
    return JobRecord.of(
        job,
        **found,
        scores={name: round(value, 4) for name, value in scores.items()},
        seconds=round(before + time.monotonic() - started, 1),
        threads=torch.get_num_threads(),
        scoring=SCORING,
        versions=versions(),
    )


def _rows(spec: JobSpec, files: Files) -> list:
    """The rows of the corpus of a job, or of an encoder that is trained first."""
    columns = spec.columns or ("sentence",)
    return corpus(spec.corpus, columns, files.get(spec.corpus), spec.corpus_sha256 or None, spec.words)


def _named_rows(rows: list) -> Found:
    """The SHA-256 of the rows as they were read, and their number."""
    texts = (row if isinstance(row, str) else "\t".join(row) for row in rows)
    return {"corpus_hash": hashlib.sha256("\n".join(texts).encode()).hexdigest(), "corpus_rows": len(rows)}


def _encoder(spec: JobSpec, files: Files) -> Any:
    if spec.reference == "random":
        return RandomEncoder()
    if spec.reference == "word overlap":
        return word_overlap
    device = "cuda" if torch.cuda.is_available() else "cpu"
    folder = encoder_folder(spec.encoder, spec.weights, files.get(spec.encoder))
    encoder = SentenceEncoder.from_pretrained(folder, pooling=spec.pooling or None, device=device)
    if spec.reference == "random weights":
        return random_weights(encoder, spec.seed or 0)
    return StaticEmbeddings.from_encoder(encoder) if spec.reference == "static" else encoder


def _trained(
    encoder: SentenceEncoder, spec: JobSpec, files: Files, report: Report | None, cache: Path | None
) -> tuple[SentenceEncoder, Found]:
    """The trained encoder, and the fields of its record that training gives: from the cache, or trained now.

    With a cache a second process that needs the same encoder waits until the first has it.
    """
    if cache is None:
        with TemporaryDirectory() as folder:
            return encoder, _train(encoder, spec, files, report, Path(folder))
    own = cache / spec.hash
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{own}.lock"):
        if cached := read_cached(own):
            return cached
        started = time.monotonic()
        training = _train(encoder, spec, files, report, cache)
        if "failure" not in training:
            write_cached(own, encoder, training | {"seconds": round(time.monotonic() - started, 1)})
        return encoder, training


def _train(encoder: SentenceEncoder, spec: JobSpec, files: Files, report: Report | None, cache: Path) -> Found:
    """Train in place, after the encoders that the method is given, which the cache keeps for it."""
    parameters = dict(spec.parameters)
    try:
        for name, guide in spec.parameters.items():
            if isinstance(guide, JobSpec):
                _, training = _trained(_encoder(guide, files), guide, files, report, cache)
                if failure := training.get("failure"):
                    raise ArithmeticError(f"{name}: {failure}")
                parameters[name] = str(cache / guide.hash)
        return _fit(encoder, _rows(spec, files), replace(spec, parameters=parameters), report)
    except ArithmeticError as reason:  # a diverged run would diverge again with the same settings
        return {"failure": str(reason)}


def _fit(encoder: SentenceEncoder, rows: list, spec: JobSpec, report: Report | None) -> Found:
    """Train in place; the dev score of the best step, and the curve at the evaluated steps."""
    from cselab.methods import create_method
    from cselab.training import TrainConfig, train

    config = TrainConfig(**spec.to_json()["recipe"])  # with the seed
    steps = config.length(len(rows))
    first, _, otherwise = spec.dev.partition(" or ")
    chosen_by = otherwise if otherwise and no_data() else first

    def reached(_: Any, row: dict[str, Any]) -> None:
        if report is not None:
            report(row["step"], steps)

    run = train(
        encoder,
        create_method(spec.method, **spec.parameters),
        rows,
        config,
        dev_evaluator(chosen_by.lower(), rows)[0],
        callbacks=[reached],
        show_progress_bar=False,
    )
    best = run.best
    dev = {} if best is None else {f"{chosen_by} dev": best["score"]}
    return {
        "scores": dev | _diversity(run, rows[: config.batch_size]),
        "best_step": None if best is None else best["step"],
        "curve": [
            {name: round(row[name], 4) for name in CURVE if name in row}
            for row in run.history
            if "score" in row or "degenerate" in row
        ],
        **_named_rows(rows),
    }


def _diversity(run: Any, sentences: list) -> dict[str, float]:
    """The distance between views of a sentence after training (WhitenedCSE, Figure 1 d); empty if they collapsed."""
    from cselab.encoders.training_forward import Encode
    from cselab.metrics import DegenerateEmbeddings, diversity

    encoder = run.encoder.copy().train()  # a copy, because a whitening head would update its estimates
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(run.config.seed)
        views = run.method.views(Encode(encoder, run.config.max_length), sentences)
        try:
            return {"diversity": float(diversity([views.anchor, *views.positives]))}
        except DegenerateEmbeddings:
            return {}


def _transformed(encoder: SentenceEncoder, posthoc: str, sentences: list[str]) -> Encoder:
    from cselab.transforms import fit

    vectors = np.asarray(encoder.encode(sentences))
    return TransformedEncoder(encoder, fit(posthoc, vectors), name=f"{encoder.name}, {posthoc}")


def _measured(
    model: Encoder | PairScorer, suites: Sequence[str], geometry: str, k_means_runs: int = K_MEANS_RUNS
) -> dict[str, dict]:
    """All scores of the suites with data, the average of seven STS sets, and the geometry."""
    from cselab.evaluators import Clustering, Geometry, evaluate

    lacks = no_data()
    missing = {suite: lacks for suite in suites if lacks and not suite.startswith("world")}
    wanted = [suite for suite in suites if suite not in missing and suite != DEV]
    on_dev = DEV in suites and DEV not in missing
    if hasattr(model, "encode") and (on_dev or "sts" in wanted or (wanted and geometry == "world")):
        wanted.append("geometry")
    own: dict[str, Suite] = {"clustering": Clustering(seeds=range(k_means_runs)), "geometry": Geometry(split="dev")}
    scores, failures = dict[str, float](), dict[str, str]()
    if wanted:
        on = {"data": "world"} if geometry == "world" and "geometry" in wanted else {}
        found = evaluate(model, [own.get(suite, suite) for suite in wanted], **on)
        scores = found.scores | ({} if found.avg is None else {"Avg.": found.avg})
        missing, failures = missing | found.missing, dict(found.failures)
    if on_dev:
        scores |= evaluate(model, replace(load_sts("STS-B", split="dev"), name=DEV)).scores
    return {"scores": scores, "missing": missing, "failures": failures}


def no_data() -> str:
    """Why the real data cannot be read here; empty where they can."""
    from cselab.data import senteval_folder

    try:
        senteval_folder()
    except MissingFile as reason:
        return str(reason).partition(":")[0]
    return ""


# ------------------------------------------------------------------------------------------------ cached encoders

TRAINING = "training.json"
"""The fields of a record that training gives; written last, so that a folder without it is incomplete."""


def write_cached(folder: Path, encoder: SentenceEncoder, training: Found) -> None:
    """Write an encoder to a folder, with its training record.

    Raises:
        OSError: it cannot be written.
    """
    (folder / TRAINING).unlink(missing_ok=True)
    encoder.save_pretrained(folder)
    write_text(folder / TRAINING, json.dumps({"versions": versions()} | training, indent=1))


def read_cached(folder: Path) -> tuple[SentenceEncoder, Found] | None:
    """A cached encoder and its training record; None if absent or made with different versions."""
    if not (folder / TRAINING).is_file():
        return None
    training = read_json(folder / TRAINING)
    if training.pop("versions") != versions():
        return None
    return SentenceEncoder.from_pretrained(folder), training
