"""The training loop: any method, any encoder, on accelerate.

What a step does depends on (seed, step) alone: which sentences, which dropout masks. So the same seed on the
same machine gives the same history, and a run that was killed and started again ends with the same weights.
"""

import hashlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from cselab.checkpoint import pack, unpack
from cselab.encoder import Representation, SentenceEncoder, check_sentences, evaluating
from cselab.methods import Method, create_method
from cselab.progress import Progress
from cselab.runfolder import RunFolder
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
        least = {"steps": 1, "epochs": 0, "lr": 0, "max_length": 3, "eval_every": 1, "checkpoint_every": 1}
        for name, bound in least.items():
            value = getattr(self, name)
            if value is not None and not value >= bound:
                raise ValueError(f"{name} must be at least {bound}, got {value}")
        if not 0 <= self.warmup < 1:
            raise ValueError(f"warmup is a share of the steps in [0, 1), got {self.warmup}")
        if self.precision not in ("auto", "fp32", "bf16"):
            raise ValueError(f"unknown precision {self.precision!r}; choose one of auto, fp32, bf16")


@dataclass
class Run:
    """A training run: the encoder as it is now, and everything that was seen on the way.

    `history` has a row (dict) a step: "step", "loss", each named term of the loss, and on evaluated steps what
    the evaluator returned ("score", "alignment", "uniformity", "effective_rank" ...). Row 0 is the encoder before
    training. `best` is the evaluated row with the highest score, after step 0; the finished run's encoder has
    its weights.
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
    from accelerate import Accelerator

    method = create_method(method) if isinstance(method, str) else method
    config = config or TrainConfig()
    sentences = check_sentences(sentences)
    _check_corpus(sentences, config)
    run = Run(encoder, method, config, output=Path(output) if output is not None else None)
    precision = _precision(config.precision)
    accelerator = Accelerator(mixed_precision={"fp32": "no", "bf16": "bf16"}[precision])
    if run.output is None or not accelerator.is_main_process:
        return _Training(run, sentences, evaluator, callbacks, accelerator, None, show_progress_bar).finish()
    with RunFolder(run.output).locked() as folder:
        return _Training(
            run, sentences, evaluator, callbacks, accelerator, folder, show_progress_bar
        ).finish()


class _Training:
    """One call of `train`: its state, and the steps from there to the end."""

    def __init__(self, run: Run, sentences, evaluator, callbacks, accelerator, folder, show):
        self.run, self.sentences, self.evaluator, self.callbacks = run, sentences, evaluator, callbacks
        self.accelerator, self.folder, self.show = accelerator, folder, show
        config, encoder, method = run.config, run.encoder, run.method
        self.per_epoch = len(sentences) // config.batch_size
        self.steps = config.steps or max(1, round(config.epochs * self.per_epoch))
        self.step, self.began, self.seconds_before = 0, time.monotonic(), 0.0
        self.best_state: dict[str, Tensor] = {}
        self.identity = {
            "method": {"name": method.name, **method.settings()},
            "encoder": {"name": encoder.name, "pooling": encoder.pooling, "weights": encoder.weights_hash()},
            "corpus": {"sentences": len(sentences), "sha256": _corpus_hash(sentences)},
            "config": asdict(config),
        }
        encoder.to(accelerator.device)
        method.prepare(encoder)
        method.seed(config.seed)
        width = encoder.backbone.config.hidden_size
        encoder.attach_head(method.build_head(width, torch.Generator().manual_seed(config.seed)))
        self.optimizer = torch.optim.AdamW(
            encoder.parameters(), lr=config.lr, weight_decay=config.weight_decay
        )
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, self._rate)
        self.encode = _Encode(encoder, config.max_length, accelerator)

    def finish(self) -> Run:
        run = self.run
        if self.folder is not None:
            found = self.folder.claim(self.identity)
            if found["finished"]:
                return self._read_back(found)
            if self.folder.checkpoint.exists():
                self._resume()
            self.folder.rewrite_history(run.history)
        devices = [self.accelerator.device.index or 0] if self.accelerator.device.type == "cuda" else []
        with (
            torch.random.fork_rng(devices),  # the caller's random numbers are not disturbed
            Progress(
                self.steps, run.method.name, show=self.show and self.accelerator.is_main_process
            ) as progress,
        ):
            progress.done = self.step
            if self.step == 0 and run.config.representation == "backbone":
                self._note({"step": 0}, evaluate=True)
            while self.step < self.steps:
                row = self._take_step()
                evaluate = self.step % run.config.eval_every == 0 or self.step == self.steps
                self._note(row, evaluate)
                progress.update(note=self._summary(row))
                every = run.config.checkpoint_every or run.config.eval_every
                if self.folder is not None and self.step % every == 0 and self.step < self.steps:
                    self._save_checkpoint()
        return self._conclude()

    def _rate(self, step: int) -> float:
        """Linear warm-up, then linear decay to zero."""
        warmup = round(self.run.config.warmup * self.steps)
        return (step + 1) / (warmup + 1) if step < warmup else (self.steps - step) / (self.steps - warmup)

    def _batch(self) -> list[str]:
        epoch, place = divmod(self.step, self.per_epoch)
        order = _epoch_order(len(self.sentences), self.run.config.seed, epoch)
        size = self.run.config.batch_size
        return [self.sentences[index] for index in order[place * size : (place + 1) * size].tolist()]

    def _take_step(self) -> dict[str, Any]:
        encoder, method, accelerator = self.run.encoder, self.run.method, self.accelerator
        torch.manual_seed(_mix(self.run.config.seed, self.step, accelerator.process_index))
        encoder.train()
        with accelerator.autocast():
            loss = method.loss(method.views(self.encode, self._batch()))
        terms = loss.floats()
        for name, value in terms.items():
            if not math.isfinite(value):
                self._diverged(f"the term {name!r} of the loss is {value}")
        accelerator.backward(loss.total)
        parameters = [p for p in encoder.parameters() if p.grad is not None]
        if accelerator.num_processes > 1:
            _average_gradients(parameters, accelerator)
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
        if not self.accelerator.is_main_process:
            return
        if evaluate and self.evaluator is not None:
            before, run.encoder.representation = run.encoder.representation, run.config.representation
            with evaluating(run.encoder):
                row.update(self.evaluator(run.encoder))
            run.encoder.representation = before
            if row["step"] > 0 and (run.best is None or row["score"] > run.best["score"]):
                run.best = row
                self._keep_best()
        run.history.append(row)
        if self.folder is not None:
            self.folder.append(row)
        for callback in self.callbacks:
            callback(run, row)

    def _keep_best(self) -> None:
        self.best_state = {
            name: value.detach().cpu().clone() for name, value in _state(self.run.encoder).items()
        }
        if self.folder is not None:
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
        model, model_tree = pack("encoder", _state(self.run.encoder))
        optimizer, optimizer_tree = pack("optimizer", self.optimizer.state_dict())
        method, method_tree = pack("method", self.run.method.state_dict())
        info = {
            "step": self.step,
            "seconds": self._seconds(),
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
        self.seconds_before = info["seconds"]
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, self._rate, last_epoch=self.step - 1
        )
        if self.folder.best.exists():
            self.best_state, _ = self.folder.load(self.folder.best)

    def _seconds(self) -> float:
        return self.seconds_before + time.monotonic() - self.began

    def _conclude(self) -> Run:
        run = self.run
        if self.best_state:
            run.encoder.load_state_dict(self.best_state)
        run.encoder.eval()
        run.encoder.representation = run.config.representation
        run.seconds = self._seconds()
        if self.folder is not None:
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
        trained = SentenceEncoder.from_pretrained(run.output)
        run.encoder.head = trained.head
        run.encoder.untrained.discard("head")
        run.encoder.load_state_dict(trained.state_dict())
        run.encoder.representation = run.config.representation
        run.encoder.eval()
        run.history, run.best, run.seconds = self.folder.history(), found["best"], found["seconds"]
        run.resumed_from = found["steps"]
        return run


class _Encode:
    """What a method calls: see `cselab.methods.base.Encode`."""

    def __init__(self, encoder: SentenceEncoder, max_length: int, accelerator: Any):
        self.encoder, self.max_length, self.accelerator = encoder, max_length, accelerator

    @property
    def head(self) -> nn.Module:
        return self.encoder.head

    def __call__(
        self, batch: Sequence[str], *, times: int | None = None, dropout: bool = True, head: bool = True
    ) -> Tensor | list[Tensor]:
        processes, rank = self.accelerator.num_processes, self.accelerator.process_index
        if len(batch) % processes:
            raise ValueError(f"batch_size {len(batch)} must be a multiple of the {processes} processes")
        share = len(batch) // processes
        features = self.encoder.tokenize(batch[rank * share : (rank + 1) * share], self.max_length)
        copies = times or 1
        stacked = {name: tensor.repeat(copies, 1) for name, tensor in features.items()}
        with nullcontext() if dropout else evaluating(self.encoder.backbone):
            vectors = self.encoder.pooled(stacked).unflatten(0, (copies, share))
        if processes > 1:
            vectors = _Gather.apply(vectors, processes, rank)
        views = [self.head(view) for view in vectors] if head else list(vectors)
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


def _average_gradients(parameters: Sequence[nn.Parameter], accelerator: Any) -> None:
    flat = torch.cat([p.grad.reshape(-1) for p in parameters])
    flat = accelerator.reduce(flat, reduction="mean")
    for parameter, part in zip(parameters, flat.split([p.numel() for p in parameters]), strict=True):
        parameter.grad.copy_(part.view_as(parameter))


def _state(encoder: SentenceEncoder) -> dict[str, Tensor]:
    return dict(encoder.state_dict())


def _mix(*numbers: int) -> int:
    """One seed from several numbers, without accidental coincidences between neighbours."""
    return int.from_bytes(hashlib.sha256(repr(numbers).encode()).digest()[:8], "big") >> 1


@cache
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
