"""The objects of a training run: optimiser, schedule, metrics, steps; resuming, finishing and reading a run."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from cselab._util.versions import versions
from cselab.data.rows import rows_hash
from cselab.encoders.adapters import adapter_settings, has_adapters, load_adapter
from cselab.encoders.checkpoint import load_checkpoint, pack, save_checkpoint, unpack
from cselab.encoders.encoder import SentenceEncoder
from cselab.encoders.encoding import Encode
from cselab.encoders.speed import chosen_precision, is_asynchronous
from cselab.methods import Setup

from .deferred_metrics import DeferredMetrics
from .guard import refuse_frozen_adapters, refuse_identical_views, warn_of_unknown_tokens
from .history import History
from .processes import from_main
from .resumable import ResumableSteps, state_dict_errors
from .run import Callback, Evaluator, Run, TrainingDiverged
from .run_folder import RunFolder, refuse_another

if TYPE_CHECKING:
    from accelerate import PartialState


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
