"""The exercises of lesson 13: the last real token, cosines of vectors cut to k numbers."""

from typing import Any

import torch

from cselab_lab.lessons.checks.mistakes import unit
from cselab_lab.lessons.exercises import Example, Exercise

# ---- 1: the vector of the last real token: my_last_token(layer, mask) gives [N, d] -------------------------


def _last_token(layer: Any, mask: Any) -> Any:
    mask = torch.as_tensor(mask).long()
    place = (mask * torch.arange(1, mask.shape[1] + 1)).argmax(1)
    return layer[torch.arange(len(layer)), place % layer.shape[1]]


_LAYER = torch.tensor(
    [[[1.0, 2.0], [3.0, 6.0], [8.0, -4.0], [9.0, 5.0]], [[5.0, 0.0], [7.0, 1.0], [0.0, 11.0], [-3.0, 4.0]]]
)
LAST_TOKEN = Exercise(
    Example(
        "padding on the right: the first sentence has three tokens, the second four",
        (_LAYER, torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1]])),
        [[8, -4], [-3, 4]],
    ),
    Example(
        "padding on the left: the last column is real in every row",
        (_LAYER, torch.tensor([[0, 1, 1, 1], [0, 0, 1, 1]])),
        [[9, 5], [-3, 4]],
    ),
    Example(
        "padding on both sides, and a sentence of one token",
        (_LAYER, torch.tensor([[0, 1, 1, 0], [1, 0, 0, 0]])),
        [[8, -4], [5, 0]],
    ),
    right=_last_token,
    mistakes={
        "The last column is padding where a row is padded on the right: look at the mask.": "place % -> -1 %",
        "Number of tokens less 1 is the place only where padding stands on the right.": (
            "place % -> (mask.sum(1) - 1) %"
        ),
        "One place too far: count from 0.": "place % -> (place + 1) %",
        "One place too early.": "place % -> (place - 1) %",
        "That is the first real token, which in a decoder has seen nothing but itself.": "place % -> mask.argmax(1) %",
        "That is the first column, whatever the mask says.": "place % -> 0 %",
        "That is a place of padding: the mask is 1 on words.": "(mask * -> ((1 - mask) *",
        "That is the mean of the real tokens; the last one alone is wanted.": (
            "layer[torch.arange(len(layer)), place % layer.shape[1]] -> "
            "(layer * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)"
        ),
        "Each row has a place of its own; yours are all that of the first row.": "place % -> place[:1] %",
    },
)

# ---- 2: cosines of vectors cut to their first k numbers: my_cut_cosines(first, second, k) gives [N] --------


def _cut(first: Any, second: Any, k: int) -> Any:
    one, other = (torch.as_tensor(side).double() for side in (first, second))
    a, b = unit(one[:, :k]), unit(other[:, :k])
    return (a * b).sum(1)


_ONE = torch.tensor([[3.0, 4.0, 12.0, 0.0], [2.0, 0.0, 1.0, -5.0], [4.0, 3.0, 2.0, 6.0]])
_OTHER = torch.tensor([[4.0, 3.0, -5.0, 1.0], [0.0, 3.0, 4.0, 2.0], [-8.0, -6.0, 1.0, 3.0]])
CUT_COSINES = Exercise(
    Example("of (3, 4) and (4, 3) 24/25; a right angle is 0, opposite is -1", (_ONE, _OTHER, 2), [0.96, 0, -1]),
    Example("one number is left: only its sign counts", (_ONE[[0, 2]], _OTHER[[0, 2]], 1), [1, -1]),
    Example(
        "all four: the cosine that you know",
        (_ONE, _OTHER, 4),
        [-36 / (169 * 51) ** 0.5, -6 / (30 * 29) ** 0.5, -30 / (65 * 110) ** 0.5],
    ),
    right=_cut,
    mistakes={
        "Cut first, then scale to length 1: what is left of a unit vector is shorter than 1.": "[:, :k]) -> )[:, :k]",
        "Scale what is left to length 1.": "unit( -> (",
        "The first k numbers, not the last.": "[:, :k] -> [:, -k:]",
        "Nothing is cut: x[:, :k].": "[:, :k] -> [:, :]",
        "x[:k] cuts sentences; the numbers of a vector are along the second axis.": "[:, :k] -> [:k]",
        "These are the first k + 1 numbers.": "[:, :k] -> [:, : k + 1]",
        "Scale each row to length 1, not each column.": "unit( -> unit(axis=0, x=",
        "Row i of one side with row i of the other: no table of all pairs.": "(a * b).sum(1) -> a @ b.T",
        "The sum of the products, not their mean.": "sum(1) -> mean(1)",
        "That is 1 minus the cosine, a distance.": "return -> return 1 -",
    },
)
