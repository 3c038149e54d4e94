"""Changes of tokens.

Cutoff (Shen et al. 2020; two of ConSERT's augmentations), masked tokens and spans, sub-word repetition (ESimCSE, Wu et
al. 2022), shuffled positions (ConSERT), and spans of a document (DeCLUTR, Giorgi et al. 2021).
"""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from cselab._util.arguments import UnitInterval, checked
from cselab.encoders.speed import to_device
from cselab.encoders.text import TokenizedBatch


@checked
def inner_tokens(tokens: TokenizedBatch) -> Bool[Tensor, "n t"]:
    """Where the sentence's own tokens are: everything but the first token, the last, and padding.

    >>> import torch
    >>> inner_tokens({"attention_mask": torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])}).int()
    tensor([[0, 1, 1, 0],
            [0, 1, 0, 0]], dtype=torch.int32)
    """
    seen = tokens["attention_mask"].bool()
    inner = seen & seen.roll(-1, 1)
    inner[:, 0] = inner[:, -1] = False
    return inner


@checked
def random_ranks(inner: Bool[Tensor, "n t"], generator: torch.Generator) -> Int[Tensor, "n t"]:
    """A random order of the inner tokens of each row, from 0 on; all further tokens come after them."""
    drawn = to_device(torch.rand(inner.shape, generator=generator), inner.device)
    return drawn.masked_fill(~inner, 2).argsort(1).argsort(1)


@checked
def cut_features(tokens: TokenizedBatch, width: int, share: UnitInterval, generator: torch.Generator) -> TokenizedBatch:
    """Feature cutoff: in each sentence the same randomly chosen dimensions of all its tokens are 0.

    Args:
        tokens: the result of `Encode.tokens`.
        width: dimensions of the encoder.
        share: the share of the dimensions that are cut, rounded down; 0.2 in ConSERT.
        generator: draws the choices, on the CPU.

    Returns:
        the tokens with `embedding_mask` [n, t, width]: factors of the embedding layer's output, 0 or 1.

    See also: `cut_tokens`, which cuts rows of the same matrix instead of columns.
    """
    seen = tokens["attention_mask"]
    ranks = torch.rand(len(seen), width, generator=generator).argsort(1).argsort(1)
    kept = to_device(ranks >= int(share * width), seen.device).float()
    return {**tokens, "embedding_mask": kept[:, None].expand(-1, seen.shape[1], -1)}


@checked
def cut_tokens(tokens: TokenizedBatch, share: UnitInterval, generator: torch.Generator) -> TokenizedBatch:
    """Token cutoff: randomly chosen tokens of each sentence are embedded as 0; [CLS] and [SEP] stay.

    Args:
        tokens: the result of `Encode.tokens`.
        share: the share of each sentence's own tokens that are cut, rounded down.
        generator: draws the choices, on the CPU.

    Returns:
        the tokens with `embedding_mask` [n, t, 1]: see `cut_features`.
    """
    inner = inner_tokens(tokens)
    cut = random_ranks(inner, generator) < (share * inner.sum(1, keepdim=True)).floor()
    return {**tokens, "embedding_mask": (~cut[..., None]).float()}


@checked
def mask_spans(
    tokens: TokenizedBatch, shares: Sequence[float], generator: torch.Generator, mask: int
) -> list[TokenizedBatch]:
    """The tokens with one masked span per sentence, for each share; a longer span contains the shorter ones.

    A sentence with 20 % masked then contains all words of the sentence with 40 % masked: ArcCSE's triplets (Zhang et
    al. 2022).

    Args:
        tokens: the result of `Encode.tokens`.
        shares: the shares of each sentence's own tokens, at least one token.
        generator: draws the places, on the CPU.
        mask: the id of [MASK].
    """
    inner = inner_tokens(tokens)
    count = inner.sum(1, keepdim=True)
    drawn = to_device(torch.rand(len(inner), 1, generator=generator), inner.device)
    rank = inner.cumsum(1) - 1
    views: list[TokenizedBatch] = []
    for share in shares:
        length = (share * count).round().clamp(min=1)
        start = (drawn * (count - length + 1)).floor()
        hidden = inner & (rank >= start) & (rank < start + length)
        views.append({**tokens, "input_ids": tokens["input_ids"].masked_fill(hidden, mask)})
    return views


@checked
def mask_tokens(
    tokens: TokenizedBatch, share: UnitInterval, generator: torch.Generator, mask: int, vocabulary: int
) -> tuple[TokenizedBatch, Bool[Tensor, "n t"]]:
    """The tokens as BERT's pretraining changes them, and which are to be guessed.

    A `share` (15 % in BERT) of each sentence's tokens, rounded up, is chosen. Of these, 80 % become [MASK], 10 % a
    random token, 10 % stay (Devlin et al. 2019).
    """
    inner, ids = inner_tokens(tokens), tokens["input_ids"]
    ranks = random_ranks(inner, generator)
    kind, others = (to_device(torch.rand(inner.shape, generator=generator), ids.device) for _ in range(2))
    chosen = inner & (ranks < (share * inner.sum(1, keepdim=True)).ceil())
    changed = torch.where(kind < 0.8, mask, torch.where(kind < 0.9, (others * vocabulary).long(), ids))
    return {**tokens, "input_ids": torch.where(chosen, changed, ids)}, chosen


@checked
def repeat_subwords(
    tokens: TokenizedBatch, most: Tensor, generator: torch.Generator, padding: int = 0
) -> TokenizedBatch:
    """The tokens with some of each sentence's own doubled: its meaning is the same, its length is not.

        k ~ uniform {0, ..., most_i},   k different tokens of sentence i are doubled           ESimCSE Eq. 4, 5

    Args:
        tokens: the result of `Encode.tokens`.
        most: [n], the largest number of tokens that may be doubled; a sentence has no more than its tokens.
        generator: draws the random numbers, on the CPU.
        padding: the id of the padding token.

    >>> ids = torch.tensor([[2, 7, 8, 3]])
    >>> tokens = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    >>> repeat_subwords(tokens, torch.tensor([2]), torch.Generator().manual_seed(1))["input_ids"]
    tensor([[2, 7, 7, 8, 8, 3]])
    """
    inner = inner_tokens(tokens).cpu()
    count = (torch.rand(len(inner), generator=generator) * (most.cpu() + 1)).floor()
    times = 1 + (inner & (random_ranks(inner, generator) < count[:, None])).long()
    seen = tokens["attention_mask"].bool().cpu()
    kept = [torch.arange(len(row))[row].repeat_interleave(more[row]) for row, more in zip(seen, times, strict=True)]
    filler = {"input_ids": padding}
    return {
        name: pad_sequence(
            [row[index.to(row.device)] for row, index in zip(tensor, kept, strict=True)],
            batch_first=True,
            padding_value=filler.get(name, 0),
        )
        for name, tensor in tokens.items()
    }


@checked
def shuffle_positions(tokens: TokenizedBatch, generator: torch.Generator, first: int = 0) -> TokenizedBatch:
    """The tokens with `position_ids` that permute the positions of each sentence.

    The order of the tokens themselves does not change. For a transformer, which sees order only through positions,
    this is the shuffled sentence. [CLS] and [SEP] keep their places.

    Args:
        tokens: the result of `Encode.tokens`.
        generator: draws the permutations, on the CPU.
        first: the position of the first token: see `first_position`.
    """
    inner = inner_tokens(tokens)
    places = torch.arange(inner.shape[1], device=inner.device)
    drawn = to_device(torch.rand(inner.shape, generator=generator), inner.device)
    # sorted by these: the first token, the inner tokens in random order, then the rest unchanged
    order = torch.where(inner, drawn, torch.where(places > 0, places + 1.0, -1.0)).argsort(1)
    return {**tokens, "position_ids": first + order}


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
