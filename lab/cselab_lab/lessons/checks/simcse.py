"""The exercises of lesson 02: SimCSE from its pieces."""

import math
from collections.abc import Iterator, ValuesView
from typing import Any

import torch
from torch import nn

from cselab.losses import info_nce
from cselab_lab.lessons.exercises import Check, Example, Exercise, Solution

from .answers import FAR, LOST, at, choice_mistakes, cosine_logits, right_gradient, wrong_shapes

# ---- 1: one vector per sentence: my_pooled(layer, mask, kind) -> [N, d] -------------------------------------


_LAYER = torch.tensor(  # three words and one padding, two words and two paddings
    [[[1.0, 2.5], [3.0, 6.0], [8.0, -4.0], [2.0, 9.0]], [[5.0, 0.0], [7.0, 1.0], [0.0, 11.0], [4.0, -3.0]]]
)
_MASK = torch.tensor([[1, 1, 1, 0], [1, 1, 0, 0]])
_SHORT = torch.arange(9.0).reshape(3, 1, 3)  # a token each
POOLED = Exercise(
    Example('"cls": the vector of the first token', (_LAYER, _MASK, "cls"), [[1, 2.5], [5, 0]]),
    Example('"mean": the mean over the tokens, without padding', (_LAYER, _MASK, "mean"), [[4, 1.5], [6, 0.5]]),
    Example('"mean" where no token is padding', (_LAYER, torch.ones(2, 4).long(), "mean"), [[3.5, 3.375], [4, 2.25]]),
    Example('"cls" of three short sentences', (_SHORT, torch.ones(3, 1), "cls"), _SHORT[:, 0].tolist()),
    Example('"mean" of three short sentences', (_SHORT, torch.ones(3, 1), "mean"), _SHORT[:, 0].tolist()),
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
            "layer[:, 0] -> layer[0, : len(layer)]",
            "layer[:, 0] -> layer[0]",
        ),
        "[CLS] is the first token: layer[:, 0].": (
            "layer[:, 0] -> layer[:, -1]",
            "layer[:, 0] -> layer[:, 1]",
            "layer[:, 0] -> layer[:, :1]",
        ),
        "That is the largest value, not the mean.": (
            "return total / kept.sum(dim=1) -> return layer.amax(dim=1)",
            "return total / kept.sum(dim=1) -> return (layer * kept).amax(dim=1)",
        ),
    },
    trained=True,
)

# ---- 2: two passes through dropout: my_views(network, ids, mask) -> first, second -------------------------


OURS = 20211109  # a seed that nobody types


class _Network:
    """A function of ids and mask, as in the lesson: sentence i has ones in channels 8 i to 8 i + 7, less dropout.

    Each vector is multiplied by the first number of its mask, here ids + 2.
    """

    def __init__(self, dropout: float = 0.25) -> None:
        self.weight = nn.Parameter(torch.eye(4).repeat_interleave(8, dim=1))
        self.dropout, self.masked, self.seeds = dropout, True, set[int]()

    def __call__(self, ids: Any, mask: Any) -> Any:
        if ids.max() >= len(self.weight):
            raise ValueError("network(ids, mask): the first argument has the ids")
        self.masked &= torch.equal(torch.as_tensor(mask), ids + 2)
        self.seeds.add(torch.initial_seed())
        return nn.functional.dropout(self.weight[ids[:, 0]] * mask[:, :1], self.dropout)


def _passes(answer: Any, network: _Network | None = None, count: int = 4) -> Any:
    """The views of some sentences; what yields views counts as a list of them."""
    ids, one = torch.arange(count)[:, None], network or _Network()
    with torch.random.fork_rng([]):
        torch.manual_seed(OURS)
        returned = answer(lambda ids, mask: one(ids, mask), ids, ids + 2)
        one.seeds.add(torch.initial_seed())
        return list(returned) if isinstance(returned, Iterator | ValuesView) else returned


def _in_order(answer: Any) -> str:
    wrong = [i for view in _passes(answer) for i, row in enumerate(view) if int(row.abs().argmax()) // 8 != i]
    return f"Row {wrong[0]} holds a different sentence's view." if wrong else ""


def _drawn_twice(answer: Any) -> str:
    first, second = _passes(answer, network := _Network())
    if network.seeds != {OURS}:
        return "Do not seed anything: equal seeds draw equal masks, at every step of the training."
    return "The same table twice is not a second pass." if torch.equal(first, second) else ""


def _as_the_network_gave(answer: Any) -> str:
    network = _Network(dropout=0.5)  # a number is 0, or twice that of the weight
    views = _passes(answer, network, count=3)
    if not network.masked:
        return "Each row of ids needs its own row of the mask: copy and order the two alike."
    kept = network.weight[:3] * torch.arange(4.0, 10.0, 2)[:, None]
    changed = any((view * (view - kept)).any() for view in views)
    return "A view is what one pass of the network gave, without a change." if changed else ""


VIEWS = Exercise(
    Check(
        "two tables [N, d]: first and second views",
        lambda answer: wrong_shapes(_passes(answer), 2, (4, 32)),
        "`network` is a function: call it with 2 N rows of ids and of mask; then split the result",
    ),
    Check(
        "row i of each view is sentence i",
        _in_order,
        "torch.cat puts the batch below itself: the first N rows are the first views",
    ),
    Check("the views differ: dropout drew twice", _drawn_twice),
    Check("both are the network's vectors for the ids and their mask", _as_the_network_gave),
    Check(
        "gradients go through each view",
        lambda answer: all(view.requires_grad for view in _passes(answer)),
        "no torch.no_grad() and no detach(): the lesson trains with these views",
    ),
    solution=Solution("02_simcse", "my_views"),
)

# ---- 3: the loss of a batch from its views: my_loss(first, second, temperature=0.05) ----------------------


_loss = Solution("02_simcse", "my_loss")


_FIRST = at(0, 80, 200) * torch.tensor([[1.0], [3.0], [0.5]])
_SECOND = at(10, 45, 170) * torch.tensor([[0.7], [2.5], [1.4]])
_SIDES = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
_SIMCLR = (
    "torch.arange(len(first), -> torch.arange(2 * len(first)).roll(len(first)).to("
    "; first @ second.T -> (torch.cat([first, second]) @ torch.cat([first, second]).T)"
)
_LOSS_MISTAKES: dict[str, Any] = {
    "Compare the first view with the second, not with itself.": "first @ second.T -> first @ first.T",
    "Compare rows with rows: first @ second.T is N x N.": (
        "first @ second.T -> first.T @ second; len(first), -> first.shape[1],"
    ),
    "The denominator has only second views; yours has first views, too, as in SimCLR.": (
        f"{_SIMCLR}.fill_diagonal_(-torch.inf)",
        _SIMCLR,
        "first @ second.T -> torch.cat([first @ second.T, (first @ first.T).fill_diagonal_(-torch.inf)], dim=1)",
    ),
    "A cosine is a dot product of rows of length 1, which is not a distance.": (
        "first @ second.T -> torch.cdist(first, second)",
        "first @ second.T -> -torch.cdist(first, second)",
    ),
    "Scale to length 1 by the root of the sum of squares.": "dim=1) -> dim=1, p=1)",
    "Each sentence needs its cosine with every second view, N x N: `first @ second.T`.": (
        lambda first, second, t=0.05: torch.cosine_similarity(first, second).mean() / t
    ),
}
LOSS = Exercise(
    Example("one vector for all 4 sentences gives log 4 = 1.386", (torch.ones(4, 2), torch.ones(4, 2)), math.log(4)),
    Example(
        "unit vectors at right angles, temperature 0.5: log(1 + exp(-2)) = 0.127",
        (torch.eye(3)[:2], torch.eye(3)[:2], 0.5),
        math.log1p(math.exp(-2)),
    ),
    Example(
        "three sentences of unequal length and angle",
        (_FIRST, _SECOND, 0.7),
        float(info_nce(_FIRST, _SECOND, 0.7).total),
    ),
    Example(LOST, (_SIDES, -_SIDES, 0.005), math.log1p(math.exp(400))),
    Example(FAR, (_SIDES, torch.tensor([[1.0, 0.0], [0.6, 0.8]]), 0.005), 0.0),
    right_gradient(_loss, _FIRST, _SECOND, 0.7, for_training=True),
    solution=_loss,
    mistakes=choice_mistakes(cosine_logits) | _LOSS_MISTAKES,
    trained=True,
)
