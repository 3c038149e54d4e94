"""The function with which a method turns sentences into vectors: all views of a call in one forward pass, over all
processes.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from .encoder import SentenceEncoder, eval_mode
from .pooling import Vectors
from .speed import bucket_by_length, is_asynchronous
from .text import TokenizedBatch

ViewInput = Sequence[str] | TokenizedBatch
"""One view of a batch: its texts, or their tokens as a method changed them."""


class Encode:
    """`z1, z2 = encode(one, two)`: one argument and one matrix [N, d] of vectors per view, N over all processes.

    A view is a list of texts, or tokens: the result of `encode.tokens`, changed by the method (other ids,
    `inputs_embeds` instead of `input_ids`, `position_ids`, an `embedding_mask`, a shorter mask). The views of a call
    share one forward pass if their tokens have the same names and rows. Each row has its own dropout mask, so
    `encode(batch, batch)` gives SimCSE's views. A single view gives a single matrix.

    On a CPU that pass is cut into parts of rows of similar length where that saves more padding than a further pass
    costs (`cselab.encoders.speed`), so that time goes to words. Vectors and gradients are those of one pass.

    With several processes, each encodes its share of every view and receives the vectors of all. A view whose rows
    cannot be shared evenly (the one row of a template, say) is encoded by every process in full.

    Args:
        encoder: the encoder in training.
        max_length: tokens a text is cut at.
        processes: accelerate's state: the number of processes, and the index of this one.
        mini_batch_size: the most rows of a forward pass; None allows all views of a call. See `TrainConfig`.

    >>> from cselab import SentenceEncoder
    >>> encode = Encode(SentenceEncoder.from_pretrained("micro"), max_length=32)
    >>> z1, z2 = encode(["A cat sleeps.", "It rains."], ["The cat is asleep.", "Rain falls."])
    >>> z1.shape
    torch.Size([2, 128])
    """

    def __init__(
        self, encoder: SentenceEncoder, max_length: int, processes: Any = None, mini_batch_size: int | None = None
    ) -> None:
        self.encoder, self.max_length, self.mini_batch_size = encoder, max_length, mini_batch_size
        self.count = 1 if processes is None else processes.num_processes
        self.rank = 0 if processes is None else processes.process_index

    @property
    def head(self) -> Any:
        """The training head, for a method that applies the head itself."""
        return self.encoder.head

    def tokens(self, texts: Sequence[str]) -> dict[str, Tensor]:
        """The tokens of all texts, on every process: to be changed, and encoded as a view."""
        return self.encoder.tokenize(texts, self.max_length)

    def __call__(
        self, *views: ViewInput, dropout: bool = True, head: bool = True, by: SentenceEncoder | None = None
    ) -> Any:
        """The vectors of the views, with gradients unless all weights of the encoder are frozen.

        Args:
            views: texts or tokens; the same object given twice is tokenised once.
            dropout: False encodes without dropout.
            head: whether the training head follows, on each view apart.
            by: an encoder of the method, instead of the trained one.

        Returns:
            One tensor [N, d] for one view, a list of them for several.
        """
        encoder = self.encoder if by is None else by
        different = {id(view): view for view in views}
        shares = {key: self._share(view, encoder) for key, view in different.items()}
        given = [shares[id(view)] for view in views]
        together = len({(whole, len(tokens["attention_mask"]), *tokens) for tokens, whole in given}) == 1
        passes = [given] if together else [[one] for one in given]
        with self._gradients(encoder, given), nullcontext() if dropout else eval_mode(encoder.backbone):
            vectors = [z for one_pass in passes for z in self._forward(encoder, one_pass, dropout)]
            if head and encoder.head is not None:
                vectors = [encoder.head(z) for z in vectors]
        return vectors if len(views) > 1 else vectors[0]

    def _share(self, view: ViewInput, encoder: SentenceEncoder) -> tuple[TokenizedBatch, bool]:
        """The tokens of the rows that this process encodes, and whether these are all rows."""
        rows = len(view["attention_mask"]) if isinstance(view, Mapping) else len(view)
        share, left = divmod(rows, self.count)
        whole = self.count == 1 or left > 0
        own = slice(None) if whole else slice(self.rank * share, (self.rank + 1) * share)
        if isinstance(view, Mapping):
            return {name: tensor[own] for name, tensor in view.items()}, whole
        return encoder.tokenized(view[own], self.max_length), whole

    def _gradients(
        self, encoder: SentenceEncoder, given: Sequence[tuple[TokenizedBatch, bool]]
    ) -> torch.set_grad_enabled:
        learns = any(weight.requires_grad for weight in encoder.parameters())
        asked = any(tensor.requires_grad for tokens, _ in given for tensor in tokens.values())
        return torch.set_grad_enabled(torch.is_grad_enabled() and (learns or asked))

    def _forward(
        self, encoder: SentenceEncoder, given: Sequence[tuple[TokenizedBatch, bool]], dropout: bool
    ) -> list[Vectors]:
        longest = max(tokens["attention_mask"].shape[1] for tokens, _ in given)
        padding = {"input_ids": encoder.tokenizer.pad_token_id}
        stacked = {
            name: torch.cat([_longer(tokens[name], longest, padding.get(name, 0)) for tokens, _ in given])
            for name in given[0][0]
        }
        vectors = self._pooled(encoder, stacked, dropout).unflatten(0, (len(given), -1))
        if given[0][1]:  # all rows
            return list(vectors)
        from torch.distributed.nn.functional import all_gather

        # Every process computes the same loss on all rows. Backward sums the gradient of its own rows over processes,
        # so the mean of the weights' gradients over processes is the gradient of one process with the whole batch.
        return list(torch.cat(all_gather(vectors), dim=1))

    def _pooled(self, encoder: SentenceEncoder, tokens: TokenizedBatch, dropout: bool) -> Vectors:
        """The vectors of the rows, in parts: on a CPU by length, and never more rows at once than is allowed."""
        order, parts = self._parts(tokens["attention_mask"])
        if len(parts) == 1:
            return encoder.pooled(tokens)
        rows = len(order)
        again = (self.mini_batch_size or rows) < rows
        vectors = []
        for own, length in parts:
            inputs = encoder, {name: tensor[order[own], :length] for name, tensor in tokens.items()}, dropout
            vectors.append(checkpoint(_pooled_part, *inputs, use_reentrant=False) if again else _pooled_part(*inputs))
        return torch.cat(vectors)[order.argsort()]

    def _parts(self, mask: Tensor) -> tuple[Tensor, list[tuple[slice, int]]]:
        """An order of the rows, and the parts of a pass in it: which rows, and how many of their columns.

        Only the lengths decide. Lengths are not read from a device that runs behind Python: it computes the rows in
        their order, in one pass unless memory is short.
        """
        rows, width = mask.shape
        most = min(self.mini_batch_size or rows, rows)
        if is_asynchronous(mask.device):
            order = torch.arange(rows, device=mask.device)
            return order, [(slice(at, at + most), width) for at in range(0, rows, most)]
        columns = torch.arange(1, width + 1)
        lengths, order = (mask.bool() * columns).amax(1).clamp(min=1).sort(stable=True)
        parts = bucket_by_length(lengths.tolist(), most)
        return order, [(own, int(lengths[own.stop - 1])) for own in parts]


def _pooled_part(encoder: SentenceEncoder, tokens: TokenizedBatch, dropout: bool) -> Vectors:
    """The vectors of some rows; where memory is short, called again in the backward pass."""
    with nullcontext() if dropout else eval_mode(encoder.backbone):
        return encoder.pooled(tokens)


def _longer(tensor: Tensor, length: int, value: int) -> Tensor:
    """[n, t, ...] with padding up to `length` columns."""
    return F.pad(tensor, (0, 0) * (tensor.ndim - 2) + (0, length - tensor.shape[1]), value=value)
