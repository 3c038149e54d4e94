"""The training loop: any method, any encoder, on accelerate.

What a step does depends on (seed, step) alone: which sentences, which dropout masks. So the same seed on the
same machine gives the same history, and a run that was killed and started again ends with the same weights.
"""

import copy
import hashlib
import math
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from cselab._util.versions import versions
from cselab.data.rows import check_rows, rows_hash
from cselab.encoders.adapters import adapter_settings, has_adapters, load_adapter
from cselab.encoders.checkpoint import load_checkpoint, pack, save_checkpoint, unpack
from cselab.encoders.distributed import all_processes
from cselab.encoders.encoder import SentenceEncoder, eval_mode
from cselab.encoders.encoding import Encode
from cselab.encoders.speed import chosen_precision, computing_in, is_asynchronous
from cselab.methods import Method, create_method
from cselab.metrics.degenerate import DegenerateEmbeddings
from cselab.training.guard import refuse_identical_views, refuse_idle_adapters
from cselab.training.processes import average_gradients, from_main, mean_over_processes, wait_for_all
from cselab.training.readings import Readings
from cselab.training.resumable import ResumableLoop, Stateful, fitting
from cselab.training.run import Callback, Evaluator, Run, StatusLine, StopTraining, TrainConfig, TrainingDiverged
from cselab.training.run_folder import RunFolder, refuse_another

if TYPE_CHECKING:
    from accelerate import PartialState


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

    Of an encoder with adapters (`SentenceEncoder.add_adapter`) these and the head learn, with any method.

    A plain checkpoint opened without a `pooling` takes that of the method's paper, [CLS], where the method has a head:
    no paper trains a fresh head on a mean of tokens.

    Args:
        encoder: what to train.
        method: a method or its name ("simcse", "whitenedcse", ...).
        corpus: sentences; for a method with several `columns`, tuples of texts.
        config: lengths and rates; default `TrainConfig()`.
        evaluator: `evaluator(encoder)` -> numbers with a "score", higher is better; None keeps the last weights.
        callbacks: `callback(run, row)` after each row of the history; `run.encoder` is the current encoder, which a
            GPU may have taken some steps further unless the row is an evaluated one. A callback that raises
            `StopTraining` ends the run after this step.
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
    run = Run(encoder, method, config, output=Path(output) if output is not None else None)
    processes = all_processes()
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
        self.run, self.corpus, self.evaluator, self.callbacks = run, corpus, evaluator, callbacks
        self.processes, self.folder, self.show = processes, folder, show and processes.is_main_process
        self.written = folder if processes.is_main_process else None
        config, encoder, method = run.config, run.encoder, run.method
        self.per_epoch = len(corpus) // config.batch_size
        self.steps = config.length(len(corpus))
        self.best_state: dict[str, Tensor] = {}
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
        encoder.attach_head(method.build(encoder, corpus, torch.Generator().manual_seed(config.seed)))
        method.to(processes.device)
        encoder.representation = config.representation or method.representation
        self.optimizer = torch.optim.AdamW(
            method.groups(encoder), lr=config.lr, weight_decay=config.weight_decay, fused=True
        )
        groups = self.optimizer.param_groups
        self.weights = [weight for group in groups for weight in group["params"] if weight.requires_grad]
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, self._rate)
        self.readings = Readings(processes.device)
        self.status = StatusLine()
        self.encode = Encode(encoder, config.max_length, processes, config.mini_batch_size)
        parts: dict[str, Stateful] = {
            "encoder": encoder,
            "optimizer": self.optimizer,
            "schedule": self.schedule,
            "method": method,
        }
        self.loop = ResumableLoop(
            method.name,
            self.steps,
            parts,
            self.folder.checkpoint if self.folder is not None else None,
            config.checkpoint_every or config.eval_every,
            self.show,
            writes=processes.is_main_process,
            identity=self.identity,
        )

    def finish(self) -> Run:
        try:
            return self._finish()
        finally:
            for weight in self.thawed:  # a method may have frozen some
                weight.requires_grad_(True)

    def _finish(self) -> Run:
        run = self.run
        if (folder := self.folder) is not None:
            content = from_main(self.processes, lambda: folder.claim(self.identity))
            if content["finished"]:
                return self._read_back(folder)
            if from_main(self.processes, folder.checkpoint.exists):
                self._resume()
            if self.written is not None:
                self.written.rewrite_history(run.history)
        if self.step == 0:
            refuse_idle_adapters(run.method, run.encoder, self._batch(), run.config.max_length)
            refuse_identical_views(run.method, run.encoder, self._batch(), run.config.max_length)
        if self.step == 0 and run.encoder.representation == "backbone":
            self._note([{"step": 0}], evaluate=True)
        self.loop.run(self._advance, self._kept)
        return self._conclude()

    @property
    def step(self) -> int:
        """How many steps have been taken."""
        return self.loop.step

    def _advance(self) -> str:
        """Take a step, look at the encoder where that is due; what the progress says."""
        run, step = self.run, self.step + 1
        evaluate = step % run.config.eval_every == 0 or step == self.steps
        try:
            rows = self._take_step(evaluate)
        except Exception:
            self._note(self._read())  # the cause may be an earlier step that diverged
            raise
        self._note(rows, evaluate)
        self._agree_to_stop()
        self.loop.stopped = run.stopped is not None
        return self.status.after(rows)

    def _kept(self) -> dict[str, Any]:
        """What a checkpoint holds beside the state of the parts."""
        run = self.run
        return {"precision": self.precision, "history": run.history, "best": run.best, "stopped": run.stopped}

    def _rate(self, step: int) -> float:
        """Linear warm-up, then linear decay to zero."""
        warmup = round(self.run.config.warmup * self.steps)
        return (step + 1) / (warmup + 1) if step < warmup else (self.steps - step) / max(1, self.steps - warmup)

    def _batch(self) -> list[Any]:
        epoch, place = divmod(self.step, self.per_epoch)
        order = epoch_order(len(self.corpus), self.run.config.seed, epoch)
        size = self.run.config.batch_size
        return [self.corpus[index] for index in order[place * size : (place + 1) * size].tolist()]

    def _take_step(self, evaluate: bool) -> list[dict[str, Any]]:
        """One step; the rows that were read in it."""
        encoder, method, processes = self.run.encoder, self.run.method, self.processes
        wait_for_all()
        torch.manual_seed(seed_from(self.run.config.seed, self.step, processes.process_index))
        encoder.train()
        method.train()
        with computing_in(self.precision, processes.device):
            loss = method.loss(method.views(self.encode, self._batch()))
        pulls = self._gradient_norms(loss.terms) if evaluate and len(loss.terms) > 1 else {}
        loss.total.backward()
        learning = [weight for weight in self.weights if weight.grad is not None]
        if processes.num_processes > 1:
            average_gradients(learning)
        grad_norm = nn.utils.clip_grad_norm_(learning, self.run.config.clip)
        self.readings.add(self.step + 1, loss.terms, grad_norm, pulls)
        if is_asynchronous(
            processes.device
        ):  # a gradient that is not finite is read too late, and must change no weight
            self.optimizer.found_inf = (~grad_norm.isfinite()).float()  # type: ignore[attr-defined]
        rows = self._read() if evaluate or self.readings.due or (self.step + 1) % self.loop.every == 0 else []
        self.optimizer.step()
        self.schedule.step()
        self.optimizer.zero_grad(set_to_none=True)
        encoder.untrained.discard("head")
        return rows

    def _read(self) -> list[dict[str, Any]]:
        """The rows of the steps since the last reading; of the first that diverged, the error."""
        rows, trouble = self.readings.read()
        if trouble:
            self._note(rows)
            kept = "nothing was saved"
            if self.folder is not None and self.folder.checkpoint.exists():
                kept = f"the last good checkpoint stays in {self.folder.path}"
            raise TrainingDiverged(f"{trouble}; {kept}. A lower lr or a higher temperature may help")
        return rows

    def _gradient_norms(self, terms: Mapping[str, Tensor]) -> dict[str, float]:
        """How hard each term of the loss, its weight included, pulls at the weights."""
        norms = {}
        for name, term in terms.items():
            gradients = torch.autograd.grad(term, self.weights, retain_graph=True, allow_unused=True)
            gradient = torch.cat([one.reshape(-1) for one in gradients if one is not None])
            norms[f"gradient_norm/{name}"] = float(mean_over_processes(gradient).norm())
        return norms

    def _note(self, rows: Sequence[dict[str, Any]], evaluate: bool = False) -> None:
        """Complete rows of the history, keep the weights if the last is the best, tell the callbacks of each."""
        run = self.run
        for row in rows:
            run.history.append(row)
            if self.processes.is_main_process:
                self._tell(row, evaluate and row is rows[-1])
        if not self.processes.is_main_process or evaluate or not rows:
            return
        if run.stopped and run.best is None and rows[-1]["step"] > 0:  # stopped before the first evaluation
            self._evaluate(rows[-1])
            if self.written is not None:
                self.written.rewrite_history(run.history)

    def _tell(self, row: dict[str, Any], evaluate: bool) -> None:
        run = self.run
        if evaluate:
            self._evaluate(row)
            self._lose_patience(row["step"])
        if self.written is not None:
            self.written.append(row)
        for callback in self.callbacks:
            try:
                callback(run, row)
            except StopTraining as reason:
                run.stopped = str(reason) or f"a callback asked for it at step {row['step']}"

    def _evaluate(self, row: dict[str, Any]) -> None:
        if self.evaluator is None:
            return
        run = self.run
        row.update(self._scores(self.evaluator, row["step"]))
        if row["step"] > 0 and "score" in row and (run.best is None or row["score"] > run.best["score"]):
            run.best = row
            self._keep_best()

    def _lose_patience(self, step: int) -> None:
        run = self.run
        best = 0 if run.best is None else run.best["step"]
        waited = sum(best < row["step"] and bool({"score", "degenerate"} & row.keys()) for row in run.history)
        if run.config.patience is not None and waited >= run.config.patience:
            run.stopped = f"no better dev score in {waited} evaluations, step {step}"

    def _agree_to_stop(self) -> None:
        """Callbacks and evaluations happen on the main process only; all stop together."""
        if self.processes.num_processes > 1 and (self.callbacks or self.run.config.patience is not None):
            self.run.stopped = from_main(self.processes, lambda: self.run.stopped)

    def _scores(self, evaluator: Evaluator, step: int) -> dict[str, Any]:
        """The evaluator's numbers; of a collapsed encoder, which may recover, the reason why there are none."""
        try:
            with eval_mode(self.run.encoder):
                scores = {name: float(value) for name, value in evaluator(self.run.encoder).items()}
        except DegenerateEmbeddings as reason:
            if not any("degenerate" in earlier for earlier in self.run.history):
                warnings.warn(f"no score at step {step}: {reason}; training goes on", stacklevel=2)
            return {"degenerate": str(reason)}
        if not math.isfinite(scores.get("score", math.nan)):
            raise ValueError(f"the evaluator must return a finite number called 'score', it returned {scores}")
        return scores

    def _keep_best(self) -> None:
        self.best_state = {name: value.detach().cpu().clone() for name, value in self.run.encoder.state_dict().items()}
        if self.written is not None:
            save_checkpoint(self.written.best, self.best_state, {"row": self.run.best, "identity": self.identity})

    def _resume(self) -> None:
        run, info = self.run, self.loop.resume()
        run.history, run.best, self.precision = info["history"], info["best"], info["precision"]
        run.stopped = info.get("stopped")
        self.loop.stopped = run.stopped is not None
        run.encoder.untrained.discard("head")
        run.resumed_from = self.step
        if self.written is not None and self.written.best.exists():  # it may be of a later step than the checkpoint
            self.best_state, kept = load_checkpoint(self.written.best)
            with fitting(self.written.best):
                refuse_another(self.written.best, kept.get("identity", self.identity), self.identity)
                run.best = kept["row"]

    def _conclude(self) -> Run:
        run = self.run
        best_state, run.best, run.history = from_main(self.processes, lambda: (self.best_state, run.best, run.history))
        if best_state:
            run.encoder.load_state_dict(best_state)
        run.encoder.eval()
        run.method.eval()
        run.seconds = self.loop.seconds
        if self.written is not None:
            self._write_result(self.written)
        return run

    def _write_result(self, folder: RunFolder) -> None:
        """Make the folder an encoder, and the record of a finished run."""
        run = self.run
        run.encoder.save_pretrained(folder.path)
        if len(run.method.state_dict()) > 1:  # more than its generator
            tensors, tree = pack("method", run.method.state_dict())
            save_checkpoint(folder.method, tensors, {"method": tree})
        content = {
            "identity": self.identity,
            "finished": True,
            "steps": self.step,
            "stopped": run.stopped,
            "best": run.best,
            "precision": self.precision,
            "seconds": run.seconds,
            "versions": versions(),
        }
        folder.finish(content)

    def _read_back(self, folder: RunFolder) -> Run:
        """A finished run from its folder: nothing is trained again."""
        run, content = self.run, folder.result()
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
            with fitting(folder.method):
                run.method.load_state_dict(unpack(tensors, info["method"]))
        run.method.eval()
        run.history, run.best, run.seconds = folder.history(), content["best"], content["seconds"]
        run.resumed_from, run.stopped = content["steps"], content.get("stopped")
        return run


def seed_from(*numbers: int) -> int:
    """One seed from several numbers, without accidental coincidences between neighbours."""
    return int.from_bytes(hashlib.sha256(repr(numbers).encode()).digest()[:8], "big") >> 1


@lru_cache(maxsize=1)
def epoch_order(size: int, seed: int, epoch: int) -> Tensor:
    """In which order an epoch takes the rows of a corpus."""
    return torch.randperm(size, generator=torch.Generator().manual_seed(seed_from(seed, epoch)))


def _dev_identity(evaluator: Evaluator | None) -> Any:
    """What selects the best step: `evaluator.identity` where it has one (`PairsEvaluator`), otherwise its name."""
    kind = getattr(evaluator, "__qualname__", type(evaluator).__qualname__)
    return None if evaluator is None else getattr(evaluator, "identity", kind)


def _check_size(corpus: Sequence[Any], batch_size: int) -> None:
    if len(corpus) < batch_size:
        raise ValueError(
            f"the corpus has {len(corpus)} sentences, fewer than one batch of {batch_size}: "
            "give more sentences or a smaller batch_size"
        )
    distinct = len(set(corpus))
    if distinct < batch_size:
        raise ValueError(
            f"the corpus has only {distinct} different sentences (of {len(corpus)}), fewer than one batch of "
            f"{batch_size}: a sentence cannot be contrasted with itself"
        )
