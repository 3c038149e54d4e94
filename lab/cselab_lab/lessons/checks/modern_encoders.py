"""The exercise of lesson 13: the last real token."""

import torch

from cselab_lab.lessons.exercises import Example, Exercise, Solution

# ---- the vector of the last real token: my_last_token(layer, mask) gives [N, d] ----------------------------

_LAYER = torch.tensor(
    [[[1.0, 2.0], [3.0, 6.0], [8.003, -4.0], [9.0, 5.0]], [[5.0, 0.0], [7.0, 1.0], [0.0, 11.0], [-3.0, 4.0]]]
)
_LONGER = torch.arange(45.0).reshape(3, 5, 3)
LAST_TOKEN = Exercise(
    Example(
        "padding on the right: the first sentence has three tokens, the second four",
        (_LAYER, torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1]])),
        [[8.003, -4], [-3, 4]],
    ),
    Example(
        "padding on the left: the last column is real in every row",
        (_LAYER, torch.tensor([[0, 1, 1, 1], [0, 0, 1, 1]])),
        [[9, 5], [-3, 4]],
    ),
    Example(
        "each row has its own side, and one has a single token",
        (_LONGER, torch.tensor([[1, 1, 1, 1, 0], [0, 0, 1, 1, 1], [1, 0, 0, 0, 0]])),
        [[9, 10, 11], [27, 28, 29], [30, 31, 32]],
    ),
    solution=Solution("13_modern_encoders", "my_last_token"),
    mistakes={
        "The last column is padding where a row is padded on the right: look at the mask.": ", last] -> , -1]",
        "The number of tokens minus 1 is the right place only if the padding is on the right.": (
            "(mask * places).argmax(dim=1) -> mask.sum(dim=1) - 1"
        ),
        "That is one place too early.": ", last] -> , last - 1]",
        "Each row has its own side of padding: decide for each row, not for the batch.": (
            "(mask * places).argmax(dim=1) -> places[-1] if mask[:, -1].all() else mask.sum(dim=1) - 1"
        ),
        "That is one place too late.": ", last] -> , (last + 1).clamp(max=mask.shape[1] - 1)]",
        "Your place counts from the end: subtract it from the last.": "(mask * places).argmax -> mask.flip(1).argmax",
        "That is a first token, which in a decoder sees only itself.": ("(mask * places) -> mask", ", last] -> , 0]"),
        "That is padding: the mask is 1 on words.": "(mask * -> ((1 - mask) *",
        "That is made of several tokens. Return the last one.": (
            "layer[torch.arange(len(layer)), last] -> "
            "(layer * mask[:, :, None]).sum(dim=1) / mask.sum(dim=1, keepdim=True)",
            "layer[torch.arange(len(layer)), last] -> (layer * mask[:, :, None]).sum(dim=1)",
            "[torch.arange(len(layer)), last] -> .mean(dim=1)",
            "[torch.arange(len(layer)), last] -> .masked_fill(mask[:, :, None] == 0, -torch.inf).amax(dim=1)",
        ),
    },
)
