"""Spans of a document: some anchors, and near each of them its positives (DeCLUTR, Giorgi et al. 2021)."""

import torch

from cselab._util.arguments import checked


@checked
def draw_spans(
    document: str, anchors: int, positives: int, shortest: float, longest: float, generator: torch.Generator
) -> tuple[list[str], list[list[str]]]:
    """Anchors of a document, and for each some spans that overlap or touch the anchor.

    Lengths lie between the bounds; anchors tend to be long, positives short (the fourth and the second smallest of
    five uniform numbers, so Beta(4, 2) and Beta(2, 4)). A positive begins at most its own length before its anchor,
    and at the latest where the anchor ends. Anchors may overlap, which the released code rules out.

    Args:
        document: a text; blanks separate its words.
        anchors, positives: how many anchors, and positives of each.
        shortest, longest: lengths of a span as shares of the document; at least one word.
        generator: draws the random numbers, on the CPU.

    Returns:
        The anchors, and a list of positives of each.
    """
    words = document.split()

    def draw(low: int, high: int) -> int:
        return low + int(torch.randint(max(1, high - low + 1), (), generator=generator))

    def length(rank: int) -> int:
        size = torch.rand(5, generator=generator).sort()[0][rank]
        return max(1, round(float(shortest + size * (longest - shortest)) * len(words)))

    spans: list[str] = []
    near: list[list[str]] = []
    for _ in range(anchors):
        size = length(3)
        start = draw(0, len(words) - size)
        spans.append(" ".join(words[start : start + size]))
        near.append([])
        for _ in range(positives):
            own = length(1)
            begin = draw(max(0, start - own), min(start + size, len(words) - own))
            near[-1].append(" ".join(words[begin : begin + own]))
    return spans, near
