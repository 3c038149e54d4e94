"""The training loop: set up, resume, the steps, finish. `train` reads from top to bottom.

A step depends only on (seed, step): its sentences and its dropout masks. So the same seed on the
same machine gives the same history, and a run that was killed and started again ends with the same weights.
`Run` has everything that changes during a run besides the optimiser's own state.
"""

import copy
import hashlib
import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from cselab._util.arguments import checked
from cselab._util.progress import Progress, say
from cselab._util.versions import versions
from cselab.data.rows import check_rows, lines_hash, rows_hash
from cselab.encoders.adapters import adapter_settings, load_adapter
from cselab.encoders.checkpoint import CheckpointError, load_checkpoint, save_checkpoint
from cselab.encoders.distributed import all_processes, average_gradients, from_main, mean_over_processes, wait_for_all
from cselab.encoders.encoder import SentenceEncoder, eval_mode, exclusive
from cselab.encoders.speed import chosen_precision, computing_in, is_asynchronous
from cselab.encoders.training_forward import Encode
from cselab.methods import Method, Setup, create_method
from cselab.metrics.degenerate import DegenerateEmbeddings

from .config import TrainConfig
from .preflight import check_adapters_learn, check_complete, check_views_differ, warn_of_unknown_tokens
from .run_folder import RunFolder, check_same_identity, load_state, save_state, state_dict_errors

MOST_STEPS_BEHIND = 16
"""How many steps of training a GPU may be behind."""

UnreadStep = tuple[int, dict[str, Tensor], Mapping[str, float]]
"""A step, its numbers on their device, and further columns of its row."""

Evaluator = Callable[[SentenceEncoder], Mapping[str, float]]
"""`evaluator(encoder)` -> numbers with a "score", higher is better."""


class StopTraining(Exception):
    """Raised by a callback to end training after this step: the run is returned with its best weights."""


class TrainingDiverged(ArithmeticError):
    """A loss, a gradient or a weight became NaN or infinite; the message names the tensor."""


HistoryRow = dict[str, Any]
"""The numbers of a step by name, and "step" itself."""


@dataclass(repr=False)
class Run:
    """A training run: the current encoder and the history.

    `history` has one row (a dict) per step: "step", "loss", each named term of the loss, and on evaluated steps the
    evaluator's values ("score", "alignment", "uniformity", "effective_rank" ...). Row 0 is the encoder before
    training. Where a loss has several terms, evaluated steps have the gradient norm of each ("gradient_norm/..."),
    before clipping. Where the vectors could not be scored (all alike, NaN) the row has the reason as "degenerate" and
    no score: training continues, with a warning the first time. `best` is the evaluated row with the highest score,
    after step 0; the finished run's encoder has its weights. `stopped` has the reason if the run ended before its last
    step. `method` is a copy of the given method, with the values that depend on the encoder filled in.

    The remaining fields are those of a run at work: the last complete step, the weights of the best step, the steps
    whose numbers were not read yet, and the evaluator, callbacks and folder of the process that writes.
    """

    encoder: SentenceEncoder
    method: Method
    config: TrainConfig
    history: list[HistoryRow] = field(default_factory=list)
    best: HistoryRow | None = None
    output: Path | None = None
    seconds: float = 0.0
    resumed_from: int | None = None
    stopped: str | None = None

    step: int = 0
    precision: str = "fp32"
    identity: dict[str, Any] = field(default_factory=dict)
    best_state: dict[str, Tensor] = field(default_factory=dict)
    unread: list[UnreadStep] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)
    evaluator: Evaluator | None = None
    callbacks: Sequence["Callback"] = ()
    folder: RunFolder | None = None

    def __repr__(self) -> str:
        """One line: the method, the last step and its loss, the best dev score, seconds, the folder."""
        last = self.history[-1] if self.history else {"step": 0}
        parts = [repr(self.method), f"step {last['step']}"]
        parts += [f"loss {last['loss']:.4f}"] if "loss" in last else []
        parts += [f"best dev score {self.best['score']:.2f} at step {self.best['step']}"] if self.best else []
        parts += [f"stopped: {self.stopped}"] if self.stopped else []
        parts += [f"{self.seconds:.0f} s"] + ([f"in {self.output}"] if self.output else [])
        return f"Run({', '.join(parts)})"

    def to_frame(self) -> Any:
        """The history as a pandas DataFrame, one row per step, indexed by "step"."""
        import pandas

        return pandas.DataFrame(self.history).set_index("step")

    def curve(self, name: str) -> tuple[list[int], list[float]]:
        """Steps and values of one column of the history, without empty rows.

        Raises:
            ValueError: no row has that column; the message lists the columns.
        """
        rows = [row for row in self.history if name in row]
        if not rows:
            columns = dict.fromkeys(key for row in self.history for key in row)
            raise ValueError(f"the history has no column {name!r}; it has {', '.join(columns)}")
        return [row["step"] for row in rows], [row[name] for row in rows]


Callback = Callable[[Run, HistoryRow], None]
"""`callback(run, row)` after each row of the history."""


@checked
def train(
    encoder: SentenceEncoder,
    method: Method | str,
    corpus: Sequence[Any],
    config: TrainConfig | None = None,
    evaluator: Evaluator | None = None,
    callbacks: Sequence[Callback] = (),
    output: str | Path | None = None,
    show_progress_bar: bool = True,
) -> Run:
    """Train `encoder` (in place; `encoder.copy()` keeps the old one) with a method on a corpus.

    AdamW, linear decay, gradient clipping, a fresh training head; every `eval_every` steps the evaluator sees
    the encoder, and the weights with the highest "score" are kept. With an `output` folder the run is
    checkpointed: started again with the same arguments it continues where it was, and ends with the weights of
    a run that was never interrupted; a finished one is read back. The folder is afterwards an encoder.

    A GPU is not waited for at every step. Its losses are read at evaluated steps and at checkpoints, and after 16 steps
    at the latest: only then come the rows, in their order, and a divergence, which names its own step.

    In an encoder with adapters (`SentenceEncoder.add_adapter`), only the adapters and the head learn, with any method.

    A plain checkpoint opened without a `pooling` gets the pooling of the method's paper, [CLS], if the method has a
    head: no paper trains a fresh head on a mean of tokens.

    Args:
        encoder: the encoder to train.
        method: a method or its name ("simcse", "whitenedcse", ...).
        corpus: sentences; for a method with several `columns`, tuples of texts.
        config: lengths and rates; default `TrainConfig()`.
        evaluator: `evaluator(encoder)` -> numbers with a "score", higher is better; None keeps the last weights.
        callbacks: `callback(run, row)` after each row of the history; `run.encoder` is the current encoder, which may
            be some steps further on a GPU unless the row is evaluated. A callback that raises `StopTraining` ends the
            run after this step.
        output: folder of the run.
        show_progress_bar: whether progress is shown.

    Raises:
        TypeError, ValueError: texts that are empty or no strings, rows without the method's columns, fewer rows
            than a batch or all the same; an unknown method; an output folder that cannot be used; an evaluator that
            returns no finite "score".
        TrainingDiverged: NaN or infinity; the last good checkpoint stays.
    """
    # ------------------------------------------------------------------------------------------------ set up
    method = create_method(method) if isinstance(method, str) else copy.deepcopy(method)
    config = config or TrainConfig()
    corpus = check_rows(corpus, method.columns, method.name)
    processes = all_processes()
    device, main = processes.device, processes.is_main_process
    check_sizes(corpus, config, encoder, processes.num_processes)
    run = Run(encoder, method, config, output=Path(output) if output is not None else None)
    folder = RunFolder(run.output) if run.output is not None else None
    if main:  # evaluates, calls back and writes the folder, which all processes can read
        run.evaluator, run.callbacks, run.folder = evaluator, callbacks, folder
    with (
        torch.random.fork_rng([device] if device.type == "cuda" else []),  # the caller's random numbers stay
        run.folder.locked() if run.folder else nullcontext(),
        frozen_weights_restored(encoder),
    ):
        optimizer = set_up(run, corpus, evaluator, device)
        weights = [weight for group in optimizer.param_groups for weight in group["params"] if weight.requires_grad]
        last, every = config.length(len(corpus)), config.checkpoint_every or config.eval_every
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate_after(step, last, config.warmup))
        parts = {"encoder": encoder, "optimizer": optimizer, "schedule": schedule, "method": method}
        encode = Encode(encoder, config.max_length, processes, config.mini_batch_size)

        # -------------------------------------------------------------------------------------------- resume
        if folder is not None:
            if from_main(processes, lambda: folder.reserve(run.identity))["finished"]:
                return read_back(run, folder, device)
            if from_main(processes, folder.checkpoint.exists):
                resume(run, folder, parts)
        start_history(run, corpus)
        if show_progress_bar and main and run.step > 0:
            say(f"{method.name}: continues from step {run.step} of {last}")

        # --------------------------------------------------------------------------------------------- steps
        most_unread = MOST_STEPS_BEHIND if is_asynchronous(device) else 1
        arithmetic = computing_in(run.precision, device)
        with Progress(last, method.name, show=show_progress_bar and main, done=run.step) as progress:
            for step in steps_left(run, last):
                evaluate, save = step % config.eval_every == 0 or step == last, step % every == 0
                batch = batch_of_step(corpus, config, step)
                with exclusive(encoder), earlier_divergence_first(run):
                    seed_device(device, seed_from(config.seed, step - 1, processes.process_index))
                    encoder.train()
                    method.train()
                    with arithmetic:
                        loss = method.loss(method.views(encode, batch))
                    norms = norm_of_each_term(loss.terms, weights) if evaluate else {}
                    norm = backward(loss.total, weights, config.clip)
                    run.unread.append(unread_step(step, loss.terms, norm, norms))
                    rows = read_steps(run) if evaluate or save or len(run.unread) >= most_unread else []
                    if most_unread > 1:
                        # on a GPU a gradient that is not finite is read too late: the step changes no weight then
                        optimizer.found_inf = (~norm.isfinite()).float()  # type: ignore[attr-defined]
                    update(optimizer, schedule)
                    encoder.untrained.discard("head")
                run.step = step
                record_rows(run, rows, evaluate)
                if processes.num_processes > 1 and (callbacks or config.patience is not None):  # all stop together
                    run.stopped = from_main(processes, lambda: run.stopped)
                if run.folder is not None and save and step < last:
                    save_state(run.folder.checkpoint, parts, **checkpointed(run))
                progress.update(note=status(run))

        # -------------------------------------------------------------------------------------------- finish
        run.best_state, run.best, run.history = from_main(processes, lambda: (run.best_state, run.best, run.history))
        finish(run)
    return run


# ------------------------------------------------------------------------------------------------------ set up


def check_sizes(corpus: Sequence[Any], config: TrainConfig, encoder: SentenceEncoder, processes: int) -> None:
    """Raise ValueError unless the corpus fills a batch, and a batch fits the processes and a sentence the encoder."""
    size = config.batch_size
    if len(corpus) < size:
        raise ValueError(
            f"sentences in the corpus: {len(corpus)}, fewer than one batch of {size}: "
            "give more sentences or a smaller batch_size"
        )
    distinct = len(set(corpus))
    if distinct < size:
        raise ValueError(
            f"different sentences in the corpus: {distinct} (of {len(corpus)}), fewer than one batch of "
            f"{size}: a sentence cannot be contrasted with itself"
        )
    encoder.check_max_length(config.max_length)
    if size % processes:
        raise ValueError(f"batch_size {size} must be a multiple of the {processes} processes")


def set_up(run: Run, corpus: Sequence[Any], evaluator: Evaluator | None, device: torch.device) -> torch.optim.Optimizer:
    """Resolve the method's settings, note the identity of a run with a folder, attach a head; returns the optimiser."""
    encoder, method, config = run.encoder, run.method, run.config
    run.precision = chosen_precision(config.precision)
    if not encoder.pooling_given:
        encoder.pooling = method.pooling(encoder)
    encoder.pooling_given = True
    method.prepare(encoder)
    method.seed(config.seed)
    if run.output is not None:
        run.identity = identity_of(run, corpus, evaluator)
    encoder.to(device)
    encoder.attach_head(method.build(Setup(encoder, corpus, config.seed)))
    method.to(device)
    encoder.representation = config.representation or method.representation
    return torch.optim.AdamW(method.groups(encoder), lr=config.lr, weight_decay=config.weight_decay, fused=True)


def identity_of(run: Run, corpus: Sequence[Any], evaluator: Evaluator | None) -> dict[str, Any]:
    """What makes a run the same run, JSON-able: a folder with a different identity is refused.

    An evaluator's identity is its `identity` if it has one (`PairsEvaluator`), otherwise its name.
    """
    encoder, method = run.encoder, run.method
    given: dict[str, Any] = {} if encoder.dropout_given is None else {"dropout": encoder.dropout_given}
    given |= {"adapter": adapter_settings(encoder.backbone)} if encoder.has_adapters else {}
    kind = getattr(evaluator, "__qualname__", type(evaluator).__qualname__)
    lines, rows = lines_hash(corpus), rows_hash(corpus)
    return {
        "method": {"name": method.name, **method.settings()},
        "encoder": {"name": encoder.name, "pooling": encoder.pooling, "weights": encoder.weights_hash()} | given,
        "corpus": {"sentences": len(corpus), "sha256": lines} | ({} if rows == lines else {"rows": rows}),
        "dev": None if evaluator is None else getattr(evaluator, "identity", kind),
        "config": asdict(run.config),
    }


@contextmanager
def frozen_weights_restored(encoder: SentenceEncoder) -> Iterator[None]:
    """A context after which the weights learn again that a method froze."""
    trainable = [weight for weight in encoder.parameters() if weight.requires_grad]
    try:
        yield
    finally:
        for weight in trainable:
            weight.requires_grad_(True)


def start_history(run: Run, corpus: Sequence[Any]) -> None:
    """Write the rows so far. Before the first step, refuse what cannot learn, and evaluate the encoder as row 0."""
    if run.folder is not None:
        run.folder.rewrite_history(run.history)
    if run.step > 0:
        return
    batch = batch_of_step(corpus, run.config, 1)
    with exclusive(run.encoder):
        warn_of_unknown_tokens(run.method, run.encoder, batch, run.config.max_length)
        check_adapters_learn(run.method, run.encoder)
        check_views_differ(run.method, run.encoder, batch, run.config.max_length)
        if run.encoder.representation == "backbone":
            record_rows(run, [{"step": 0}], evaluate=True)


# -------------------------------------------------------------------------------------------- the parts of a step


def steps_left(run: Run, last: int) -> Iterator[int]:
    """The numbers of the steps after `run.step`, until the run is stopped."""
    while run.step < last and run.stopped is None:
        if run.step <= 1:  # before the first step, and after it
            check_complete(run.encoder, run.method)
        yield run.step + 1


def batch_of_step(corpus: Sequence[Any], config: TrainConfig, step: int) -> list[Any]:
    """The rows of a step, counted from 1: each epoch has a new order, without the incomplete batch."""
    size = config.batch_size
    epoch, place = divmod(step - 1, len(corpus) // size)
    order = epoch_order(len(corpus), config.seed, epoch)
    return [corpus[index] for index in order[place * size : (place + 1) * size].tolist()]


def seed_from(*numbers: int) -> int:
    """One seed from several numbers, without accidental coincidences between neighbours."""
    return int.from_bytes(hashlib.sha256(repr(numbers).encode()).digest()[:8], "big") >> 1


@lru_cache(maxsize=1)
def epoch_order(size: int, seed: int, epoch: int) -> Tensor:
    """The order of a corpus's rows in an epoch."""
    return torch.randperm(size, generator=torch.Generator().manual_seed(seed_from(seed, epoch)))


def rate_after(step: int, last: int, warmup: float) -> float:
    """Share of `lr` after `step` of `last` steps: linear warm-up over a share of them, then linear decay to zero."""
    rising = round(warmup * last)
    return (step + 1) / (rising + 1) if step < rising else (last - step) / max(1, last - rising)


def seed_device(device: torch.device, seed: int) -> None:
    """Seed the random numbers of a step, among them dropout; all processes begin the step together."""
    if torch.distributed.is_initialized():
        wait_for_all()
    # torch.manual_seed formats a stack for each device that is absent.
    (torch.default_generator if device.type == "cpu" else torch).manual_seed(seed)


def norm_of_each_term(terms: Mapping[str, Tensor], weights: Sequence[nn.Parameter]) -> dict[str, float]:
    """The norm of the gradient of each term of the loss, including its factor, where there are several."""
    norms = {}
    for name, term in terms.items() if len(terms) > 1 else ():
        gradients = torch.autograd.grad(term, weights, retain_graph=True, allow_unused=True)
        gradient = torch.cat([part.flatten() for part in gradients if part is not None])
        norms[f"gradient_norm/{name}"] = float(mean_over_processes(gradient).norm())
    return norms


def backward(loss: Tensor, weights: Sequence[nn.Parameter], clip: float) -> Tensor:
    """The gradients of the loss, their mean over processes, clipped; returns their norm before that."""
    loss.backward()
    learning = [weight for weight in weights if weight.grad is not None]
    if torch.distributed.is_initialized():
        average_gradients(learning)
    return nn.utils.clip_grad_norm_(learning, clip)


def update(optimizer: torch.optim.Optimizer, schedule: torch.optim.lr_scheduler.LRScheduler) -> None:
    """One step of the optimiser and of its learning rate; the gradients are cleared."""
    optimizer.step()
    schedule.step()
    optimizer.zero_grad()


# ------------------------------------------------------------------------------- the numbers of a step, read late


def unread_step(step: int, terms: Mapping[str, Tensor], norm: Tensor, norms: Mapping[str, float]) -> UnreadStep:
    """The numbers of a step, left on their device: the terms of its loss and the norm of its gradient."""
    numbers = {name: number.detach().float() for name, number in (*terms.items(), ("gradient_norm", norm))}
    return step, numbers, norms


def read_steps(run: Run) -> list[HistoryRow]:
    """The rows of the steps since the last time, by one copy from the device, for which Python waits.

    Raises:
        TrainingDiverged: one of them diverged; the rows before it come to the history, and no weight follows it.
    """
    unread, run.unread = run.unread, []
    numbers = [number for _, tensors, _ in unread for number in tensors.values()]
    values = iter(torch.stack(numbers).tolist() if numbers else ())
    rows: list[HistoryRow] = []
    for step, tensors, norms in unread:
        terms = {name: next(values) for name in tensors}
        norm = terms.pop("gradient_norm")
        loss = sum(terms.values())
        wrong = [f"the term {name!r} of the loss is {term}" for name, term in terms.items() if not math.isfinite(term)]
        wrong += [] if math.isfinite(norm) else [f"the gradient is {norm} (the loss is {loss:.4g})"]
        if wrong:
            record_rows(run, rows)
            saved = run.output is not None and RunFolder(run.output).checkpoint.exists()
            kept = f"the last good checkpoint stays in {run.output}" if saved else "nothing was saved"
            raise TrainingDiverged(
                f"training diverged at step {step}: {wrong[0]}; {kept}. A lower lr or a higher temperature may help"
            )
        rows.append({"step": step, "loss": loss, **terms, **norms, "gradient_norm": norm})
    return rows


@contextmanager
def earlier_divergence_first(run: Run) -> Iterator[None]:
    """A context whose errors may follow from an earlier diverged step; then that divergence is raised."""
    try:
        yield
    except Exception:
        record_rows(run, read_steps(run))
        raise


# ------------------------------------------------------------- the history: rows, scores, the best weights, stopping


def record_rows(run: Run, rows: Sequence[HistoryRow], evaluate: bool = False) -> None:
    """Add rows to the history; evaluate the encoder at the last one if required, keep the best encoder, call back."""
    for row in rows:
        run.history.append(row)
        if evaluate and row is rows[-1]:
            score_row(run, row)
            check_patience(run, row["step"])
        if run.folder is not None:
            run.folder.append(row)
        for callback in run.callbacks:
            try:
                callback(run, row)
            except StopTraining as reason:
                run.stopped = str(reason) or f"a callback stopped the run at step {row['step']}"
    if run.stopped and run.best is None and rows and rows[-1]["step"] > 0 and not evaluate:
        score_row(run, rows[-1])  # stopped before the first evaluation
        if run.folder is not None:
            run.folder.rewrite_history(run.history)


def score_row(run: Run, row: HistoryRow) -> None:
    """Add the evaluator's numbers to a row; if their "score" is the best so far, keep the weights."""
    if run.evaluator is None:
        return
    row.update(scores_of(run, run.evaluator, row["step"]))
    if row["step"] > 0 and "score" in row and (run.best is None or row["score"] > run.best["score"]):
        run.best = row
        run.best_state = {name: value.detach().cpu().clone() for name, value in run.encoder.state_dict().items()}
        if run.folder is not None:
            save_checkpoint(run.folder.best, run.best_state, {"row": run.best, "identity": run.identity})


def scores_of(run: Run, evaluator: Evaluator, step: int) -> HistoryRow:
    """The evaluator's numbers, or the reason for missing numbers if the encoder collapsed, because it may recover.

    Raises:
        TypeError, ValueError: the evaluator returns anything but numbers by name with a finite "score".
    """
    try:
        with eval_mode(run.encoder):
            found = evaluator(run.encoder)
    except DegenerateEmbeddings as reason:
        if not any("degenerate" in earlier for earlier in run.history):
            warnings.warn(f"no score at step {step}: {reason}; training continues", stacklevel=2)
        return {"degenerate": str(reason)}
    try:
        scores = {name: float(value) for name, value in found.items()}
    except (AttributeError, TypeError, ValueError):
        raise TypeError(f"the evaluator must return numbers by name, it returned {found!r:.200}") from None
    if not math.isfinite(scores.get("score", math.nan)):
        raise ValueError(f"the evaluator must return a finite number called 'score', it returned {scores}")
    return scores


def check_patience(run: Run, step: int) -> None:
    """Stop the run after `patience` evaluations without a better score."""
    best = 0 if run.best is None else run.best["step"]
    waited = sum(best < row["step"] and bool({"score", "degenerate"} & row.keys()) for row in run.history)
    if run.config.patience is not None and waited >= run.config.patience:
        run.stopped = f"no better dev score in {waited} evaluations, step {step}"


def status(run: Run) -> str:
    """The text of the run's progress: the last loss, and the last dev score with its step."""
    parts = []
    for name, shown in (("loss", "loss {loss:.4f}"), ("score", "dev {score:.2f} at step {step}")):
        parts += [shown.format(**row) for row in reversed(run.history) if name in row][:1]
    return ", ".join(parts)


# ------------------------------------------------------------------------------------ checkpoint, resume, finish


def checkpointed(run: Run) -> dict[str, Any]:
    """The fields of a run that its checkpoint has besides the state of its parts."""
    return {
        "step": run.step,
        "seconds": time.monotonic() - run.began,
        "identity": run.identity,
        "precision": run.precision,
        "history": run.history,
        "best": run.best,
        "stopped": run.stopped,
    }


def resume(run: Run, folder: RunFolder, parts: Mapping[str, Any]) -> None:
    """Continue from the folder's checkpoint and its best weights, which may be of a later step.

    Raises:
        CheckpointError: a damaged file; the best weights are missing.
    """
    with exclusive(run.encoder):
        info = load_state(folder.checkpoint, parts, run.identity)
    run.step, run.history, run.best, run.precision = (info[k] for k in ("step", "history", "best", "precision"))
    run.resumed_from, run.stopped = run.step, info.get("stopped")
    run.began -= info["seconds"]
    run.encoder.untrained.discard("head")
    if run.best is not None and not folder.best.exists():
        raise CheckpointError(
            f"{folder.best} is missing, which has the weights of the best step, {run.best['step']}: restore it, or "
            f"delete {folder.checkpoint} to start again"
        )
    if run.folder is not None and folder.best.exists():
        run.best_state, kept = load_checkpoint(folder.best)
        with state_dict_errors(folder.best):
            check_same_identity(folder.best, kept.get("identity", run.identity), run.identity)
            run.best = kept["row"]


def finish(run: Run) -> None:
    """Load the best weights, and turn the folder into an encoder with the record of a finished run.

    Raises:
        TrainingDiverged: a weight is not finite; nothing is saved.
    """
    if run.best_state:
        run.encoder.load_state_dict(run.best_state)
    run.best_state = {}
    broken = [name for name, weights in run.encoder.named_parameters() if not bool(weights.isfinite().all())]
    if broken:
        raise TrainingDiverged(
            f"after step {run.step} {len(broken)} weights are NaN or infinite, the first {broken[0]}: the "
            "encoder was not saved. A lower lr may help"
        )
    run.encoder.eval()
    run.method.eval()
    run.seconds = time.monotonic() - run.began
    if run.folder is None:
        return
    run.encoder.save_pretrained(run.folder.path)
    if len(run.method.state_dict()) > 1:  # more than its generator
        save_state(run.folder.method, {"method": run.method})
    content = {
        "identity": run.identity,
        "finished": True,
        "steps": run.step,
        "stopped": run.stopped,
        "best": run.best,
        "precision": run.precision,
        "seconds": run.seconds,
        "versions": versions(),
    }
    run.folder.finish(content)


def read_back(run: Run, folder: RunFolder, device: torch.device) -> Run:
    """The finished run of a folder: its encoder, its method's state and its history."""
    content = folder.result()
    trained = SentenceEncoder.from_pretrained(folder.path, device=device)
    run.encoder.attach_head(trained.head)
    run.encoder.untrained.discard("head")
    state = trained.state_dict()
    if adapted := run.encoder.has_adapters:
        load_adapter(run.encoder.backbone, folder.path)
        state = {name: value for name, value in state.items() if not name.startswith("backbone.")}
    run.encoder.load_state_dict(state, strict=not adapted)
    run.encoder.eval()
    if folder.method.exists():
        load_state(folder.method, {"method": run.method})
    run.method.eval()
    run.history, run.best, run.seconds = folder.history(), content["best"], content["seconds"]
    run.resumed_from, run.stopped = content["steps"], content.get("stopped")
    return run
