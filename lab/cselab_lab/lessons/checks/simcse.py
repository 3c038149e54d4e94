"""The exercises of lesson 02: SimCSE from its pieces, the gradient of InfoNCE, a batch of hard negatives.

Each piece has a right version here, which stands in (`cselab_lab.lessons.exercises.yours`) until the student's passes.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from cselab_lab.lessons.checks.answers import wrong_shapes
from cselab_lab.lessons.checks.mistakes import choice_mistakes, direction_mistakes, temperature_mistakes, unit
from cselab_lab.lessons.exercises import Example, Exercise, Stage

# ---- 1: rows of one length: my_padded(rows, longest, pad=0) -> ids, mask ----------------------------------


def _padded(rows: Any, longest: int, pad: int = 0) -> Any:
    cut = [list(row) if len(row) <= longest else [*row[: longest - 1], row[-1]] for row in rows]
    width = max(map(len, cut))
    ids = [row + [pad] * (width - len(row)) for row in cut]
    mask = [[1] * len(row) + [0] * (width - len(row)) for row in cut]
    return torch.tensor(ids), torch.tensor(mask)


PADDED = Exercise(
    Example(
        "two sentences of 4 and 3 ids make two rows of 4, and a mask that knows the padding",
        ([[2, 17, 25, 3], [2, 31, 3]], 8),
        [[[2, 17, 25, 3], [2, 31, 3, 0]], [[1, 1, 1, 1], [1, 1, 1, 0]]],
    ),
    Example(
        "another id for padding, 3, which stands in sentences, too",
        ([[2, 6, 3], [2, 3]], 8, 3),
        [[[2, 6, 3], [2, 3, 3]], [[1, 1, 1], [1, 1, 0]]],
    ),
    Example(
        "of a sentence that is longer than 4, the first 3 ids and the last stay",
        ([[2, 11, 12, 13, 14, 3], [2, 15, 3]], 4),
        [[[2, 11, 12, 3], [2, 15, 3, 0]], [[1, 1, 1, 1], [1, 1, 1, 0]]],
    ),
    mistakes={
        "The mask is 1 on words, 0 on padding; yours is the other way round.": (
            "torch.tensor(mask) -> 1 - torch.tensor(mask)"
        ),
        "The mask is 0 where there is only padding.": "[0] -> [1]",
        "Padding stands at the end of a row.": (
            "row + [pad] * (width - len(row)) -> [pad] * (width - len(row)) + row; "
            "[1] * len(row) + [0] * (width - len(row)) -> [0] * (width - len(row)) + [1] * len(row)"
        ),
        "The id of the padding is an argument.": "[pad] -> [0]",
        "A sentence may hold the id of the padding: the mask counts ids, it does not compare them.": (
            "torch.tensor(mask) -> (torch.tensor(ids) != pad).long()"
        ),
        "Only a row that is longer than `longest` is cut: a shorter one stays as it is.": (
            "if len(row) <= longest else -> if False else"
        ),
        "Measure the width after cutting.": "max(map(len, cut)) -> max(map(len, rows))",
        "The last id ends the sentence: keep it when you cut.": "[*row[: longest - 1], row[-1]] -> row[:longest]",
        "Nothing is cut: a row has at most `longest` ids.": "len(row) <= longest -> True",
        "Pad to the longest row of the batch, not to the most that is allowed.": "max(map(len, cut)) -> longest",
        "First the ids, then the mask.": "(ids), torch.tensor(mask) -> (mask), torch.tensor(ids)",
        "Cut to `longest` ids, the last one among them.": "row[: longest - 1] -> row[:longest]",
        "The first ids stay, and the last: cut between them.": "[*row[: longest - 1], row[-1]] -> row[-longest:]",
        "A row of `longest` ids is cut, too: only the longer ones, to `longest`.": (
            "<= longest -> < longest; longest - 1 -> longest - 2"
        ),
    },
    right=_padded,
)

# ---- 2: one vector a sentence: my_pooled(layer, mask, kind) -> [N, d] -------------------------------------


def _pooled(layer: Any, mask: Any, kind: str) -> Any:
    if kind == "cls":
        return layer[:, 0]
    m = mask[:, :, None].to(layer)
    return (layer * m).sum(1) / m.sum(1)


_LAYER = torch.tensor(  # three words and one padding, two words and two paddings
    [[[1.0, 2.0], [3.0, 6.0], [8.0, -4.0], [2.0, 9.0]], [[5.0, 0.0], [7.0, 1.0], [0.0, 11.0], [4.0, -3.0]]]
)
_MASK = torch.tensor([[1, 1, 1, 0], [1, 1, 0, 0]])
POOLED = Exercise(
    Example('"cls": the vector of the first token', (_LAYER, _MASK, "cls"), [[1, 2], [5, 0]]),
    Example('"mean": the mean over the tokens, without padding', (_LAYER, _MASK, "mean"), [[4, 4 / 3], [6, 0.5]]),
    mistakes={
        "Padding is no word: leave it out of the sum and of the count.": (
            "(layer * m).sum(1) / m.sum(1) -> layer.mean(1)"
        ),
        "Divide by the number of words, not by the width of the table.": "/ m.sum(1) -> / layer.shape[1]",
        "Padding is no word: leave it out of the sum, too.": "(layer * m) -> layer",
        "The mean is missing its division.": " / m.sum(1) -> ",
        '"cls" takes the first token, "mean" all: look at `kind`.': 'kind == "cls" -> False',
        '"mean" takes all tokens, not the first alone: look at `kind`.': 'kind == "cls" -> True',
        '"cls" and "mean" are exchanged.': 'kind == "cls" -> kind == "mean"',
        "Divide by the number of words of each sentence, not of the whole batch.": "/ m.sum(1) -> / m.sum()",
        "[CLS] is a token, too: the mean counts it.": (
            "(layer * m).sum(1) / m.sum(1) -> (layer * m)[:, 1:].sum(1) / m[:, 1:].sum(1)"
        ),
        "The mean over the tokens, not the largest value.": (
            "(layer * m).sum(1) / m.sum(1) -> layer.masked_fill(m == 0, -math.inf).amax(1)"
        ),
        "The first token, not the last.": "layer[:, 0] -> layer[:, -1]",
        "The first token has the number 0, not 1.": "layer[:, 0] -> layer[:, 1]",
        "The mask is 1 on words: yours keeps the padding.": "mask[:, :, None] -> (1 - mask)[:, :, None]",
        "Divide by the number of words, neither one more nor one fewer.": "/ m.sum(1) -> / (m.sum(1) - 1)",
        "Leave the vectors as long as they are.": "(layer * m).sum(1) / m.sum(1) -> unit((layer * m).sum(1))",
        "layer[0] is the first sentence; its tokens are along the second axis.": (
            "layer[:, 0] -> layer[0, : len(layer)]"
        ),
    },
    right=_pooled,
    trained=True,
)

# ---- 3: two passes through dropout: my_views(network, ids, mask) -> first, second -------------------------


def views(network: Callable, ids: Any, mask: Any) -> Any:
    """All first views and all second views in one pass: each row has a dropout mask of its own."""
    return network(torch.cat([ids, ids]), torch.cat([mask, mask])).chunk(2)


class _Noisy(nn.Module):
    """A network with dropout whose vectors are easily told apart: sentence i has ones in channels 8 i to 8 i + 7."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.eye(4).repeat_interleave(8, dim=1))
        self.dropout = nn.Dropout(0.25)

    def forward(self, ids: Any, mask: Any) -> Any:
        return self.dropout(self.weight[ids[:, 0]] * mask[:, :1])


class _Clean(_Noisy):
    """Without dropout; each sentence has another number in its mask, and its vector is so many times as long."""

    def forward(self, ids: Any, mask: Any) -> Any:
        return self.weight[ids[:, 0]] * mask[:, :1]


def _passes(answer: Any) -> Any:
    ids = torch.arange(4)[:, None]
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        return answer(_Noisy().train(), ids, torch.ones_like(ids))


def _as_the_network_gave(answer: Any) -> bool:
    ids, network = torch.arange(4)[:, None], _Clean()
    mask = ids + 2.0
    return all(torch.equal(view, network(ids, mask)) for view in answer(network, ids, mask))


def _is_clean(view: Any) -> bool:
    return torch.equal(view, _Clean().weight)


def _in_order(answer: Any) -> str:
    wrong = [i for view in _passes(answer) for i, row in enumerate(view) if int(row.abs().argmax()) // 8 != i]
    return f"Row {wrong[0]} holds another sentence's view." if wrong else ""


VIEWS = Exercise(
    Stage(
        "it returns two tables [N, d]: first and second views",
        lambda answer: wrong_shapes(_passes(answer), 2, (4, 32)),
        "network(...) of 2 N rows; then cut it in two",
    ),
    Stage(
        "row i of both is sentence i",
        _in_order,
        "torch.cat puts the batch below itself: the first N rows are the first views",
    ),
    Stage(
        "the two differ: dropout drew twice",
        lambda answer: not torch.equal(*_passes(answer)) and not any(map(_is_clean, _passes(answer))),
        "the same table twice is no second pass; and leave the network in training mode",
    ),
    Stage(
        "both are what the network gave for the ids and their mask",
        _as_the_network_gave,
        "the mask belongs to the ids: put it below itself, too; and leave the vectors as they are",
    ),
    Stage(
        "gradients go through both",
        lambda answer: all(view.requires_grad for view in _passes(answer)),
        "no torch.no_grad(), no detach(): this is what is trained",
    ),
    right=views,
)

# ---- 4: the loss of a batch from its views: my_loss(first, second, temperature=0.05) ----------------------


def _logits(first: Any, second: Any, t: float = 0.05) -> Any:
    return unit(first) @ unit(second).T / t


def _loss_of(first: Any, second: Any, t: float = 0.05) -> Any:
    logits = unit(first) @ unit(second).T / t
    return cross_entropy(logits, torch.arange(len(first), device=first.device))


def _angles(degrees: tuple[float, ...], *lengths: float) -> Any:
    turns = torch.tensor(degrees) * math.pi / 180
    return torch.stack([turns.cos(), turns.sin()], dim=1) * torch.tensor(lengths)[:, None]


def _of_both_views(first: Any, second: Any, t: float = 0.05) -> Any:
    both, n = torch.cat([first, second]), len(first)
    logits = _logits(both, both, t).fill_diagonal_(-math.inf)
    return cross_entropy(logits, (torch.arange(2 * n) + n) % (2 * n))


_ANGLES = (0, 80, 200), (10, 45, 170)
LOSS = Exercise(
    Example("who gives 4 sentences one vector has log 4 = 1.386", (torch.ones(4, 2), torch.ones(4, 2)), math.log(4)),
    Example(
        "unit vectors at right angles, temperature 0.5: log(1 + exp(-2)) = 0.127",
        (torch.eye(2), torch.eye(2), 0.5),
        math.log1p(math.exp(-2)),
    ),
    Example(
        "three sentences of unequal length and angle",
        (_angles(_ANGLES[0], 1.0, 3.0, 0.5), _angles(_ANGLES[1], 0.7, 2.5, 1.4), 0.7),
        sum(
            math.log(
                sum(
                    math.exp((math.cos(math.radians(a - b)) - math.cos(math.radians(a - own))) / 0.7)
                    for b in _ANGLES[1]
                )
            )
            for a, own in zip(*_ANGLES, strict=True)
        )
        / 3,
    ),
    mistakes=choice_mistakes(_logits)
    | direction_mistakes(_logits)
    | temperature_mistakes(_loss_of, usual=0.05, at=2)
    | {
        "Scale each row to length 1 first: the cosine is wanted.": "unit( -> (",
        "Scale the rows of the second view to length 1, too.": "unit(second) -> second",
        "Scale the rows of the first view to length 1, too.": "unit(first) -> first",
        "Scale each row to length 1, not each column: dim=1.": "unit( -> unit(axis=0, x=",
        "The first view with the second, not with itself.": "(second) -> (first)",
        "The first view stands on the left; both of yours are the second.": "(first) @ -> (second) @",
        "The temperature divides inside the exponential, not the loss.": (
            " / t -> ; return cross -> return 1 / t * cross"
        ),
        "The loss is not multiplied by the temperature.": "return cross -> return t * cross",
        "Only rows choose among columns; this is the sum of both directions.": lambda a, b, t=0.05: (
            _loss_of(a, b, t) + _loss_of(b, a, t)
        ),
        "Cosines, not distances: what is near has the larger logit.": (
            "unit(first) @ unit(second).T -> torch.cdist(unit(first), unit(second))"
        ),
        "A row of N, not of 2 N: the first views are no negatives here.": _of_both_views,
    },
    right=_loss_of,
    trained=True,
)

# ---- 5: one weight, one step: my_adam(weight, gradient, m, v, step, lr) -> weight, m, v -------------------


def _adam(weight: Any, gradient: Any, m: Any, v: Any, step: int, lr: float) -> Any:
    m = 0.9 * m + (1 - 0.9) * gradient
    v = 0.999 * v + (1 - 0.999) * (gradient * gradient)
    size = m / (1 - 0.9**step) / ((v / (1 - 0.999**step)) ** 0.5 + 1e-8)
    return weight - lr * size, m, v


def _by_torch(weight: list[float], gradients: list[list[float]], lr: float) -> list[list[float]]:
    """Weight, m and v as torch.optim.Adam has them after steps with these gradients."""
    held = nn.Parameter(torch.tensor(weight))
    optimizer = torch.optim.Adam([held], lr=lr)
    for gradient in gradients:
        held.grad = torch.tensor(gradient)
        optimizer.step()
    state = optimizer.state[held]
    return [held.tolist(), state["exp_avg"].tolist(), state["exp_avg_sq"].tolist()]


_WEIGHT, _GRADIENTS = [1.0, -2.0], [[30.0, -50.0], [-20.0, 40.0], [45.0, 10.0]]
_BEFORE = [torch.tensor(part) for part in _by_torch(_WEIGHT, _GRADIENTS[:2], 0.1)]
ADAM = Exercise(
    Example(
        "the first step goes as far as the rate, down the slope",
        (torch.tensor(_WEIGHT), torch.tensor(_GRADIENTS[0]), torch.zeros(2), torch.zeros(2), 1, 0.1),
        _by_torch(_WEIGHT, _GRADIENTS[:1], 0.1),
        tolerance=2e-3,
    ),
    Example(
        "the third step, which remembers two",
        (_BEFORE[0], torch.tensor(_GRADIENTS[2]), *_BEFORE[1:], 3, 0.1),
        _by_torch(_WEIGHT, _GRADIENTS, 0.1),
        tolerance=2e-3,
    ),
    Example(
        "a gradient no larger than epsilon gives half a step",
        (torch.zeros(2), torch.tensor([1e-8, -1e-8]), torch.zeros(2), torch.zeros(2), 1, 1e3),
        [[-500.0, 500.0], [0.0, 0.0], [0.0, 0.0]],
    ),
    Example(
        "where the gradient is 0 a weight stays as it is",
        (torch.tensor([50.0, -50.0]), torch.zeros(2), torch.zeros(2), torch.zeros(2), 1, 0.1),
        [[50.0, -50.0], [0.0, 0.0], [0.0, 0.0]],
    ),
    mistakes={
        "Divide m by 1 - 0.9^step and v by 1 - 0.999^step first: both start at 0.": (
            "m / (1 - 0.9**step) -> m; (v / (1 - 0.999**step)) -> v"
        ),
        "Divide m by 1 - 0.9^step, too.": "m / (1 - 0.9**step) -> m",
        "Divide v by 1 - 0.999^step, too.": "(v / (1 - 0.999**step)) -> v",
        "1 - 0.9^step: a power, not 1 - 0.9 at each step.": "**step -> ",
        "Steps are counted from 1 on: it is given, do not add to it.": "**step -> ** (step + 1)",
        "Epsilon is added to the root, not under it.": "** 0.5 + 1e-8) -> + 1e-8) ** 0.5",
        "Epsilon is missing in the division.": " + 1e-8 -> ",
        "First the weight, then m and v.": "weight - lr * size, m, v -> m, v, weight - lr * size",
        "First the weight, then m, then v.": "size, m, v -> size, v, m",
        "Return the new weight, not the step alone.": "weight - lr -> -lr",
        "Against the gradient: weight - ...": "weight - lr -> weight + lr",
        "Divide by the root of v.": " ** 0.5 -> ",
        "v remembers the square of the gradient.": "(gradient * gradient) -> abs(gradient)",
        "m keeps 0.9 of itself, v 0.999; yours are exchanged.": "0.999 -> 0.v; 0.9 -> 0.999; 0.v -> 0.9",
        "Return m and v as they are remembered: divide by 1 - 0.9^step for this step alone.": (
            "size, m, v -> size, m / (1 - 0.9**step), v / (1 - 0.999**step)"
        ),
        "Return the new m and v, not those that were given.": lambda w, g, m, v, *at: (_adam(w, g, m, v, *at)[0], m, v),
        "m takes a share of 0.1 of the gradient, v one of 0.001 of its square.": "(1 - 0.9) * -> ; (1 - 0.999) * -> ",
        "m keeps 0.9 of itself, v 0.999: the gradient gets the rest.": (
            "0.9 * m + (1 - 0.9) -> 0.1 * m + 0.9; 0.999 * v + (1 - 0.999) -> 0.001 * v + 0.999"
        ),
        "Multiply the step by lr.": "lr * size -> size",
        "Divide by the root of v: this is a step along m alone.": " / ((v / (1 - 0.999**step)) ** 0.5 + 1e-8) -> ",
        "Divide by the root of v: this is plain descent.": "lr * size -> lr * gradient",
        "Divide by 1 - 0.9^step, do not multiply.": (
            "m / (1 - 0.9**step) -> m * (1 - 0.9**step); (v / (1 - 0.999**step)) -> (v * (1 - 0.999**step))"
        ),
        "Only the sign of the gradient is left.": "lr * size -> lr * gradient.sign()",
        "Step along m, which remembers, not along the gradient.": (
            "m / (1 - 0.9**step) -> gradient; (v / (1 - 0.999**step)) -> v"
        ),
        "This has weight decay in the gradient: leave it out.": lambda w, g, *past: _adam(w, g + 0.01 * w, *past),
        "This has the weight decay of AdamW: leave it out.": (
            "return weight - lr * size -> return weight - lr * (size + 0.01 * weight)"
        ),
    },
    right=_adam,
    in_place=True,
)
