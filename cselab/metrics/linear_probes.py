"""Linear classifiers on frozen features, many folds and penalties at a time.

Nested cross-validation needs hundreds of small logistic regressions (410 for ten folds
and four penalties). They share the features, the start and the order of the rows, so they are trained as one
batch: stacked weights [folds, penalties x classes, features], one batched product per step.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class Fold(NamedTuple):
    """Row numbers of the feature matrix: to train on, to stop and choose by, to predict.

    Without `dev` the classifier stops by a part of `train` that it sets aside.
    """

    train: np.ndarray
    dev: np.ndarray | None
    test: np.ndarray


class Probes(NamedTuple):
    """The results of the classifiers of f folds and p penalties.

    Attributes:
        dev_accuracy: share of right answers on the dev rows, between 0 and 1.
        predicted: for each fold, the class of each test row as each penalty's classifier sees it.
    """

    dev_accuracy: Float[np.ndarray, "f p"]
    predicted: list[Int[np.ndarray, "p _m"]]


@dataclass(frozen=True)
class MinibatchProbes:
    """Logistic regression by minibatches with early stopping, as in SentEval's PyTorch classifier.

    Mean cross-entropy, weights and bias decayed by the penalty (L2 inside the optimiser, not decoupled).
    Every fold starts from the same random weights, and each draws its orders from its own stream of the same
    seed. After every `epoch_size` passes the dev rows are scored. The best weights so far are kept; the stop
    comes at miss number `tenacity + 1`, where the misses are counted over the whole run: an improvement does
    not reset them.

    Attributes:
        optimiser, learning_rate: "Adam" or "RMSprop" with torch's defaults.
        batch_size: rows in a step; the last step of a pass has the remaining rows.
        tenacity, epoch_size, max_epochs: see above; no round starts after more than `max_epochs` passes.
        held_out: the share of the training rows to stop by where a fold brings no dev rows.
        seed: the seed of initial weights and order.
    """

    optimiser: Literal["Adam", "RMSprop"]
    learning_rate: float
    batch_size: int
    tenacity: int
    epoch_size: int
    max_epochs: int = 200
    held_out: float = 0.05
    seed: int = 1111

    def fit(
        self,
        features: Float[np.ndarray, "n d"],
        labels: Int[np.ndarray, " n"],
        classes: int,
        folds: Sequence[Fold],
        penalties: Float[np.ndarray, "f p"],
        watch: Callable[[int], object] = lambda finished: None,
    ) -> Probes:
        """Train a classifier for each fold and penalty (one row of penalties per fold); call `watch` after each.

        Raises:
            ValueError: too few training rows to set some aside.
        """
        x = torch.from_numpy(np.column_stack([features, np.ones(len(features))]).astype(np.float32))
        y = torch.from_numpy(labels).long()
        decays = torch.from_numpy(penalties).float()
        courses = [self._course(fold) for fold in folds]
        by_steps = defaultdict(list)
        for number, course in enumerate(courses):
            by_steps[math.ceil(len(course.train) / self.batch_size)].append(number)
        dev_accuracy, weights = torch.zeros(decays.shape), torch.zeros(*decays.shape, classes, x.shape[1])
        for group in by_steps.values():
            best = self._descend(x, y, classes, [courses[i] for i in group], decays[group], watch)
            dev_rows = torch.tensor([len(courses[i].dev) for i in group])
            dev_accuracy[group], weights[group] = best.correct / dev_rows[:, None], best.weights
        predicted = [
            _predict(x[torch.from_numpy(fold.test)], w).T.numpy() for fold, w in zip(folds, weights, strict=True)
        ]
        return Probes(dev_accuracy.double().numpy(), predicted)

    def _course(self, fold: Fold) -> "_Course":
        draw = np.random.RandomState(self.seed)
        if fold.dev is not None:
            return _Course(fold.train, torch.from_numpy(fold.dev), draw)
        aside = int(self.held_out * len(fold.train))
        if not aside:
            raise ValueError(f"{len(fold.train)} training rows are too few: {self.held_out:.0%} of them are set aside")
        shuffled = fold.train[draw.permutation(len(fold.train))]
        return _Course(shuffled[aside:], torch.from_numpy(shuffled[:aside]), draw)

    def _descend(
        self,
        x: Float[Tensor, "n d"],
        y: Int[Tensor, " n"],
        classes: int,
        courses: "list[_Course]",
        decays: Float[Tensor, "f p"],
        watch: Callable[[int], object],
    ) -> "_Best":
        """Train folds with the same number of steps a pass, until the last of their probes has stopped."""
        folds, penalties = decays.shape
        start = initial_weights(x.shape[1] - 1, classes, self.seed)
        best = _Best(folds, penalties, start)
        weights = nn.Parameter(start.repeat(folds, penalties, 1), requires_grad=False)
        decay = decays.repeat_interleave(classes, 1)[..., None]
        optimiser = getattr(torch.optim, self.optimiser)([weights], lr=self.learning_rate)
        epochs = 0
        while bool(best.running.any()) and epochs <= self.max_epochs:
            for _ in range(self.epoch_size):
                for rows, share in self._minibatches(courses):
                    slope = _slope(weights, x[rows.flatten()].view(*rows.shape, -1), y[rows], share, classes)
                    weights.grad = slope.addcmul_(weights, decay)
                    optimiser.step()
            epochs += self.epoch_size
            probes = weights.view(folds, penalties, classes, -1)
            correct = [
                (_predict(x[course.dev], w) == y[course.dev, None]).sum(0)
                for course, w in zip(courses, probes, strict=True)
            ]
            before = int(best.running.sum())
            best.update(torch.stack(correct), probes, self.tenacity)
            watch(before - int(best.running.sum()))
        watch(int(best.running.sum()))
        return best

    def _minibatches(self, courses: "list[_Course]") -> "list[tuple[Int[Tensor, 'f b'], Float[Tensor, 'f b']]]":
        """One pass: the rows of each step and the weight of each row in the mean over its minibatch.

        Folds that are a row shorter are padded in the last step, with weight 0.
        """
        longest = max(len(course.train) for course in courses)
        rows, share = torch.zeros(len(courses), longest, dtype=torch.long), torch.zeros(len(courses), longest)
        for i, course in enumerate(courses):
            n = len(course.train)
            rows[i, :n] = torch.from_numpy(course.train[course.draw.permutation(n)])
            full = (n - 1) // self.batch_size * self.batch_size
            share[i, :full] = 1 / self.batch_size
            share[i, full:n] = 1 / (n - full)
        return list(zip(rows.split(self.batch_size, 1), share.split(self.batch_size, 1), strict=True))


class _Course(NamedTuple):
    """The rows a fold trains on and stops by, and its stream of random orders."""

    train: np.ndarray
    dev: Tensor
    draw: np.random.RandomState


def _slope(
    weights: Float[Tensor, "f pc d"], x: Float[Tensor, "f b d"], y: Int[Tensor, "f b"], share: Tensor, classes: int
) -> Float[Tensor, "f pc d"]:
    """The gradient of the mean cross-entropy of each probe: (softmax - one-hot) x."""
    logits = torch.bmm(weights, x.mT).unflatten(1, (-1, classes))  # [f p c b]
    target = y[:, None] == torch.arange(classes)[:, None]
    error = (logits.softmax(2) - target[:, None].float()) * share[:, None, None]
    return torch.bmm(error.flatten(1, 2), x)


class _Best:
    """Early stopping of f x p probes: the best weights of each, and which are still running."""

    def __init__(self, folds: int, penalties: int, start: Float[Tensor, "c d"]) -> None:
        self.correct = torch.full((folds, penalties), -1)
        self.misses = torch.zeros(folds, penalties, dtype=torch.long)
        self.running = torch.ones(folds, penalties, dtype=torch.bool)
        self.weights = start.repeat(folds, penalties, 1, 1)

    def update(self, correct: Int[Tensor, "f p"], weights: Float[Tensor, "f p c d"], tenacity: int) -> None:
        """Note the dev scores; a probe stops at its miss number `tenacity + 1`."""
        better = self.running & (correct > self.correct)
        missed = self.running & ~better
        self.correct = torch.where(better, correct, self.correct)
        self.weights = torch.where(better[..., None, None], weights, self.weights)
        self.running &= ~(missed & (self.misses >= tenacity))
        self.misses += missed


def initial_weights(d: int, classes: int, seed: int) -> Float[Tensor, "c _d"]:
    """The weights with which `nn.Linear(d, classes)` starts after `torch.manual_seed(seed)`; bias last."""
    generator = torch.Generator().manual_seed(seed)
    weight, bias = torch.empty(classes, d), torch.empty(classes)
    nn.init.kaiming_uniform_(weight, a=math.sqrt(5), generator=generator)
    nn.init.uniform_(bias, -1 / math.sqrt(d), 1 / math.sqrt(d), generator=generator)
    return torch.cat([weight, bias[:, None]], dim=1)


def _predict(x: Float[Tensor, "m d"], weights: Float[Tensor, "p c d"]) -> Int[Tensor, "m p"]:
    """The class of each row by each probe."""
    return (x @ weights.flatten(0, 1).T).unflatten(1, weights.shape[:2]).argmax(2)
