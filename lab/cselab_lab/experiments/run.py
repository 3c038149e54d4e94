"""Running an experiment: the jobs without a line are computed by an executor, and one process writes their lines.

run_experiment -> an executor -> run_job: train, transform, measure -> a line of `results.Store`
"""

import hashlib
import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

from filelock import FileLock

from cselab._util.checksums import sha256_of
from cselab._util.choices import check_choice
from cselab._util.progress import Progress, be_quiet
from cselab._util.versions import versions
from cselab._util.writing import write_text
from cselab.data import MissingFile, data_root, load_sts, read_pairs
from cselab.evaluators import PairsEvaluator, UnlabelledEvaluator
from cselab.evaluators.vectors import SCORING
from cselab.evaluators.world import classroom_sts, world_sts

from .corpora import TEXTS, corpus, spread_sample, text_file
from .identity import encoder_folder
from .plan import DEV, Experiment, Job, Line, Profile, Settings, get_experiment, get_profile, jobs, settings_hash
from .registered import DEV_SETS
from .results import RESULTS, Results, Store, read_results

if TYPE_CHECKING:
    from cselab.encoders.encoder import SentenceEncoder
    from cselab.evaluators.task import Suite
    from cselab.evaluators.vectors import Encoder, PairScorer
    from cselab.training import Evaluator

LOOK_AGAIN = 1.0
"""Seconds between two checks for jobs that a second command computes."""


class JobsFailed(RuntimeError):
    """Some jobs ended in an error without a line; the remaining jobs are written. The message names each with its
    error.
    """


def run_experiment(
    experiment: Experiment | str,
    profile: Profile | str = "study",
    seeds: Iterable[int] | None = None,
    only: Sequence[str] = (),
    *,
    workers: int = 0,
    scheduler: str | None = None,
    folder: str | Path = RESULTS,
    keep_encoders: str | Path | None = None,
    show_progress_bar: bool = True,
) -> Results:
    """Run the missing jobs of an experiment, and read all results.

    Each finished job is a line in the results file, and no experiment computes it again. Simultaneous calls share the
    jobs. Killed, only the jobs that were running start again.

    Args:
        experiment: an experiment, or its name.
        profile: a name in `PROFILES`, or your profile.
        seeds: default: the profile's, more for rows of a headline claim where the profile has more.
        only: labels of the rows to run, or patterns with *; all when empty. The plain encoder is always among them.
        workers: processes on this machine, started for this call; 0 computes in this process.
        scheduler: address of a Dask scheduler ("tcp://host:8786"), whose workers compute.
        folder: the folder of the results files.
        keep_encoders: a folder where each trained encoder is kept, under the hash of its line. An existing encoder is
            measured and not trained again, for example if a second table needs further suites. Workers must reach it.
        show_progress_bar: whether progress is shown.

    Raises:
        ValueError: an unknown experiment, profile or label; invalid seeds; workers together with a scheduler.
        MissingFile: a row still to run trains on a text that is not in the data folder; nothing was run.
        ResultsError: the results file has a damaged or foreign line; nothing was run.
        ConnectionError: no scheduler, a scheduler with different versions, or one that died; finished jobs are written.
        JobsFailed: some jobs ended in an error; the remaining jobs are in the file.
    """
    experiment, profile = get_experiment(experiment), get_profile(profile)
    chosen = None if seeds is None else _checked_seeds(seeds)
    labels = {label for pattern in only for label in experiment.labels(pattern)} | {"plain"}
    if workers < 0 or (workers and scheduler):
        raise ValueError(f"give workers (at least 0) or a scheduler, not {workers} and {scheduler!r}")
    if not scheduler:  # its workers have their own data
        profile = _with_text_hashes(experiment, profile)
    store = Store(folder, experiment.name, profile.name)
    todo = _unfinished(store, [job for job in jobs(experiment, profile, chosen)[0] if not only or job.label in labels])
    if not scheduler:
        for name in TEXTS.keys() & {job.settings.get("corpus") for job in todo} - profile.files.keys():
            text_file(name)
    failed: dict[str, str] = {}
    with ExitStack() as stack:
        name = f"{experiment.name}, {profile.name}"
        bar = stack.enter_context(Progress(len(todo), name, show=show_progress_bar, lines=len(todo)))
        progress = JobProgress(bar)
        cache = None if keep_encoders is None else Path(keep_encoders).resolve()
        if todo:
            executor = stack.enter_context(_executor(workers, scheduler, progress, cache))
            failed = _execute(todo, store, executor, progress)
    if failed:
        errors = "\n".join(
            f"  {'; '.join(name for name in failed if failed[name] == error)}: {error}"
            for error in dict.fromkeys(failed.values())
        )
        raise JobsFailed(
            f"{experiment.name}: {len(failed)} of {len(todo)} jobs failed and will run again next time:\n{errors}"
        )
    return read_results(experiment, profile, folder)


def _with_text_hashes(experiment: Experiment, profile: Profile) -> Profile:
    """The profile with the hashes of its texts in the data folder, which thereby become part of its jobs."""
    hashes = {}
    for name in {profile.corpus, *(row.corpus for row in experiment.rows if row.corpus)} & TEXTS.keys():
        with suppress(MissingFile):
            hashes[name] = sha256_of(text_file(name))
    return replace(profile, hashes={**hashes, **profile.hashes})


def _checked_seeds(seeds: Iterable[int]) -> tuple[int, ...]:
    chosen = tuple(dict.fromkeys(seeds))
    if not chosen or not all(isinstance(seed, int) and seed >= 0 for seed in chosen):
        raise ValueError(f"seeds are whole numbers of at least 0, one or more; got {chosen}")
    return chosen


def _unfinished(store: Store, wanted: Sequence[Job]) -> list[Job]:
    """The unfinished jobs; a job that a different experiment has finished becomes a line that refers to it."""
    done, elsewhere = store.read(), store.elsewhere()
    todo = []
    for job in wanted:
        if _complete(done.get(job.hash)):
            continue
        enough = (line for line in elsewhere[job.hash] if _complete(line) and set(job.suites) <= set(line["suites"]))
        if line := next(enough, None):
            store.append(_named(store, job) | {"from": line.get("from", line["experiment"])})
        else:
            todo.append(job)
    return todo


def _complete(line: Line | None) -> bool:
    """Whether a job is done: nothing that its line lacks could be measured now, because its data have come."""
    lacks = any(name in ("sts", "transfer", "clustering") for name in line["missing"]) if line else False
    return line is not None and not (lacks and not _no_data())


def _named(store: Store, job: Job) -> Line:
    """The part of a line that names its job."""
    return {
        "experiment": store.experiment,
        "profile": store.profile,
        "row": job.label,
        "seed": job.seed,
        "hash": job.hash,
    }


def _execute(todo: Sequence[Job], store: Store, executor: "Executor", progress: "JobProgress") -> dict[str, str]:
    """Compute all jobs that are not reserved; returns the errors of failed jobs, by name."""
    waiting, locks, failed = deque(todo), dict[str, FileLock](), dict[str, str]()
    try:
        while waiting or locks:
            for _ in range(len(waiting)):
                if len(locks) >= executor.capacity:
                    break
                job = waiting.popleft()
                lock = store.lock_job(job.hash)
                if lock is None:
                    waiting.append(job)
                elif _complete(store.read().get(job.hash)):
                    lock.release()
                    progress.finished(f"{job.name}, by a second command,", 0)
                else:
                    locks[job.hash] = lock
                    executor.submit(job)
            if not locks:
                if waiting:
                    time.sleep(LOOK_AGAIN)
                continue
            job, outcome = executor.next()
            if isinstance(outcome, Exception):
                failed[job.name] = f"{type(outcome).__name__}: {outcome}"
            else:
                store.append(_named(store, job) | {"settings": job.settings, "suites": list(job.suites)} | outcome)
            locks.pop(job.hash).release()
            progress.finished(job.name, 0.0 if isinstance(outcome, Exception) else outcome["seconds"])
    finally:
        for lock in locks.values():
            lock.release()
    return failed


# ------------------------------------------------------------------------------------------------ executors


Report = Callable[[int, int], None]
"""Called with the step that was reached, and the steps in all."""


class Executor(Protocol):
    """Where jobs are computed: in this process, or on Dask (`cselab_lab.experiments.cluster`).

    `capacity` jobs at a time may be submitted; `next` waits for one of them, and gives it with its line or its error.
    """

    capacity: int

    def submit(self, job: Job) -> None: ...

    def next(self) -> tuple[Job, Line | Exception]: ...


class LocalExecutor:
    """One job at a time, in this process."""

    capacity = 1

    def __init__(self, progress: "JobProgress", cache: Path | None = None) -> None:
        self.progress, self.cache, self.waiting = progress, cache, deque[Job]()

    def submit(self, job: Job) -> None:
        self.waiting.append(job)

    def next(self) -> tuple[Job, Line | Exception]:
        job = self.waiting.popleft()
        try:
            return job, run_job(job, lambda step, steps: self.progress.reached(job.name, step, steps), self.cache)
        except Exception as error:  # the next job may succeed: all errors are named at the end
            return job, error


def _executor(
    workers: int, scheduler: str | None, progress: "JobProgress", cache: Path | None
) -> AbstractContextManager[Executor]:
    if workers or scheduler:
        from .cluster import Cluster

        return Cluster(run_job, progress.reached, workers, scheduler, cache)
    return nullcontext(LocalExecutor(progress, cache))


class JobProgress:
    """Progress for people: jobs done, what runs and how far it is, and the time left."""

    def __init__(self, bar: Progress) -> None:
        self.bar, self.running = bar, dict[str, str]()

    def reached(self, name: str, step: int, steps: int) -> None:
        """A running job is at this step."""
        self.running[name] = f"{name}: step {step} of {steps}"
        self.bar.update(0, note="; ".join(self.running.values()))

    def finished(self, name: str, seconds: float) -> None:
        """A job is done."""
        self.running.pop(name, None)
        done = self.bar.done + 1
        left = (time.monotonic() - self.bar.started) / done * ((self.bar.total or done) - done)
        self.bar.update(1, note=f"{name} took {seconds:.0f} s; {left / 60:.0f} min left")


# ------------------------------------------------------------------------------------------------ computing a job

CURVE = ("step", "loss", "score", "alignment", "uniformity", "mean_cosine", "effective_rank")
"""The part of the training history that a line keeps, at the evaluated steps."""

K_MEANS_RUNS, RUNS_A_SEED = 10, 2
"""As many as in the survey: all at once for an untrained row, spread over five seeds for a trained row."""


def run_job(job: Job, report: Report | None = None, cache: Path | None = None) -> Line:
    """Compute a job: train, transform, measure.

    Args:
        job: which.
        report: called as training continues.
        cache: a folder for the trained encoder, by the hash of the settings; an existing encoder is only measured.

    Returns:
        The measured part of its line: "scores": numbers by name; "missing": omitted measures with reasons; "failures":
        failed measures with reasons; "failure": the reason why training broke down, or None; "best_step", "curve",
        "encoder_hash", "corpus_hash", "seconds", "threads", "scoring", "versions".

    Raises:
        DataError: the corpus or the dev pairs are missing or damaged.
    """
    import torch

    started, settings = time.monotonic(), job.settings
    line: Line = {"failure": None, "scores": {}, "missing": {}, "failures": {}}
    encoder = _encoder(job, settings)
    if hasattr(encoder, "weights_hash"):
        line["encoder_hash"] = encoder.weights_hash()
    before = 0.0
    if "method" in settings:
        encoder, training = _trained(encoder, job, settings, report, cache)
        before = training.pop("seconds", 0.0)
        line |= training
    if line["failure"] is None:
        if settings.get("posthoc"):
            sentences = _rows(job, settings)
            line |= _named_rows(sentences)
            is_text = not settings["corpus"].startswith("world:")
            fit_on = spread_sample(sentences, settings["fit_on"]) if is_text else sentences[: settings["fit_on"]]
            encoder = _transformed(encoder, settings["posthoc"], fit_on)
        with be_quiet():
            k_means_runs = RUNS_A_SEED if "method" in settings else K_MEANS_RUNS
            measured = _measured(encoder, job.suites, job.geometry, k_means_runs)
        line |= measured | {"scores": line["scores"] | measured["scores"]}
    line["scores"] = {name: round(value, 4) for name, value in line["scores"].items()}
    return line | {
        "seconds": round(before + time.monotonic() - started, 1),
        "threads": torch.get_num_threads(),
        "scoring": SCORING,
        "versions": versions(),
    }


def _rows(job: Job, settings: Settings) -> list:
    """The rows of the corpus in a job's settings, or in those of an encoder that is trained first."""
    name, words = settings["corpus"], settings.get("words")
    return corpus(
        name,
        tuple(settings.get("columns", ["sentence"])),
        job.files.get(name),
        settings.get("corpus_sha256"),
        tuple(words) if words else None,
    )


def _named_rows(rows: list) -> dict[str, Any]:
    """The SHA-256 of the rows as they were read, and their number."""
    texts = (row if isinstance(row, str) else "\t".join(row) for row in rows)
    return {"corpus_hash": hashlib.sha256("\n".join(texts).encode()).hexdigest(), "corpus_rows": len(rows)}


def _encoder(job: Job, settings: Settings) -> Any:
    import torch

    from cselab.encoders.encoder import SentenceEncoder
    from cselab.evaluators import RandomEncoder, StaticEmbeddings, random_weights, word_overlap

    if settings["reference"] == "random":
        return RandomEncoder()
    if settings["reference"] == "word overlap":
        return word_overlap
    device = "cuda" if torch.cuda.is_available() else "cpu"
    name = settings["encoder"]
    folder = encoder_folder(name, settings["weights"], job.files.get(name))
    encoder = SentenceEncoder.from_pretrained(folder, pooling=settings.get("pooling"), device=device)
    if settings["reference"] == "random weights":
        return random_weights(encoder, settings["seed"])
    return StaticEmbeddings.from_encoder(encoder) if settings["reference"] == "static" else encoder


def _trained(
    encoder: "SentenceEncoder", job: Job, settings: Settings, report: Report | None, cache: Path | None
) -> "tuple[SentenceEncoder, dict[str, Any]]":
    """The trained encoder and the line's training record: from the cache, or trained now.

    With a cache a second process that needs the same encoder waits until the first has it.
    """
    if cache is None:
        with TemporaryDirectory() as folder:
            return encoder, _train(encoder, job, settings, report, Path(folder))
    own = cache / settings_hash(settings)
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{own}.lock"):
        if cached := read_cached(own):
            return cached
        started = time.monotonic()
        training = _train(encoder, job, settings, report, cache)
        if "failure" not in training:
            write_cached(own, encoder, training | {"seconds": round(time.monotonic() - started, 1)})
        return encoder, training


def _train(
    encoder: "SentenceEncoder", job: Job, settings: Settings, report: Report | None, cache: Path
) -> dict[str, Any]:
    """Train in place, after the encoders that the method is given, which the cache keeps for it."""
    parameters = dict(settings["parameters"])
    try:
        for name, guide in settings["parameters"].items():
            if isinstance(guide, dict):
                _, training = _trained(_encoder(job, guide), job, guide, report, cache)
                if failure := training.get("failure"):
                    raise ArithmeticError(f"{name}: {failure}")
                parameters[name] = str(cache / settings_hash(guide))
        return _fit(encoder, _rows(job, settings), settings | {"parameters": parameters}, report)
    except ArithmeticError as reason:  # a diverged run would diverge again with the same settings
        return {"failure": str(reason)}


def _fit(encoder: "SentenceEncoder", rows: list, settings: Settings, report: Report | None) -> dict[str, Any]:
    """Train in place; the dev score of the best step, and the curve at the evaluated steps."""
    from cselab.methods import create_method
    from cselab.training import TrainConfig, train

    config = TrainConfig(**settings["recipe"])
    steps = config.length(len(rows))
    first, _, otherwise = settings["dev"].partition(" or ")
    chosen_by = otherwise if otherwise and _no_data() else first

    def reached(_: Any, row: dict[str, Any]) -> None:
        if report is not None:
            report(row["step"], steps)

    run = train(
        encoder,
        create_method(settings["method"], **settings["parameters"]),
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
    import torch

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


def _transformed(encoder: "SentenceEncoder", posthoc: str, sentences: list[str]) -> "Encoder":
    import numpy as np

    from cselab.evaluators import TransformedEncoder
    from cselab.transforms import fit

    vectors = np.asarray(encoder.encode(sentences))
    return TransformedEncoder(encoder, fit(posthoc, vectors), name=f"{encoder.name}, {posthoc}")


def _measured(
    model: "Encoder | PairScorer", suites: Sequence[str], geometry: str, k_means_runs: int = K_MEANS_RUNS
) -> dict[str, dict]:
    """All scores of the suites with data, the average of seven STS sets, and the geometry."""
    from cselab.evaluators import Clustering, Geometry, evaluate

    lacks = _no_data()
    missing = {suite: lacks for suite in suites if lacks and not suite.startswith("world")}
    wanted = [suite for suite in suites if suite not in missing and suite != DEV]
    on_dev = DEV in suites and DEV not in missing
    if hasattr(model, "encode") and (on_dev or "sts" in wanted or (wanted and geometry == "world")):
        wanted.append("geometry")
    own: dict[str, Suite] = {"clustering": Clustering(seeds=range(k_means_runs)), "geometry": Geometry(split="dev")}
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


def _no_data() -> str:
    """Why the real data cannot be read here; empty where they can."""
    from cselab.data import senteval_folder

    try:
        senteval_folder()
    except MissingFile as reason:
        return str(reason).partition(":")[0]
    return ""


# ------------------------------------------------------------------------------------------------ cached encoders

TRAINING = "training.json"
"""The training record of a line; written last, so that a folder without it is incomplete."""


def write_cached(folder: Path, encoder: "SentenceEncoder", training: dict[str, Any]) -> None:
    """Write an encoder to a folder, with its training record.

    Raises:
        OSError: it cannot be written.
    """
    (folder / TRAINING).unlink(missing_ok=True)
    encoder.save_pretrained(folder)
    write_text(folder / TRAINING, json.dumps({"versions": versions()} | training, indent=1))


def read_cached(folder: Path) -> "tuple[SentenceEncoder, dict[str, Any]] | None":
    """A cached encoder and its training record; None if absent or made with different versions."""
    from cselab.encoders.encoder import SentenceEncoder

    if not (folder / TRAINING).is_file():
        return None
    training = json.loads((folder / TRAINING).read_text(encoding="utf-8"))
    if training.pop("versions") != versions():
        return None
    return SentenceEncoder.from_pretrained(folder), training


# ------------------------------------------------------------------------------------------------ dev pairs

CHOICES = DEV_SETS
HELD_OUT = 500

CorpusRow = str | tuple[str, ...]
"""A sentence, or for a method with several columns a tuple of texts."""


def dev_evaluator(
    choice: str, sentences: Sequence[CorpusRow], data: Path | None = None
) -> "tuple[Evaluator | None, list[CorpusRow], str]":
    """The evaluator that selects the best step, the remaining training sentences, and a description.

    "sts-b": STS-B dev from the SentEval folder. "classroom-sts": natural pairs, bundled. "world": the bundled world's
    dev pairs. "corpus": label-free, on the last sentences of the corpus, which are then not trained on. "none": the
    last step is kept. "auto": STS-B where the data are, otherwise the world. A file: scored pairs, as for
    `cselab.data.read_pairs`.

    Raises:
        ValueError: an unknown choice; a corpus too small to hold sentences out.
        DataError: STS-B is damaged, or is required and missing; CSELAB_DATA names no folder.
    """
    sentences = list(sentences)
    if Path(choice).is_file() or Path(choice).suffix:
        pairs = read_pairs(choice)
        low, high = min(pairs.scores), max(pairs.scores)
        threshold = low + 0.8 * (high - low) - 1e-9  # of positives, on whatever scale, as 4 on STS's 0 to 5
        return PairsEvaluator(pairs, threshold), sentences, f"{len(pairs)} pairs of {Path(choice).name}"
    check_choice("dev", choice, CHOICES)
    if choice == "none":
        return None, sentences, "none"
    if choice == "corpus":
        held_out = min(HELD_OUT, len(sentences) // 10)
        if held_out < 20:
            raise ValueError(f"sentences in the corpus: {len(sentences)}, too few to hold some out: use --dev world")
        held = sentences[-held_out:]
        unseen = set(held)
        rest = [row for row in sentences[:-held_out] if row not in unseen]
        evaluator = UnlabelledEvaluator([row if isinstance(row, str) else row[0] for row in held])
        return evaluator, rest, f"{held_out} held-out sentences"
    if choice in ("auto", "sts-b"):
        root = data or data_root()
        try:
            pairs = load_sts("STS-B", root, split="dev")
            doubt = " (not the published text)" if pairs.provenance == "unknown text" else ""
            return PairsEvaluator(pairs), sentences, f"STS-B dev{doubt}"
        except MissingFile:
            if choice == "sts-b" or data is not None:
                raise
    if choice == "classroom-sts":
        return PairsEvaluator(classroom_sts("dev")), sentences, "Classroom-STS dev"
    return PairsEvaluator(world_sts("dev")), sentences, "the world's dev pairs"
