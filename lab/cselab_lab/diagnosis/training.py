"""Signs in a run: views, loss, shares of the gradient, and the change of the weights."""

from collections.abc import Callable
from math import log

import numpy as np
import torch
import torch.nn.functional as F

from .evidence import ArrayOfVectors, Evidence
from .signs import sign

TENTH = 10


@sign(
    "dropout missing",
    "the distance of two views of a sentence, divided by the distance of two sentences",
    "The views are nearly identical, so the encoder learns nothing. Set its dropout (--dropout 0.1), or use "
    "a method with different views.",
    below=0.13,
)
def dropout_missing(seen: Evidence) -> float | None:
    """Mean distance of anchor and positive over that of an anchor and the positives of others."""
    if seen.views is None:
        return None
    anchor, positive = (F.normalize(view.double(), dim=1) for view in (seen.views.anchor, seen.views.positive))
    apart = torch.cdist(anchor, positive)
    others = apart[~torch.eye(len(apart), dtype=torch.bool)].mean()
    return float(apart.diagonal().mean() / others) if others > 1e-6 else None


@sign(
    "temperature too low",
    "the share of the gradient that is on the hardest negative of each sentence",
    "One negative per sentence dominates the gradient, and noise selects it. Raise the temperature (0.05 is usual for "
    "InfoNCE on cosines).",
    above=0.77,
)
def temperature_low(seen: Evidence) -> float | None:
    """Mean over sentences of the largest share."""
    repulsion = seen.repulsion
    return None if repulsion is None else float(repulsion.max(dim=1).values.mean())


@sign(
    "temperature too high",
    "the gradient on the hardest tenth of the negatives, divided by an equal share",
    "Hard negatives are pushed no more than easy negatives. Lower the temperature (0.05 is usual for "
    "InfoNCE on cosines).",
    below=3.3,
)
def temperature_high(seen: Evidence) -> float | None:
    """The share of the hardest tenth over a tenth: 1 where all weigh the same, 10 where they have all."""
    repulsion = seen.repulsion
    if repulsion is None:
        return None
    hardest = max(1, repulsion.shape[1] // TENTH)
    return float(repulsion.topk(hardest, dim=1).values.sum(dim=1).mean()) * repulsion.shape[1] / hardest


@sign(
    "loss at log N",
    "the contrastive loss at the end, as a share of log N (N is the batch size)",
    "The encoder cannot distinguish the positive from the N - 1 negatives: it collapsed, or the pairs do not match. "
    "Check the learning rate first, then the views.",
    above=0.9,
)
def loss_at_log_n(seen: Evidence) -> float | None:
    """Mean of the last quarter of the steps."""
    return _of_log_n(seen, lambda losses: losses[-max(1, len(losses) // 4) :])


@sign(
    "loss at 0 from the start",
    "the contrastive loss of the first steps, as a share of log N (N is the batch size)",
    "The task is solved before training: views are too similar, negatives too easy, or the temperature too low. Use "
    "more different views, a larger batch, or hard negatives.",
    below=0.001,
)
def loss_at_zero(seen: Evidence) -> float | None:
    """Mean of the first tenth of the steps."""
    return _of_log_n(seen, lambda losses: losses[: max(1, len(losses) // TENTH)])


def _of_log_n(seen: Evidence, part: Callable[[list[float]], list[float]]) -> float | None:
    losses = seen.losses()
    if not losses or seen.training is None:
        return None
    return float(np.mean(part(losses))) / log(seen.training.config.batch_size)


MOVED = "the distance of the weights from their initial values, as a share of their norm"


@sign(
    "frozen encoder",
    MOVED,
    "The encoder did not learn. Check that the weights require gradients, that the optimiser has them, and that the "
    "learning rate is not 0.",
    below=1e-5,
)
@sign(
    "learning rate too high",
    MOVED,
    "Training erased the pretraining. Use a tenth of the learning rate, or a warm-up.",
    above=0.2,
)
def moved(seen: Evidence) -> float | None:
    """The relative distance of all weights from the encoder that the run began as."""
    if seen.own is None or seen.training is None:
        return None
    if seen.training.start.get("weights") == seen.own.weights_hash():
        return 0.0
    if seen.start is None:
        return None
    before, after = seen.start.backbone.state_dict(), seen.own.backbone.state_dict()
    shared = [name for name, value in before.items() if name in after and value.is_floating_point()]
    apart = sum(float((after[name].cpu() - before[name]).double().square().sum()) for name in shared)
    return (apart / sum(float(before[name].double().square().sum()) for name in shared)) ** 0.5


@sign(
    "seeds with the same result",
    "the smallest distance between the vectors of any two seeds, as a share of their norm",
    "Several runs are copies: the seed has no effect, or the same folder was scored for all. The "
    "spread is meaningless.",
    below=1e-4,
)
def same_seeds(seen: Evidence) -> float | None:
    """The least distance of any two."""
    if not seen.others:
        return None
    runs = [run.astype(np.float64) for run in (seen.all_vectors, *(seen.encoded(other) for other in seen.others))]
    pairs = [(a, b) for at, a in enumerate(runs) for b in runs[:at] if a.shape == b.shape]
    return min((_distance(a, b) for a, b in pairs), default=None)


def _distance(a: ArrayOfVectors, b: ArrayOfVectors) -> float:
    """The distance of two matrices of length one, over the rows that are finite in both."""
    finite = np.isfinite(a).all(axis=1) & np.isfinite(b).all(axis=1)
    a, b = ((one[finite] / (np.linalg.norm(one[finite]) or 1.0)) for one in (a, b))
    return float(np.linalg.norm(a - b))
