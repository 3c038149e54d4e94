"""The exercises of lesson 02: SimCSE from its pieces."""

import math
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy, normalize

from cselab.losses import info_nce
from cselab_lab.lessons.exercises import Check, Example, Exercise, Solution

from .answers import LOST, choice_mistakes, right_gradient, wrong_shapes

# ---- 1: one vector per sentence: my_pooled(layer, mask, kind) -> [N, d] -------------------------------------


_LAYER = torch.tensor(  # three words and one padding, two words and two paddings
    [[[1.0, 2.0], [3.0, 6.0], [8.0, -4.0], [2.0, 9.0]], [[5.0, 0.0], [7.0, 1.0], [0.0, 11.0], [4.0, -3.0]]]
)
_MASK = torch.tensor([[1, 1, 1, 0], [1, 1, 0, 0]])
POOLED = Exercise(
    Example('"cls": the vector of the first token', (_LAYER, _MASK, "cls"), [[1, 2], [5, 0]]),
    Example('"mean": the mean over the tokens, without padding', (_LAYER, _MASK, "mean"), [[4, 4 / 3], [6, 0.5]]),
    Example('"mean" where no token is padding', (_LAYER, torch.ones(2, 4).long(), "mean"), [[3.5, 3.25], [4, 2.25]]),
    solution=Solution("02_simcse", "my_pooled"),
    mistakes={
        "Padding is not a word: leave it out of sum and count.": "total / kept.sum(dim=1) -> layer.mean(dim=1)",
        "Divide by the sentence's own number of words.": (
            "/ kept.sum(dim=1) -> / layer.shape[1]",
            "/ kept.sum(dim=1) -> / kept.sum()",
            "/ kept.sum(dim=1) -> / len(layer)",
            "/ kept.sum(dim=1) -> / mask.sum(dim=1)",
        ),
        "The first token counts in the mean, too.": "(layer * kept).sum(dim=1) -> (layer * kept)[:, 1:].sum(dim=1); "
        "/ kept.sum(dim=1) -> / kept[:, 1:].sum(dim=1)",
        "The last token counts in the mean, too.": "(layer * kept).sum(dim=1) -> (layer * kept)[:, :-1].sum(dim=1); "
        "/ kept.sum(dim=1) -> / kept[:, :-1].sum(dim=1)",
        "The mean is missing its division.": " / kept.sum(dim=1) -> ",
        '"cls" is the first token, "mean" is all of them: use `kind`.': (
            'kind == "cls" -> False',
            'kind == "cls" -> True',
            'kind == "cls" -> kind != "cls"',
        ),
        "The mask is 1 on words: yours keeps the padding.": "mask[:, :, None] -> (1 - mask)[:, :, None]",
        "layer[0] is the first sentence; its tokens are along the second axis.": (
            "layer[:, 0] -> layer[0, : len(layer)]"
        ),
    },
    trained=True,
)

# ---- 2: two passes through dropout: my_views(network, ids, mask) -> first, second -------------------------


class _Noisy(nn.Module):
    """A network with dropout whose vectors are easy to distinguish: sentence i has ones in channels 8 i to 8 i + 7."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.eye(4).repeat_interleave(8, dim=1))
        self.dropout = nn.Dropout(0.25)

    def forward(self, ids: Any, mask: Any) -> Any:
        return self.dropout(self.weight[ids[:, 0]] * mask[:, :1])


class _Clean(_Noisy):
    """A network without dropout; each sentence has a different number in its mask, which multiplies its vector."""

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
    return f"Row {wrong[0]} holds a different sentence's view." if wrong else ""


VIEWS = Exercise(
    Check(
        "two tables [N, d]: first and second views",
        lambda answer: wrong_shapes(_passes(answer), 2, (4, 32)),
        "call network(...) with 2 N rows; then split the result",
    ),
    Check(
        "row i of each view is sentence i",
        _in_order,
        "torch.cat puts the batch below itself: the first N rows are the first views",
    ),
    Check(
        "the views differ: dropout drew twice",
        lambda answer: not torch.equal(*_passes(answer)) and not any(map(_is_clean, _passes(answer))),
        "the same table twice is not a second pass; and leave the network in training mode",
    ),
    Check(
        "both are the network's vectors for the ids and their mask",
        _as_the_network_gave,
        "the mask belongs to the ids: put it below itself, too; and leave the vectors as they are",
    ),
    Check(
        "gradients go through each view",
        lambda answer: all(view.requires_grad for view in _passes(answer)),
        "no torch.no_grad() and no detach(): the lesson trains with these views",
    ),
    solution=Solution("02_simcse", "my_views"),
)

# ---- 3: the loss of a batch from its views: my_loss(first, second, temperature=0.05) ----------------------


_loss = Solution("02_simcse", "my_loss")


def _logits(first: Any, second: Any, temperature: float = 0.05) -> Any:
    return normalize(first) @ normalize(second).T / temperature


def _angles(degrees: tuple[float, ...], *lengths: float) -> Any:
    turns = torch.tensor(degrees) * math.pi / 180
    return torch.stack([turns.cos(), turns.sin()], dim=1) * torch.tensor(lengths)[:, None]


def _of_channels(first: Any, second: Any, temperature: float = 0.05) -> Any:
    table = normalize(first, dim=1).T @ normalize(second, dim=1)
    return cross_entropy(table / temperature, torch.arange(len(table)))


def _simclr(first: Any, second: Any, temperature: float = 0.05) -> Any:
    views = torch.cat([first, second])
    logits = _logits(views, views, temperature).fill_diagonal_(-torch.inf)
    return cross_entropy(logits, torch.arange(len(views)).roll(len(first)))


_FIRST, _SECOND = _angles((0, 80, 200), 1.0, 3.0, 0.5), _angles((10, 45, 170), 0.7, 2.5, 1.4)
_SIDES = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
LOSS = Exercise(
    Example("one vector for all 4 sentences gives log 4 = 1.386", (torch.ones(4, 2), torch.ones(4, 2)), math.log(4)),
    Example(
        "unit vectors at right angles, temperature 0.5: log(1 + exp(-2)) = 0.127",
        (torch.eye(2), torch.eye(2), 0.5),
        math.log1p(math.exp(-2)),
    ),
    Example(
        "three sentences of unequal length and angle",
        (_FIRST, _SECOND, 0.7),
        float(info_nce(_FIRST, _SECOND, 0.7).total),
    ),
    Example(LOST, (_SIDES, -_SIDES), math.log1p(math.exp(40))),
    right_gradient(_loss, _FIRST, _SECOND, 0.7, for_training=True),
    solution=_loss,
    mistakes=choice_mistakes(_logits)
    | {
        "Compare the first view with the second, not with itself.": "first @ second.T -> first @ first.T",
        "Compare rows with rows: first @ second.T is N x N.": _of_channels,
        "The denominator has only second views; yours is SimCLR's, with all 2 N views.": _simclr,
    },
    trained=True,
)

# ---- further: one weight, one step: my_adam(weight, gradient, m, v, step, lr) -> weight, m, v -------------------


def _by_torch(weight: list[float], gradients: list[list[float]], lr: float) -> list[list[float]]:
    """Weight, m and v as torch.optim.Adam has them after steps with these gradients."""
    held = nn.Parameter(torch.tensor(weight))
    optimizer = torch.optim.Adam([held], lr=lr)
    for gradient in gradients:
        held.grad = torch.tensor(gradient)
        optimizer.step()
    state = optimizer.state[held]
    return [held.tolist(), state["exp_avg"].tolist(), state["exp_avg_sq"].tolist()]


_EXCHANGED = "0.9 * m + 0.1 -> 0.999 * m + 0.001; 0.999 * v + 0.001 -> 0.9 * v + 0.1"  # a mistake: the rates
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
        "the third step, after two earlier gradients",
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
    solution=Solution("02_simcse", "my_adam"),
    mistakes={
        "Divide m by 1 - 0.9^step and v by 1 - 0.999^step first: m and v start at 0.": (
            " / (1 - 0.9**step) -> ;  / (1 - 0.999**step) -> ",
            " / (1 - 0.9**step) -> ",
            " / (1 - 0.999**step) -> ",
        ),
        "The division by 1 - beta^step is only for the weight: return m and v without it.": (
            "1e-8), m, v -> 1e-8), mean, v / (1 - 0.999**step)"
        ),
        "The weight follows m, the mean of the gradients, not the last gradient.": "lr * mean -> lr * gradient",
        "Epsilon is 1e-8, added to the root, not under it.": (
            "** 0.5 -> ; (size + 1e-8) -> (size + 1e-8) ** 0.5",
            "1e-8 -> 1e-3",
        ),
        "Step against the gradient: weight - ...": "weight - lr -> weight + lr",
        "Divide by the root of v.": " ** 0.5 -> ",
        "v averages the square of the gradient.": "gradient**2 -> abs(gradient)",
        "m decays by 0.9, v by 0.999.": (
            f"{_EXCHANGED}; m / (1 - 0.9** -> m / (1 - 0.999**; v / (1 - 0.999** -> v / (1 - 0.9**",
            _EXCHANGED,
            "0.999 -> 0.99; 0.001 -> 0.01",
        ),
    },
    in_place=True,
)
