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
from cselab.measures.degenerate import DegenerateEmbeddings
from cselab.methods import Method, create_method
from cselab.progress import Progress
from cselab.storage.checkpoint import pack, unpack
from cselab.storage.run_folder import RunFolder
from cselab.versions import versions

Evaluator = Callable[[SentenceEncoder], Mapping[str, float]]


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
        representation: the vector that is evaluated, selected and saved: "backbone" or "head".

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
    representation: Representation = "backbone"

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
            "representation": ("backbone", "head"),
        }.items():
            if getattr(self, name) not in allowed:
                raise ValueError(
                    f"unknown {name} {getattr(self, name)!r}; choose one of {', '.join(allowed)}"
                )


@dataclass
class Run:
    """A training run: the encoder as it is now, and everything that was seen on the way.

    `history` has a row (dict) a step: "step", "loss", each named term of the loss, and on evaluated steps what
    the evaluator returned ("score", "alignment", "uniformity", "effective_rank" ...). Row 0 is the encoder before
    training. Where the vectors could not be scored (all alike, NaN) the row has the reason as "degenerate" and no
    score: training goes on, with a warning the first time. `best` is the evaluated row with the highest score,
    after step 0; the finished run's encoder has its weights. `method` is a copy of the one that was given, with
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
    sentences: Sequence[str],
    config: TrainConfig | None = None,
    evaluator: Evaluator | None = None,
    callbacks: Sequence[Callback] = (),
    output: str | Path | None = None,
    show_progress_bar: bool = True,
) -> Run:
    """Train `encoder` (in place; `encoder.copy()` keeps the old one) on unlabelled sentences.

    AdamW, linear decay, gradient clipping, a fresh training head; every `eval_every` steps the evaluator sees
    the encoder, and the weights with the highest "score" are kept. With an `output` folder the run is
    checkpointed: started again with the same arguments it continues where it was, and ends with the weights of
    a run that was never interrupted; a finished one is read back. The folder is afterwards an encoder.

    Args:
        encoder: what to train.
        method: a method or its name ("simcse", "whitenedcse", ...).
        sentences: the corpus, one sentence an entry.
        config: lengths and rates; default `TrainConfig()`.
        evaluator: `evaluator(encoder)` -> numbers with a "score", higher is better; None keeps the last weights.
        callbacks: `callback(run, row)` after each row of the history; `run.encoder` is the current encoder.
        output: folder of the run.
        show_progress_bar: whether progress is shown.

    Raises:
        TypeError, ValueError: sentences that are empty or no strings, fewer than a batch or all the same; an
            unknown method; an output folder that cannot be used.
        TrainingDiverged: NaN or infinity; the last good checkpoint stays.
    """
    from accelerate import PartialState
    from accelerate.utils import parse_flag_from_env

    method = create_method(method) if isinstance(method, str) else copy.deepcopy(method)
    config = config or TrainConfig()
    sentences = check_sentences(sentences)
    _check_corpus(sentences, config)
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
        return _Training(run, sentences, evaluator, callbacks, processes, folder, show_progress_bar).finish()


class _Training:
    """One call of `train`: its state, and the steps from there to the end.

    Of several processes the main one evaluates, calls back and writes the folder, which all can read.
    """

    def __init__(self, run: Run, sentences, evaluator, callbacks, processes, folder, show):
        self.run, self.sentences, self.evaluator, self.callbacks = run, sentences, evaluator, callbacks
        self.processes, self.folder, self.show = processes, folder, show and processes.is_main_process
        config, encoder, method = run.config, run.encoder, run.method
        self.per_epoch = len(sentences) // config.batch_size
        self.steps = config.steps or max(1, round(config.epochs * self.per_epoch))
        self.step, self.began, self.seconds_before = 0, time.monotonic(), 0.0
        self.best_state: dict[str, Tensor] = {}
        self.precision = _precision(config.precision)
        method.prepare(encoder)
        method.seed(config.seed)
        self.identity = {
            "method": {"name": method.name, **method.settings()},
            "encoder": {"name": encoder.name, "pooling": encoder.pooling, "weights": encoder.weights_hash()},
            "corpus": {"sentences": len(sentences), "sha256": _corpus_hash(sentences)},
            "config": asdict(config),
        }
        encoder.to(processes.device)
        width = encoder.backbone.config.hidden_size
        encoder.attach_head(method.build_head(width, torch.Generator().manual_seed(config.seed)))
        encoder.representation = config.representation
        self.optimizer = torch.optim.AdamW(
            encoder.parameters(), lr=config.lr, weight_decay=config.weight_decay
        )
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, self._rate)
        self.encode = _Encode(encoder, config.max_length, processes)

    @property
    def writes(self) -> bool:
        return self.folder is not None and self.processes.is_main_process

    def finish(self) -> Run:
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
            if self.step == 0 and run.config.representation == "backbone":
                self._note({"step": 0}, evaluate=True)
            while self.step < self.steps:
                row = self._take_step()
                evaluate = self.step % run.config.eval_every == 0 or self.step == self.steps
                self._note(row, evaluate)
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

    def _batch(self) -> list[str]:
        epoch, place = divmod(self.step, self.per_epoch)
        order = _epoch_order(len(self.sentences), self.run.config.seed, epoch)
        size = self.run.config.batch_size
        return [self.sentences[index] for index in order[place * size : (place + 1) * size].tolist()]

    def _take_step(self) -> dict[str, Any]:
        encoder, method, processes = self.run.encoder, self.run.method, self.processes
        torch.manual_seed(_mix(self.run.config.seed, self.step, processes.process_index))
        encoder.train()
        with torch.autocast(processes.device.type, torch.bfloat16, enabled=self.precision == "bf16"):
            loss = method.loss(method.views(self.encode, self._batch()))
        terms = loss.floats()
        for name, value in terms.items():
            if not math.isfinite(value):
                self._diverged(f"the term {name!r} of the loss is {value}")
        loss.total.backward()
        parameters = [p for p in encoder.parameters() if p.grad is not None]
        if processes.num_processes > 1:
            _average_gradients(parameters)
        norm = float(nn.utils.clip_grad_norm_(parameters, self.run.config.clip))
        if not math.isfinite(norm):
            self._diverged(f"the gradient is {norm} (the loss is {sum(terms.values()):.4g})")
        self.optimizer.step()
        self.schedule.step()
        self.optimizer.zero_grad(set_to_none=True)
        encoder.untrained.discard("head")
        self.step += 1
        return {"step": self.step, "loss": sum(terms.values()), **terms, "gradient_norm": norm}

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
        if self.writes:
            self.folder.append(row)
        for callback in self.callbacks:
            callback(run, row)

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
        scores = [earlier["score"] for earlier in self.run.history if "score" in earlier]
        dev = f", dev {scores[-1]:.2f}" if scores else ""
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
        run.seconds = self._seconds()
        if self.writes:
            run.encoder.save_pretrained(self.folder.path)
            content = {
                "identity": self.identity,
                "finished": True,
                "steps": self.steps,
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
        run.history, run.best, run.seconds = self.folder.history(), found["best"], found["seconds"]
        run.resumed_from = found["steps"]
        return run


class _Encode:
    """What a method calls: see `cselab.methods.base.Encode`."""

    def __init__(self, encoder: SentenceEncoder, max_length: int, processes: Any):
        self.encoder, self.max_length, self.processes = encoder, max_length, processes

    @property
    def head(self) -> nn.Module | None:
        return self.encoder.head

    def __call__(
        self, batch: Sequence[str], *, times: int | None = None, dropout: bool = True, head: bool = True
    ) -> Tensor | list[Tensor]:
        processes, rank = self.processes.num_processes, self.processes.process_index
        share = len(batch) // processes
        features = self.encoder.tokenize(batch[rank * share : (rank + 1) * share], self.max_length)
        copies = times or 1
        stacked = {name: tensor.repeat(copies, 1) for name, tensor in features.items()}
        with nullcontext() if dropout else eval_mode(self.encoder.backbone):
            vectors = self.encoder.pooled(stacked).unflatten(0, (copies, share))
        if processes > 1:
            vectors = _Gather.apply(vectors, processes, rank)
        views = [self.head(view) for view in vectors] if head and self.head is not None else list(vectors)
        return views if times is not None else views[0]


class _Gather(torch.autograd.Function):
    """The vectors [k, n, d] of all processes side by side [k, N, d].

    Every process then computes the same loss on the union. Backward hands each its own rows times the number of
    processes, so that the mean of the gradients over processes is the gradient of the single-process batch:
    for the backbone (each sees a share) as for the head (each sees everything).
    """

    @staticmethod
    def forward(ctx, vectors: Tensor, processes: int, rank: int) -> Tensor:
        ctx.processes, ctx.rank, ctx.share = processes, rank, vectors.shape[1]
        parts = [torch.empty_like(vectors) for _ in range(processes)]
        torch.distributed.all_gather(parts, vectors.contiguous())
        return torch.cat(parts, dim=1)

    @staticmethod
    def backward(ctx, gradient: Tensor) -> tuple[Tensor, None, None]:
        own = gradient[:, ctx.rank * ctx.share : (ctx.rank + 1) * ctx.share]
        return own * ctx.processes, None, None


def _average_gradients(parameters: Sequence[nn.Parameter]) -> None:
    from accelerate.utils import reduce

    flat = reduce(torch.cat([p.grad.reshape(-1) for p in parameters]), reduction="mean")
    for parameter, part in zip(parameters, flat.split([p.numel() for p in parameters]), strict=True):
        parameter.grad.copy_(part.view_as(parameter))


def _mix(*numbers: int) -> int:
    """One seed from several numbers, without accidental coincidences between neighbours."""
    return int.from_bytes(hashlib.sha256(repr(numbers).encode()).digest()[:8], "big") >> 1


@lru_cache(maxsize=1)
def _epoch_order(size: int, seed: int, epoch: int) -> Tensor:
    return torch.randperm(size, generator=torch.Generator().manual_seed(_mix(seed, epoch)))


def _corpus_hash(sentences: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for sentence in sentences:
        digest.update(sentence.encode() + b"\n")
    return digest.hexdigest()


def _check_corpus(sentences: Sequence[str], config: TrainConfig) -> None:
    if len(sentences) < config.batch_size:
        raise ValueError(
            f"the corpus has {len(sentences)} sentences, fewer than one batch of {config.batch_size}: "
            "give more sentences or a smaller batch_size"
        )
    distinct = len(set(sentences))
    if distinct < config.batch_size:
        raise ValueError(
            f"the corpus has only {distinct} different sentences (of {len(sentences)}), fewer than one batch of "
            f"{config.batch_size}: a sentence cannot be contrasted with itself"
        )


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
