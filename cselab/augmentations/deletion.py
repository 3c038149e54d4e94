"""Words and spans deleted or moved: CLEAR's augmentations (Wu et al. 2020)."""

import torch

from cselab._util.arguments import Texts, UnitInterval, checked


@checked
def delete_words(texts: Texts, share: UnitInterval, generator: torch.Generator) -> list[str]:
    """The texts without `share` of their words, chosen one by one; one word is always left.

    >>> delete_words(["a b c d"], 0.5, torch.Generator().manual_seed(0))
    ['c d']
    """
    return [_without(text, share, generator, together=False) for text in texts]


@checked
def delete_span(texts: Texts, share: UnitInterval, generator: torch.Generator) -> list[str]:
    """The texts without `share` of their words, which are consecutive; one word always remains.

    >>> delete_span(["a b c d"], 0.5, torch.Generator().manual_seed(0))
    ['a b']
    """
    return [_without(text, share, generator, together=True) for text in texts]


@checked
def reorder_spans(texts: Texts, share: UnitInterval, generator: torch.Generator) -> list[str]:
    """The texts with two spans exchanged, each a `share` of the words; `share` is at most 0.5.

    >>> reorder_spans(["a b c d e"], 0.2, torch.Generator().manual_seed(0))
    ['e b c d a']
    """
    out = []
    for text in texts:
        words = text.split()
        length = min(max(1, round(share * len(words))), len(words) // 2)
        free = len(words) - 2 * length
        one, two = sorted(torch.randint(free + 1, (2,), generator=generator).tolist())
        two += length
        out.append(
            " ".join(
                words[:one] + words[two : two + length] + words[one + length : two] + words[one : one + length]
                + words[two + length :]
            )
        )  # fmt: skip
    return out


def _without(text: str, share: UnitInterval, generator: torch.Generator, together: bool) -> str:
    words = text.split()
    count = min(max(1, round(share * len(words))), len(words) - 1)
    if together:
        start = int(torch.randint(len(words) - count + 1, (), generator=generator))
        gone = set(range(start, start + count))
    else:
        gone = set(torch.randperm(len(words), generator=generator)[:count].tolist())
    return " ".join(word for place, word in enumerate(words) if place not in gone)
