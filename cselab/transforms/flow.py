"""BERT-flow: an invertible network that makes finished embeddings a standard normal."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from cselab._util.arguments import NonNegativeFloat, PositiveInt, Seed, check_fields

from .glow import Glow


@dataclass(eq=False)
class BertFlow(TransformerMixin, BaseEstimator):
    """y = f(x) with f an invertible network that makes the embeddings a standard normal (Li et al. 2020).

    f is the `Glow` of `cselab.transforms.glow`, fitted by maximum likelihood with Adam: the released sizes and learning
    rate, one epoch. That module lists further differences from the released code. Unlike whitening, flow is not linear
    and depends on its seed.

    Args:
        levels, depth, hidden: the sizes of the flow; the released 3, 3 and 32.
        epochs, batch_size, learning_rate: those of the fit. A last batch that is not full is left out.
        seed: the seed of the weights and of the order of the sentences. The same seed gives the same transform.

    After `fit`: `flow_`, the `Glow`; `history_`, the loss of each step (nats per dimension).
    """

    levels: PositiveInt = 3
    depth: PositiveInt = 3
    hidden: PositiveInt = 32
    epochs: PositiveInt = 1
    batch_size: PositiveInt = 32
    learning_rate: NonNegativeFloat = 1e-3
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_fields(self)

    def fit(self, X: Any, y: Any = None) -> "BertFlow":
        """Fit the flow, starting its activation norms from all rows; pipelines pass `y`.

        Raises:
            ValueError: fewer rows than a batch, NaN or infinite entries, too narrow for the levels.
            FloatingPointError: the likelihood was lost (NaN or infinite) at a step, which is named.
        """
        x = torch.from_numpy(validate_data(self, X, dtype=np.float32, ensure_min_samples=2))
        if len(x) < self.batch_size:
            raise ValueError(f"{len(x)} embeddings are fewer than one batch of {self.batch_size}: lower batch_size")
        generator = torch.Generator().manual_seed(self.seed)
        flow = Glow(x.shape[1], self.levels, self.depth, self.hidden, generator)
        flow.begin_at(x)
        optimizer = torch.optim.Adam(flow.parameters(), lr=self.learning_rate)
        history: list[float] = []
        for _ in range(self.epochs):
            order = torch.randperm(len(x), generator=generator)
            for rows in order[: len(x) // self.batch_size * self.batch_size].split(self.batch_size):
                loss = -flow.log_likelihood(x[rows]).mean() / x.shape[1]
                if not loss.isfinite():
                    raise FloatingPointError(
                        f"the likelihood is {loss.item()} at step {len(history)}: lower the learning rate"
                    )
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                history.append(loss.item())
        self.flow_ = flow.requires_grad_(False)
        self.history_ = history
        return self

    def transform(self, X: Any) -> Float[np.ndarray, "n d"]:
        """f of each row, float32.

        Raises:
            ValueError: not fitted yet, a different width than fitted, NaN or infinite entries.
        """
        check_is_fitted(self)
        return self.flow_(torch.from_numpy(validate_data(self, X, dtype=np.float32, reset=False))).numpy()
