"""The training loop: any method, any encoder, on accelerate.

What a step does depends on (seed, step) alone: which sentences, which dropout masks. So the same seed on the
same machine gives the same history, and a run that was killed and started again ends with the same weights.
"""

import copy
import hashlib
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from cselab.encoder import Representation, SentenceEncoder, check_sentences, eval_mode
from cselab.encoding import Encode
from cselab.measures.degenerate import DegenerateEmbeddings
from cselab.methods import Method, create_method
from cselab.progress import Progress
from cselab.storage.checkpoint import pack, unpack
from cselab.storage.run_folder import RunFolder
from cselab.versions import versions

Evaluator = Callable[[SentenceEncoder], Mapping[str, float]]


class StopTraining(Exception):
    """Raised by a callback to end training after this step: the run is returned with its best weights."""


class TrainingDiverged(ArithmeticError):
    """A loss or gradient became NaN or infinite; the message names the step and the term."""


@dataclass(frozen=True)
class TrainConfig:
    """How long, how fast, how often looked at. The defaults are SimCSE's for BERT-base.

    Args:
        steps: optimiser steps; None takes `epochs`.
        epochs: passes over the sentences, when `steps` is None.
        batch_size: sentences a step, over all processes; each contrasts with all others.
        lr: peak learning rate of AdamW; falls linearly to zero after `warmup` (a share of the steps).
        weight_decay, clip: AdamW's decay; largest norm of the gradient.
        seed: of everything: order, dropout, head, whatever a method draws.
        max_length: tokens a training sentence is cut at (evaluation uses the encoder's own limit).
        eval_every: steps between evaluations; the last step is always evaluated.
        checkpoint_every: steps between checkpoints of a run with an output folder; None: as `eval_every`.
        precision: "fp32", "bf16" (autocast), or "auto": bf16 where this machine is faster with it.
        representation: the vector that is evaluated, selected and saved: "backbone" or "head"; None: the method's.
        patience: stop after so many evaluations without a better score; None never stops early.

    Raises:
        ValueError: a value out of its range; names it.
    """

    steps: int | None = None
    epochs: float = 1.0
    batch_size: int = 64
    lr: float = 3e-5
    warmup: float = 0.0
    weight_decay: float = 0.0
    clip: float = 1.0
    seed: int = 42
    max_length: int = 32
    eval_every: int = 125
    checkpoint_every: int | None = None
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    representation: Representation | None = None
    patience: int | None = None

    def __post_init__(self) -> None:
        if self.batch_size < 2:
            raise ValueError(
                f"batch_size must be at least 2, got {self.batch_size}: a sentence alone has no negatives"
            )
        least = {
            "steps": 1,
            "lr": 0,
            "weight_decay": 0,
            "max_length": 3,
            "eval_every": 1,
            "checkpoint_every": 1,
            "patience": 1,
        }
        for name, bound in least.items():
            value = getattr(self, name)
            if value is not None and not value >= bound:
                raise ValueError(f"{name} must be at least {bound}, got {value}")
        for name in ("epochs", "clip"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above 0, got {getattr(self, name)}")
        if not 0 <= self.warmup < 1:
            raise ValueError(f"warmup is a share of the steps in [0, 1), got {self.warmup}")
        for name, allowed in {
            "precision": ("auto", "fp32", "bf16"),
            "representation": (None, "backbone", "head"),
        }.items():
            if getattr(self, name) not in allowed:
                raise ValueError(
                    f"unknown {name} {getattr(self, name)!r}; choose one of {', '.join(map(str, allowed))}"
                )


@dataclass
class Run:
    """A training run: the encoder as it is now, and everything that was seen on the way.

    `history` has a row (dict) a step: "step", "loss", each named term of the loss, and on evaluated steps what
    the evaluator returned ("score", "alignment", "uniformity", "effective_rank" ...). Row 0 is the encoder before
    training. Where a loss has several terms, evaluated steps have the gradient norm of each ("gradient_norm/..."),
    before clipping. Where the vectors could not be scored (all alike, NaN) the row has the reason as "degenerate" and
    no score: training goes on, with a warning the first time. `best` is the evaluated row with the highest score,
    after step 0; the finished run's encoder has its weights. `stopped` says why the run ended before its last step,
    if it did. `method` is a copy of the one that was given, with
    what depends on the encoder filled in.
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

    def to_frame(self) -> Any:
        """The history as a pandas DataFrame, a row a step, indexed by "step"."""
        import pandas

        return pandas.DataFrame(self.history).set_index("step")

    def plot(self, *columns: str) -> Any:
        """The columns over the steps as a plotly figure; without names the loss, and the dev score if there is one.

        Raises:
            ValueError: the history has no such column.
        """
        shown = columns or tuple(
            name for name in ("loss", "score") if any(name in row for row in self.history)
        )
        for name in shown:
            self.curve(name)
        return self.to_frame()[list(shown)].dropna(how="all").plot(backend="plotly")

    def curve(self, name: str) -> tuple[list[int], list[float]]:
        """Steps and values of one column of the history, where it has a value.

        Raises:
            ValueError: no row has that column; lists those there are.
        """
        rows = [row for row in self.history if name in row]
        if not rows:
            columns = dict.fromkeys(key for row in self.history for key in row)
            raise ValueError(f"the history has no column {name!r}; it has {', '.join(columns)}")
        return [row["step"] for row in rows], [row[name] for row in rows]


Callback = Callable[[Run, dict[str, Any]], None]


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

    Args:
        encoder: what to train.
        method: a method or its name ("simcse", "whitenedcse", ...).
        corpus: sentences; for a method with several `columns`, tuples of texts.
        config: lengths and rates; default `TrainConfig()`.
        evaluator: `evaluator(encoder)` -> numbers with a "score", higher is better; None keeps the last weights.
        callbacks: `callback(run, row)` after each row of the history; `run.encoder` is the current encoder. One
            that raises `StopTraining` ends the run after this step.
        output: folder of the run.
        show_progress_bar: whether progress is shown.

    Raises:
        TypeError, ValueError: texts that are empty or no strings, rows without the method's columns, fewer rows
            than a batch or all the same; an unknown method; an output folder that cannot be used.
        TrainingDiverged: NaN or infinity; the last good checkpoint stays.
    """
    from accelerate import PartialState
    from accelerate.utils import parse_flag_from_env

    method = create_method(method) if isinstance(method, str) else copy.deepcopy(method)
    config = config or TrainConfig()
    corpus = _check_corpus(corpus, method, config)
    encoder.check_max_length(config.max_length)
    run = Run(encoder, method, config, output=Path(output) if output is not None else None)
    on_cpu = parse_flag_from_env("ACCELERATE_USE_CPU") or not torch.accelerator.is_available()
    processes = PartialState(cpu=on_cpu)  # without `cpu` several processes on CPUs would not find each other
    if config.batch_size % processes.num_processes:
        raise ValueError(
            f"batch_size {config.batch_size} must be a multiple of the {processes.num_processes} processes"
        )
    folder = RunFolder(run.output) if run.output is not None else None
    devices = [processes.device] if processes.device.type == "cuda" else []
    with (
        torch.random.fork_rng(devices),  # the caller's random numbers are not disturbed
        folder.locked() if folder is not None and processes.is_main_process else nullcontext(),
    ):
        return _Training(run, corpus, evaluator, callbacks, processes, folder, show_progress_bar).finish()


class _Training:
    """One call of `train`: its state, and the steps from there to the end.

    Of several processes the main one evaluates, calls back and writes the folder, which all can read.
    """

    def __init__(self, run: Run, corpus, evaluator, callbacks, processes, folder, show):
        self.run, self.corpus, self.evaluator, self.callbacks = run, corpus, evaluator, callbacks
        self.processes, self.folder, self.show = processes, folder, show and processes.is_main_process
        config, encoder, method = run.config, run.encoder, run.method
        self.per_epoch = len(corpus) // config.batch_size
        self.steps = config.steps or max(1, round(config.epochs * self.per_epoch))
        self.step, self.began, self.seconds_before = 0, time.monotonic(), 0.0
        self.best_state: dict[str, Tensor] = {}
        self.precision = _precision(config.precision)
        method.prepare(encoder)
        method.seed(config.seed)
        self.identity = {
            "method": {"name": method.name, **method.settings()},
            "encoder": {"name": encoder.name, "pooling": encoder.pooling, "weights": encoder.weights_hash()},
            "corpus": {"sentences": len(corpus), "sha256": _corpus_hash(corpus)},
            "config": asdict(config),
        }
        encoder.to(processes.device)
        self.thawed = [weight for weight in encoder.parameters() if weight.requires_grad]
        encoder.attach_head(method.build(encoder, corpus, torch.Generator().manual_seed(config.seed)))
        method.to(processes.device)
        encoder.representation = config.representation or method.representation
        self.optimizer = torch.optim.AdamW(
            method.groups(encoder), lr=config.lr, weight_decay=config.weight_decay, fused=True
        )
        self.weights = [weight for group in self.optimizer.param_groups for weight in group["params"]]
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, self._rate)
        self.encode = Encode(encoder, config.max_length, processes)

    @property
    def writes(self) -> bool:
        return self.folder is not None and self.processes.is_main_process

    def finish(self) -> Run:
        try:
            return self._finish()
        finally:
            for weight in self.thawed:  # a method may have frozen some
                weight.requires_grad_(True)

    def _finish(self) -> Run:
        run = self.run
        if self.folder is not None:
            found = self._from_main(lambda: self.folder.claim(self.identity))
            if found["finished"]:
                return self._read_back(found)
            if self._from_main(self.folder.checkpoint.exists):
                self._resume()
            if self.writes:
                self.folder.rewrite_history(run.history)
        with Progress(self.steps, run.method.name, show=self.show) as progress:
            progress.done = self.step
            if self.step == 0 and run.encoder.representation == "backbone":
                self._note({"step": 0}, evaluate=True)
            while self.step < self.steps and run.stopped is None:
                evaluate = (self.step + 1) % run.config.eval_every == 0 or self.step + 1 == self.steps
                row = self._take_step(evaluate)
                self._note(row, evaluate)
                self._agree_to_stop()
                progress.update(note=self._summary(row))
                every = run.config.checkpoint_every or run.config.eval_every
                if self.writes and self.step % every == 0 and self.step < self.steps:
                    self._save_checkpoint()
        return self._conclude()

    def _from_main(self, compute: Callable[[], Any]) -> Any:
        """What the main process computes, on every process."""
        from accelerate.utils import broadcast_object_list

        return broadcast_object_list([compute() if self.processes.is_main_process else None])[0]

    def _rate(self, step: int) -> float:
        """Linear warm-up, then linear decay to zero."""
        warmup = round(self.run.config.warmup * self.steps)
        return (
            (step + 1) / (warmup + 1) if step < warmup else (self.steps - step) / max(1, self.steps - warmup)
        )

    def _batch(self) -> list[Any]:
        epoch, place = divmod(self.step, self.per_epoch)
        order = _epoch_order(len(self.corpus), self.run.config.seed, epoch)
        size = self.run.config.batch_size
        return [self.corpus[index] for index in order[place * size : (place + 1) * size].tolist()]

    def _take_step(self, evaluate: bool) -> dict[str, Any]:
        encoder, method, processes = self.run.encoder, self.run.method, self.processes
        torch.manual_seed(_mix(self.run.config.seed, self.step, processes.process_index))
        encoder.train()
        method.train()
        with torch.autocast(processes.device.type, torch.bfloat16, enabled=self.precision == "bf16"):
            loss = method.loss(method.views(self.encode, self._batch()))
        terms = loss.floats()
        for name, value in terms.items():
            if not math.isfinite(value):
                self._diverged(f"the term {name!r} of the loss is {value}")
        row = {"step": self.step + 1, "loss": sum(terms.values()), **terms}
        if evaluate and len(terms) > 1:
            row |= self._gradient_norms(loss.terms)
        loss.total.backward()
        learning = [weight for weight in self.weights if weight.grad is not None]
        if processes.num_processes > 1:
            _average_gradients(learning)
        norm = float(nn.utils.clip_grad_norm_(learning, self.run.config.clip))
        if not math.isfinite(norm):
            self._diverged(f"the gradient is {norm} (the loss is {row['loss']:.4g})")
        self.optimizer.step()
        self.schedule.step()
        self.optimizer.zero_grad(set_to_none=True)
        encoder.untrained.discard("head")
        self.step += 1
        return row | {"gradient_norm": norm}

    def _gradient_norms(self, terms: Mapping[str, Tensor]) -> dict[str, float]:
        """How hard each term of the loss, its weight included, pulls at the weights."""
        norms = {}
        for name, term in terms.items():
            found = torch.autograd.grad(term, self.weights, retain_graph=True, allow_unused=True)
            gradient = torch.cat([part.reshape(-1) for part in found if part is not None])
            if self.processes.num_processes > 1:
                gradient = _mean_over_processes(gradient)
            norms[f"gradient_norm/{name}"] = float(gradient.norm())
        return norms

    def _note(self, row: dict[str, Any], evaluate: bool) -> None:
        """Complete a row of the history, keep the weights if they are the best, tell the callbacks."""
        run = self.run
        run.history.append(row)
        if not self.processes.is_main_process:
            return
        if evaluate and self.evaluator is not None:
            row.update(self._scores(row["step"]))
            scored = "score" in row and row["step"] > 0
            if scored and (run.best is None or row["score"] > run.best["score"]):
                run.best = row
                self._keep_best()
            self._lose_patience(row["step"])
        if self.writes:
            self.folder.append(row)
        for callback in self.callbacks:
            try:
                callback(run, row)
            except StopTraining as reason:
                run.stopped = str(reason) or f"a callback asked for it at step {row['step']}"

    def _lose_patience(self, step: int) -> None:
        run = self.run
        best = 0 if run.best is None else run.best["step"]
        waited = sum(best < row["step"] and bool({"score", "degenerate"} & row.keys()) for row in run.history)
        if run.config.patience is not None and waited >= run.config.patience:
            run.stopped = f"no better dev score in {waited} evaluations, step {step}"

    def _agree_to_stop(self) -> None:
        """Callbacks and evaluations happen on the main process only; all stop together."""
        if self.processes.num_processes > 1 and (self.callbacks or self.run.config.patience is not None):
            self.run.stopped = self._from_main(lambda: self.run.stopped)

    def _scores(self, step: int) -> dict[str, Any]:
        """What the evaluator found; of a collapsed encoder, which may recover, the reason for no score."""
        try:
            with eval_mode(self.run.encoder):
                scores = {name: float(value) for name, value in self.evaluator(self.run.encoder).items()}
        except DegenerateEmbeddings as reason:
            if not any("degenerate" in earlier for earlier in self.run.history):
                warnings.warn(f"no score at step {step}: {reason}; training goes on", stacklevel=2)
            return {"degenerate": str(reason)}
        if not math.isfinite(scores.get("score", math.nan)):
            raise ValueError(
                f"the evaluator must return a finite number called 'score', it returned {scores}"
            )
        return scores

    def _keep_best(self) -> None:
        self.best_state = {
            name: value.detach().cpu().clone() for name, value in self.run.encoder.state_dict().items()
        }
        if self.writes:
            self.folder.save(self.folder.best, self.best_state, {"row": self.run.best})

    def _summary(self, row: Mapping[str, Any]) -> str:
        dev = f", dev {row['score']:.2f}" if "score" in row else ""
        return f"loss {row['loss']:.4f}{dev}"

    def _diverged(self, what: str) -> None:
        kept = (
            f"the last good checkpoint stays in {self.folder.path}"
            if self.folder is not None and self.folder.checkpoint.exists()
            else "nothing was saved"
        )
        raise TrainingDiverged(
            f"training diverged at step {self.step + 1}: {what}; {kept}. A lower lr or a higher temperature may help"
        )

    def _save_checkpoint(self) -> None:
        model, model_tree = pack("encoder", self.run.encoder.state_dict())
        optimizer, optimizer_tree = pack("optimizer", self.optimizer.state_dict())
        method, method_tree = pack("method", self.run.method.state_dict())
        info = {
            "step": self.step,
            "seconds": self._seconds(),
            "precision": self.precision,
            "history": self.run.history,
            "best": self.run.best,
            "encoder": model_tree,
            "optimizer": optimizer_tree,
            "method": method_tree,
        }
        self.folder.save(self.folder.checkpoint, model | optimizer | method, info)

    def _resume(self) -> None:
        run = self.run
        tensors, info = self.folder.load(self.folder.checkpoint)
        run.encoder.load_state_dict(unpack(tensors, info["encoder"]))
        self.optimizer.load_state_dict(unpack(tensors, info["optimizer"]))
        run.method.load_state_dict(unpack(tensors, info["method"]))
        run.history, run.best = info["history"], info["best"]
        run.encoder.untrained.discard("head")
        self.step = run.resumed_from = info["step"]
        self.seconds_before, self.precision = info["seconds"], info["precision"]
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, self._rate, last_epoch=self.step - 1
        )
        if self.writes and self.folder.best.exists():  # it may be of a later step than the checkpoint
            self.best_state, kept = self.folder.load(self.folder.best)
            run.best = kept["row"]

    def _seconds(self) -> float:
        return self.seconds_before + time.monotonic() - self.began

    def _conclude(self) -> Run:
        run = self.run
        best_state, run.best, run.history = self._from_main(lambda: (self.best_state, run.best, run.history))
        if best_state:
            run.encoder.load_state_dict(best_state)
        run.encoder.eval()
        run.method.eval()
        run.seconds = self._seconds()
        if self.writes:
            run.encoder.save_pretrained(self.folder.path)
            if len(run.method.state_dict()) > 1:  # more than its generator
                tensors, tree = pack("method", run.method.state_dict())
                self.folder.save(self.folder.method, tensors, {"method": tree})
            content = {
                "identity": self.identity,
                "finished": True,
                "steps": self.step,
                "stopped": run.stopped,
                "best": run.best,
                "seconds": run.seconds,
                "versions": versions(),
            }
            self.folder.write(content)
            self.folder.clear()
        return run

    def _read_back(self, found: Mapping[str, Any]) -> Run:
        """A finished run from its folder: nothing is trained again."""
        run = self.run
        trained = SentenceEncoder.from_pretrained(run.output, device=self.processes.device)
        run.encoder.attach_head(trained.head)
        run.encoder.untrained.discard("head")
        run.encoder.load_state_dict(trained.state_dict())
        run.encoder.eval()
        if self.folder.method.exists():
            tensors, info = self.folder.load(self.folder.method)
            run.method.load_state_dict(unpack(tensors, info["method"]))
        run.method.eval()
        run.history, run.best, run.seconds = self.folder.history(), found["best"], found["seconds"]
        run.resumed_from, run.stopped = found["steps"], found.get("stopped")
        return run


def _average_gradients(parameters: Sequence[nn.Parameter]) -> None:
    flat = _mean_over_processes(torch.cat([p.grad.reshape(-1) for p in parameters]))
    for parameter, part in zip(parameters, flat.split([p.numel() for p in parameters]), strict=True):
        parameter.grad.copy_(part.view_as(parameter))


def _mean_over_processes(tensor: Tensor) -> Tensor:
    from accelerate.utils import reduce

    return reduce(tensor, reduction="mean")


def _mix(*numbers: int) -> int:
    """One seed from several numbers, without accidental coincidences between neighbours."""
    return int.from_bytes(hashlib.sha256(repr(numbers).encode()).digest()[:8], "big") >> 1


@lru_cache(maxsize=1)
def _epoch_order(size: int, seed: int, epoch: int) -> Tensor:
    return torch.randperm(size, generator=torch.Generator().manual_seed(_mix(seed, epoch)))


def _corpus_hash(corpus: Sequence[Any]) -> str:
    digest = hashlib.sha256()
    for row in corpus:
        digest.update((row if isinstance(row, str) else "\t".join(row)).encode() + b"\n")
    return digest.hexdigest()


def _check_corpus(corpus: Sequence[Any], method: Method, config: TrainConfig) -> list[Any]:
    corpus = check_sentences(corpus) if len(method.columns) == 1 else _check_rows(corpus, method)
    if len(corpus) < config.batch_size:
        raise ValueError(
            f"the corpus has {len(corpus)} sentences, fewer than one batch of {config.batch_size}: "
            "give more sentences or a smaller batch_size"
        )
    distinct = len(set(corpus))
    if distinct < config.batch_size:
        raise ValueError(
            f"the corpus has only {distinct} different sentences (of {len(corpus)}), fewer than one batch of "
            f"{config.batch_size}: a sentence cannot be contrasted with itself"
        )
    return corpus


def _check_rows(corpus: Sequence[Any], method: Method) -> list[tuple[str, ...]]:
    """The rows as tuples of the method's columns, each text a string that is not empty."""
    wanted = f"{method.name} takes rows of {len(method.columns)} texts ({', '.join(method.columns)})"
    help_ = "cselab.data.read_rows reads them from a tab-separated file, World().rows makes some"
    rows = []
    for index, row in enumerate(corpus):
        if isinstance(row, str) or len(row) != len(method.columns):
            given = "one text" if isinstance(row, str) else f"{len(row)} texts"
            raise ValueError(f"corpus[{index}] is {given}, but {wanted}: {help_}")
        for column, text in zip(method.columns, row, strict=True):
            if not isinstance(text, str) or not text.strip():
                raise ValueError(f"{column} of corpus[{index}] is {text!r}, not a text: leave the row out")
        rows.append(tuple(row))
    return rows


def _precision(wanted: str) -> str:
    if wanted != "auto":
        return wanted
    return "bf16" if faster_in_bf16() else "fp32"


@cache
def faster_in_bf16() -> bool:
    """Whether matrix products in bfloat16 are clearly faster than in float32 on the device that trains."""
    if torch.cuda.is_available():
        return torch.cuda.is_bf16_supported(including_emulation=False)

    def seconds(dtype: torch.dtype) -> float:
        a, b = torch.ones(512, 256, dtype=dtype), torch.ones(256, 256, dtype=dtype)
        times = []
        for _ in range(5):
            start = time.perf_counter()
            a @ b
            times.append(time.perf_counter() - start)
        return min(times)

    return seconds(torch.bfloat16) * 1.3 < seconds(torch.float32)
