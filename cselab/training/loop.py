"""The training loop, with accelerate, for any method and any encoder.

A step depends only on (seed, step): its sentences and its dropout masks. So the same seed on the
same machine gives the same history, and a run that was killed and started again ends with the same weights.
"""

import copy
import hashlib
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from cselab._util.arguments import checked
from cselab.data.rows import check_rows
from cselab.encoders.distributed import all_processes
from cselab.encoders.encoder import SentenceEncoder, exclusive
from cselab.encoders.speed import computing_in
from cselab.methods import Method, create_method

from .processes import average_gradients, mean_over_processes, wait_for_all
from .run import Callback, Evaluator, Run, TrainConfig
from .run_folder import RunFolder
from .state import Training


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


def _take_steps(training: Training, corpus: Sequence[Any]) -> None:
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
