"""MoCo's queue: vectors of earlier batches as further negatives."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Queue(nn.Module):
    """The newest `size` vectors that were put in, the newest first; they carry no gradient.

    Args:
        size: how many vectors it holds.
        width: the width of the vectors.
        generator: with one, the queue starts full of random directions, as MoCo's and MoCoSE's; without, it starts
            empty and fills, as ESimCSE's.

    >>> queue = Queue(3, width=2)
    >>> queue.put(torch.tensor([[1.0, 1.0], [2.0, 2.0]]))
    >>> queue.put(torch.tensor([[3.0, 3.0], [4.0, 4.0]]))
    >>> queue.vectors[:, 0]
    tensor([3., 4., 1.])

    See also: `MomentumEncoder`, which makes vectors of which old ones are still comparable;
        `cselab.losses.info_nce(negatives=)`.
    """

    rows: Tensor
    held: Tensor

    def __init__(self, size: int, width: int, generator: torch.Generator | None = None) -> None:
        super().__init__()
        rows = torch.zeros(size, width)
        if generator is not None:
            rows = nn.functional.normalize(torch.randn(size, width, generator=generator), dim=1)
        self.register_buffer("rows", rows)
        self.register_buffer("held", torch.tensor(0 if generator is None else size))

    @property
    def vectors(self) -> Float[Tensor, "k d"]:
        """The current rows: none to `size`. Later changes of the queue do not touch them."""
        return self.rows[: int(self.held)]

    @torch.no_grad()
    def put(self, vectors: Float[Tensor, "n d"]) -> None:
        """Add vectors; they replace the oldest ones."""
        self.rows = torch.cat([vectors.to(self.rows), self.rows])[: len(self.rows)]
        self.held = (self.held + len(vectors)).clamp(max=len(self.rows))
