"""The training loop, with accelerate, for any method and any encoder.

A step depends only on (seed, step): its sentences and its dropout masks. So the same seed on the
same machine gives the same history, and a run that was killed and started again ends with the same weights.
"""

import copy
import hashlib
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from cselab._util.arguments import checked
from cselab._util.versions import versions
from cselab.data.rows import check_rows, rows_hash
from cselab.encoders.adapters import adapter_settings, has_adapters, load_adapter
from cselab.encoders.checkpoint import load_checkpoint, pack, save_checkpoint, unpack
from cselab.encoders.distributed import all_processes
from cselab.encoders.encoder import SentenceEncoder, eval_mode, exclusive
from cselab.encoders.encoding import Encode
from cselab.encoders.speed import chosen_precision, computing_in, is_asynchronous
from cselab.methods import Method, Setup, create_method
from cselab.metrics.degenerate import DegenerateEmbeddings

from .config import TrainConfig
from .guard import refuse_frozen_adapters, refuse_identical_views, warn_of_unknown_tokens
from .processes import average_gradients, from_main, mean_over_processes, wait_for_all
from .run_folder import ResumableSteps, RunFolder, refuse_another, state_dict_errors

if TYPE_CHECKING:
    from accelerate import PartialState


Evaluator = Callable[[SentenceEncoder], Mapping[str, float]]
"""`evaluator(encoder)` -> numbers with a "score", higher is better."""


class StopTraining(Exception):
    """Raised by a callback to end training after this step: the run is returned with its best weights."""


class TrainingDiverged(ArithmeticError):
    """A loss, a gradient or a weight became NaN or infinite; the message names the tensor."""


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
    """

    encoder: SentenceEncoder
    method: Method
    config: TrainConfig
    history: list[dict[str, Any]] = field(default_factory=list)
    best: dict[str, Any] | None = None
    output: Path | None = None
    seconds: float = 0.0
    resumed_from: int | None = None
    stopped: str | None = None

    def __repr__(self) -> str:
        """One line: the method, the last step and its loss, the best dev score, seconds, the folder."""
        last = self.history[-1] if self.history else {"step": 0}
        told = [repr(self.method), f"step {last['step']}"]
        told += [f"loss {last['loss']:.4f}"] if "loss" in last else []
        told += [f"best dev score {self.best['score']:.2f} at step {self.best['step']}"] if self.best else []
        told += [f"stopped: {self.stopped}"] if self.stopped else []
        told += [f"{self.seconds:.0f} s"] + ([f"in {self.output}"] if self.output else [])
        return f"Run({', '.join(told)})"

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


Callback = Callable[[Run, dict[str, Any]], None]
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
            than a batch or all the same; an unknown method; an output folder that cannot be used.
        TrainingDiverged: NaN or infinity; the last good checkpoint stays.
    """
    method = create_method(method) if isinstance(method, str) else copy.deepcopy(method)
    config = config or TrainConfig()
    corpus = check_rows(corpus, method.columns, method.name)
    _check_size(corpus, config.batch_size)
    encoder.check_max_length(config.max_length)
    processes = all_processes()
    if config.batch_size % processes.num_processes:
        raise ValueError(
            f"batch_size {config.batch_size} must be a multiple of the {processes.num_processes} processes"
        )
    run = Run(encoder, method, config, output=Path(output) if output is not None else None)
    folder = RunFolder(run.output) if run.output is not None else None
    with (
        # The caller's random numbers are not disturbed.
        torch.random.fork_rng([processes.device] if processes.device.type == "cuda" else []),
        folder.locked() if folder and processes.is_main_process else nullcontext(),
        Training(run, corpus, evaluator, callbacks, processes, folder, show_progress_bar) as training,
    ):
        if not training.read_back():
            with exclusive(encoder):
                training.start(batch_of_step(corpus, config, 1))
            _take_steps(training, corpus)
            training.finish()
    return run


def _take_steps(training: "Training", corpus: Sequence[Any]) -> None:
    """Each step that is left: batch, views, loss, backward, clip, optimiser, evaluation, checkpoint."""
    encoder, method, config = training.run.encoder, training.run.method, training.run.config
    processes, optimizer = training.processes, training.optimizer
    for step in training.steps:
        evaluate = step % config.eval_every == 0 or step == training.steps.last
        batch = batch_of_step(corpus, config, step)
        with exclusive(encoder), training.earlier_divergence_first():
            wait_for_all()
            # torch.manual_seed formats a stack for each device that is absent.
            (torch.default_generator if processes.device.type == "cpu" else torch).manual_seed(
                seed_from(config.seed, step - 1, processes.process_index)
            )
            encoder.train()
            method.train()
            with computing_in(training.precision, processes.device):
                loss = method.loss(method.views(training.encode, batch))
            norms = _norm_of_each_term(loss.terms, training.weights) if evaluate and len(loss.terms) > 1 else {}
            loss.total.backward()
            learning = [weight for weight in training.weights if weight.grad is not None]
            average_gradients(learning)
            norm = nn.utils.clip_grad_norm_(learning, config.clip)
            training.metrics.add(step, loss.terms, norm, norms)
            rows = training.read_metrics(evaluate)  # raises where a step diverged, before a weight follows it
            training.skip_if_infinite(norm)
            optimizer.step()
            training.schedule.step()
            optimizer.zero_grad()
            encoder.untrained.discard("head")
        training.history.add(rows, evaluate)
        training.checkpoint()


def _norm_of_each_term(terms: Mapping[str, Tensor], weights: Sequence[nn.Parameter]) -> dict[str, float]:
    """The norm of the gradient of each term of the loss, including its factor."""
    norms = {}
    for name, term in terms.items():
        gradients = torch.autograd.grad(term, weights, retain_graph=True, allow_unused=True)
        gradient = torch.cat([part.flatten() for part in gradients if part is not None])
        norms[f"gradient_norm/{name}"] = float(mean_over_processes(gradient).norm())
    return norms


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


def _check_size(corpus: Sequence[Any], batch_size: int) -> None:
    if len(corpus) < batch_size:
        raise ValueError(
            f"sentences in the corpus: {len(corpus)}, fewer than one batch of {batch_size}: "
            "give more sentences or a smaller batch_size"
        )
    distinct = len(set(corpus))
    if distinct < batch_size:
        raise ValueError(
            f"different sentences in the corpus: {distinct} (of {len(corpus)}), fewer than one batch of "
            f"{batch_size}: a sentence cannot be contrasted with itself"
        )


class Training:
    """The state of one call of `train`; a context manager, after which frozen weights learn again.

    With several processes, the main process evaluates, calls the callbacks and writes the folder, which all can read.
    """

    def __init__(
        self,
        run: Run,
        corpus: Sequence[Any],
        evaluator: Evaluator | None,
        callbacks: Sequence[Callback],
        processes: "PartialState",
        folder: RunFolder | None,
        show: bool,
    ) -> None:
        self.run, self.processes, self.folder = run, processes, folder
        self.written = folder if processes.is_main_process else None
        config, encoder, method = run.config, run.encoder, run.method
        self.precision = chosen_precision(config.precision)
        if not encoder.pooling_given:
            encoder.pooling = method.pooling(encoder)
        encoder.pooling_given = True
        method.prepare(encoder)
        method.seed(config.seed)
        given: dict[str, Any] = {} if encoder.dropout_given is None else {"dropout": encoder.dropout_given}
        given |= {"adapter": adapter_settings(encoder.backbone)} if has_adapters(encoder.backbone) else {}
        self.identity = {
            "method": {"name": method.name, **method.settings()},
            "encoder": {"name": encoder.name, "pooling": encoder.pooling, "weights": encoder.weights_hash()} | given,
            "corpus": {"sentences": len(corpus), "sha256": rows_hash(corpus)},
            "dev": _dev_identity(evaluator),
            "config": asdict(config),
        }
        encoder.to(processes.device)
        self.thawed = [weight for weight in encoder.parameters() if weight.requires_grad]
        encoder.attach_head(method.build(Setup(encoder, corpus, config.seed)))
        method.to(processes.device)
        encoder.representation = config.representation or method.representation
        self.optimizer = torch.optim.AdamW(
            method.groups(encoder), lr=config.lr, weight_decay=config.weight_decay, fused=True
        )
        groups = self.optimizer.param_groups
        self.weights = [weight for group in groups for weight in group["params"] if weight.requires_grad]
        steps = config.length(len(corpus))
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda step: config.rate(step, steps))
        self.metrics = DeferredMetrics(processes.device)
        self.encode = Encode(encoder, config.max_length, processes, config.mini_batch_size)
        self.history = History(run, evaluator, callbacks, processes, self.written, self.identity)
        self.steps = ResumableSteps(
            method.name,
            steps,
            {"encoder": encoder, "optimizer": self.optimizer, "schedule": self.schedule, "method": method},
            folder.checkpoint if folder is not None else None,
            config.checkpoint_every or config.eval_every,
            show and processes.is_main_process,
            writes=processes.is_main_process,
            identity=self.identity,
        )

    def __enter__(self) -> "Training":
        return self

    def __exit__(self, *_: Any) -> None:
        for weight in self.thawed:  # a method may have frozen some
            weight.requires_grad_(True)

    # ------------------------------------------------------------------------------------------ start and resume

    def start(self, batch: Sequence[Any]) -> None:
        """Continue from the checkpoint; without one, check the views of the first batch and evaluate the encoder."""
        run, folder = self.run, self.folder
        if folder is not None and from_main(self.processes, folder.checkpoint.exists):
            self._resume()
        if self.written is not None:
            self.written.rewrite_history(run.history)
        if self.steps.done == 0:
            warn_of_unknown_tokens(run.method, run.encoder, batch, run.config.max_length)
            refuse_frozen_adapters(run.method, run.encoder)
            refuse_identical_views(run.method, run.encoder, batch, run.config.max_length)
            if run.encoder.representation == "backbone":
                self.history.add([{"step": 0}], evaluate=True)

    def _resume(self) -> None:
        run, info = self.run, self.steps.resume()
        run.history, run.best, self.precision = info["history"], info["best"], info["precision"]
        run.stopped = info.get("stopped")
        self.steps.stopped = run.stopped is not None
        run.encoder.untrained.discard("head")
        run.resumed_from = self.steps.done
        if self.written is not None and self.written.best.exists():  # it may be of a later step than the checkpoint
            self.history.best_state, kept = load_checkpoint(self.written.best)
            with state_dict_errors(self.written.best):
                refuse_another(self.written.best, kept.get("identity", self.identity), self.identity)
                run.best = kept["row"]

    # ------------------------------------------------------------------------------------------ within a step

    def read_metrics(self, now: bool) -> list[dict[str, Any]]:
        """The rows of the steps that were not read yet, where they are needed now, due, or part of a checkpoint.

        Raises:
            TrainingDiverged: one of them diverged; the rows before it come to the history.
        """
        if not (now or self.metrics.due or self.steps.due):
            return []
        rows, trouble = self.metrics.read()
        if trouble:
            self.history.add(rows)
            kept = "nothing was saved"
            if self.folder is not None and self.folder.checkpoint.exists():
                kept = f"the last good checkpoint stays in {self.folder.path}"
            raise TrainingDiverged(f"{trouble}; {kept}. A lower lr or a higher temperature may help")
        return rows

    @contextmanager
    def earlier_divergence_first(self) -> Iterator[None]:
        """A context whose errors may follow from an earlier diverged step; then that divergence is raised."""
        try:
            yield
        except Exception:
            self.history.add(self.read_metrics(now=True))
            raise

    def skip_if_infinite(self, norm: Tensor) -> None:
        """On a GPU a gradient that is not finite is read too late: the next optimiser step changes no weight then."""
        if is_asynchronous(self.processes.device):
            self.optimizer.found_inf = (~norm.isfinite()).float()  # type: ignore[attr-defined]

    def checkpoint(self) -> None:
        """End a step: all processes stop together, and the checkpoint is written where due."""
        run = self.run
        self.history.agree_to_stop()
        self.steps.stopped = run.stopped is not None
        self.steps.note = self.history.status
        self.steps.save_if_due(precision=self.precision, history=run.history, best=run.best, stopped=run.stopped)

    # ------------------------------------------------------------------------------------------ finish and read back

    def finish(self) -> None:
        """Load the best weights, and turn the folder into an encoder with the record of a finished run.

        Raises:
            TrainingDiverged: a weight is not finite; nothing is saved.
        """
        run, history = self.run, self.history
        best_state, run.best, run.history = from_main(
            self.processes, lambda: (history.best_state, run.best, run.history)
        )
        if best_state:
            run.encoder.load_state_dict(best_state)
        broken = [name for name, weights in run.encoder.named_parameters() if not bool(weights.isfinite().all())]
        if broken:
            raise TrainingDiverged(
                f"after step {self.steps.done} {len(broken)} weights are NaN or infinite, the first {broken[0]}: the "
                "encoder was not saved. A lower lr may help"
            )
        run.encoder.eval()
        run.method.eval()
        run.seconds = self.steps.seconds
        if (folder := self.written) is None:
            return
        run.encoder.save_pretrained(folder.path)
        if len(run.method.state_dict()) > 1:  # more than its generator
            tensors, tree = pack("method", run.method.state_dict())
            save_checkpoint(folder.method, tensors, {"method": tree})
        content = {
            "identity": self.identity,
            "finished": True,
            "steps": self.steps.done,
            "stopped": run.stopped,
            "best": run.best,
            "precision": self.precision,
            "seconds": run.seconds,
            "versions": versions(),
        }
        folder.finish(content)

    def read_back(self) -> bool:
        """Reserve the folder for this run. Returns whether it holds the finished run, which is then read from it."""
        run, folder = self.run, self.folder
        if folder is None or not from_main(self.processes, lambda: folder.claim(self.identity))["finished"]:
            return False
        content = folder.result()
        trained = SentenceEncoder.from_pretrained(folder.path, device=self.processes.device)
        run.encoder.attach_head(trained.head)
        run.encoder.untrained.discard("head")
        state = trained.state_dict()
        if adapted := has_adapters(run.encoder.backbone):
            load_adapter(run.encoder.backbone, folder.path)
            state = {name: value for name, value in state.items() if not name.startswith("backbone.")}
        run.encoder.load_state_dict(state, strict=not adapted)
        run.encoder.eval()
        if folder.method.exists():
            tensors, info = load_checkpoint(folder.method)
            with state_dict_errors(folder.method):
                run.method.load_state_dict(unpack(tensors, info["method"]))
        run.method.eval()
        run.history, run.best, run.seconds = folder.history(), content["best"], content["seconds"]
        run.resumed_from, run.stopped = content["steps"], content.get("stopped")
        return True


def _dev_identity(evaluator: Evaluator | None) -> Any:
    """The identity of the evaluator that selects the best step: `evaluator.identity` if it has one (`PairsEvaluator`),
    otherwise its name.
    """
    kind = getattr(evaluator, "__qualname__", type(evaluator).__qualname__)
    return None if evaluator is None else getattr(evaluator, "identity", kind)


@dataclass(eq=False)
class History:
    """Adds rows to `run.history`; the main process evaluates, calls back, and writes them into the `folder`."""

    run: Run
    evaluator: Evaluator | None
    callbacks: Sequence[Callback]
    processes: "PartialState"
    folder: RunFolder | None
    identity: Mapping[str, Any]
    best_state: dict[str, Tensor] = field(default_factory=dict)

    def add(self, rows: Sequence[dict[str, Any]], evaluate: bool = False) -> None:
        """Add rows; evaluate the encoder at the last one if required, keep the best encoder, call back."""
        run = self.run
        for row in rows:
            run.history.append(row)
            if self.processes.is_main_process:
                self._complete(row, evaluate and row is rows[-1])
        if not self.processes.is_main_process or evaluate or not rows:
            return
        if run.stopped and run.best is None and rows[-1]["step"] > 0:  # stopped before the first evaluation
            self._evaluate(rows[-1])
            if self.folder is not None:
                self.folder.rewrite_history(run.history)

    def _complete(self, row: dict[str, Any], evaluate: bool) -> None:
        if evaluate:
            self._evaluate(row)
            self._lose_patience(row["step"])
        if self.folder is not None:
            self.folder.append(row)
        for callback in self.callbacks:
            try:
                callback(self.run, row)
            except StopTraining as reason:
                self.run.stopped = str(reason) or f"a callback stopped the run at step {row['step']}"

    def _evaluate(self, row: dict[str, Any]) -> None:
        if self.evaluator is None:
            return
        run = self.run
        row.update(self._scores(self.evaluator, row["step"]))
        if row["step"] > 0 and "score" in row and (run.best is None or row["score"] > run.best["score"]):
            run.best = row
            self.best_state = {name: value.detach().cpu().clone() for name, value in run.encoder.state_dict().items()}
            if self.folder is not None:
                save_checkpoint(self.folder.best, self.best_state, {"row": run.best, "identity": self.identity})

    def _scores(self, evaluator: Evaluator, step: int) -> dict[str, Any]:
        """The evaluator's numbers, or the reason for missing numbers if the encoder collapsed, because it may
        recover.
        """
        try:
            with eval_mode(self.run.encoder):
                scores = {name: float(value) for name, value in evaluator(self.run.encoder).items()}
        except DegenerateEmbeddings as reason:
            if not any("degenerate" in earlier for earlier in self.run.history):
                warnings.warn(f"no score at step {step}: {reason}; training continues", stacklevel=2)
            return {"degenerate": str(reason)}
        if not math.isfinite(scores.get("score", math.nan)):
            raise ValueError(f"the evaluator must return a finite number called 'score', it returned {scores}")
        return scores

    def _lose_patience(self, step: int) -> None:
        run = self.run
        best = 0 if run.best is None else run.best["step"]
        waited = sum(best < row["step"] and bool({"score", "degenerate"} & row.keys()) for row in run.history)
        if run.config.patience is not None and waited >= run.config.patience:
            run.stopped = f"no better dev score in {waited} evaluations, step {step}"

    @property
    def status(self) -> str:
        """The text of the run's progress: the last loss, and the last dev score with its step."""
        parts = []
        for name, shown in (("loss", "loss {loss:.4f}"), ("score", "dev {score:.2f} at step {step}")):
            parts += [shown.format(**row) for row in reversed(self.run.history) if name in row][:1]
        return ", ".join(parts)

    def agree_to_stop(self) -> None:
        """Callbacks and evaluations run only on the main process; all processes stop together."""
        if self.processes.num_processes > 1 and (self.callbacks or self.run.config.patience is not None):
            self.run.stopped = from_main(self.processes, lambda: self.run.stopped)


MOST_STEPS_BEHIND = 16
"""How many steps of training a GPU may be behind."""


class DeferredMetrics:
    """Loss terms and gradient norms of the steps that were not read yet. On a CPU each step is due at once."""

    def __init__(self, device: torch.device) -> None:
        self.most = MOST_STEPS_BEHIND if is_asynchronous(device) else 1
        self.waiting: list[tuple[int, dict[str, Tensor], Mapping[str, float]]] = []

    @property
    def due(self) -> bool:
        """Whether the time to read has come."""
        return len(self.waiting) >= self.most

    def add(self, step: int, terms: Mapping[str, Tensor], norm: Tensor, more: Mapping[str, float]) -> None:
        """Keep the terms of a step's loss and the norm of its gradient, without waiting; `more` joins its row."""
        numbers = {name: number.detach().float() for name, number in (*terms.items(), ("gradient_norm", norm))}
        self.waiting.append((step, numbers, more))

    def read(self) -> tuple[list[dict[str, Any]], str]:
        """The rows of the steps since the last time, by one copy from the device, for which Python waits.

        If a step diverged, only the rows before that step, and a message with the step and the reason.
        """
        waiting, self.waiting = self.waiting, []
        numbers = [number for _, several, _ in waiting for number in several.values()]
        values = iter(torch.stack(numbers).tolist() if numbers else ())
        rows: list[dict[str, Any]] = []
        for step, names, more in waiting:
            terms = {name: next(values) for name in names}
            norm = terms.pop("gradient_norm")
            loss = sum(terms.values())
            for name, value in terms.items():
                if not math.isfinite(value):
                    return rows, f"training diverged at step {step}: the term {name!r} of the loss is {value}"
            if not math.isfinite(norm):
                return rows, f"training diverged at step {step}: the gradient is {norm} (the loss is {loss:.4g})"
            rows.append({"step": step, "loss": loss, **terms, **more, "gradient_norm": norm})
        return rows, ""
