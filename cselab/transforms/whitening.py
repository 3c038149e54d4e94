"""Transforms fitted on the finished embeddings of an encoder: BERT-whitening and BERT-flow.

Both turn an anisotropic cloud into an isotropic one without touching the encoder: arrays in, arrays out, in
the manner of scikit-learn (`fit`, `transform`, `fit_transform`). Fit them on the sentences to be compared
(the papers' "target") or on any other text (their "NLI"), and say which: it is part of the result.

See also: `cselab.sgw` for whitening inside a training step.
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import nn

from cselab.transforms.flow import Glow


class BertWhitening:
    """y = (x - mean) W with W = U L^{-1/2}, for cov(x) = U L U^T (BERT-whitening, Su et al. 2021).

    PCA whitening of the covariance with divisor n - 1. Keeping the first `n_components` columns of W keeps
    the directions of the largest variance (256 of 768 in the paper), which makes retrieval cheaper too. The
    paper compares rows of y by their cosine.

    Args:
        n_components: width of y; None keeps all.
        eps: added to the eigenvalues. With 0, a direction without variance among those to keep is an error.

    After `fit`: `mean_` [d], `kernel_` (W) [d, n_components], `variances_` (L, all of it, largest first) [d].

    >>> x = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 3.0], [0.0, -3.0]])
    >>> y = BertWhitening().fit_transform(x)
    >>> np.allclose(np.cov(y, rowvar=False), np.eye(2))
    True
    """

    def __init__(self, n_components: int | None = None, eps: float = 0.0) -> None:
        if n_components is not None and n_components < 1:
            raise ValueError(f"n_components must be at least 1, or None to keep all, got {n_components}")
        if not (eps >= 0 and np.isfinite(eps)):
            raise ValueError(f"eps must be a number of at least 0, got {eps}")
        self.n_components = n_components
        self.eps = eps

    def fit(self, embeddings: Float[np.ndarray, "n d"]) -> "BertWhitening":
        """Estimate mean and kernel, in float64.

        Raises:
            ValueError: fewer than two rows, NaN or infinite entries, more components than the embeddings have
                or span.
        """
        x = _embeddings(embeddings, at_least=2).astype(np.float64)
        n, width = x.shape
        kept = width if self.n_components is None else self.n_components
        if kept > width:
            raise ValueError(f"n_components={kept} is more than the {width} dimensions of the embeddings")
        variances, axes = np.linalg.eigh(np.atleast_2d(np.cov(x, rowvar=False)))
        variances, axes = variances[::-1].clip(min=0), axes[:, ::-1]
        spanned = int((variances > width * np.finfo(np.float64).eps * variances[0]).sum())
        if not spanned:
            raise ValueError(f"all {n} embeddings are the same, there is nothing to whiten")
        if kept > spanned and self.eps == 0:
            raise ValueError(
                f"{n} embeddings vary in {spanned} of their {width} dimensions, too few to whiten {kept}: "
                f"use n_components <= {spanned}, more sentences, or eps > 0"
            )
        signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(width)])
        self.mean_ = x.mean(axis=0)
        self.variances_ = variances
        self.kernel_ = (axes * signs)[:, :kept] / np.sqrt(variances[:kept] + self.eps)
        return self

    def transform(self, embeddings: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n k"]:
        """Whiten rows with the fitted mean and kernel; the precision is that of the input, at least float32.

        Raises:
            ValueError: not fitted yet, another width than fitted, NaN or infinite entries.
        """
        _check_fitted(self, "kernel_")
        x = _embeddings(embeddings, width=len(self.mean_))
        return ((x - self.mean_) @ self.kernel_).astype(np.result_type(x.dtype, np.float32))

    def fit_transform(self, embeddings: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n k"]:
        """`fit`, then `transform` of the same rows."""
        return self.fit(embeddings).transform(embeddings)

    def as_linear(self) -> nn.Linear:
        """The transform as a layer in float32, to be saved with an encoder."""
        _check_fitted(self, "kernel_")
        linear = nn.Linear(*self.kernel_.shape)
        with torch.no_grad():
            linear.weight.copy_(torch.from_numpy(self.kernel_.T.copy()))
            linear.bias.copy_(torch.from_numpy(-self.mean_ @ self.kernel_))
        return linear


class BertFlow:
    """y = f(x) with f an invertible network that makes the embeddings a standard normal (Li et al. 2020).

    f is the `Glow` of `cselab.transforms.flow`, fitted by maximum likelihood with Adam: the released sizes and learning
    rate, one epoch. That module says what else differs from the released code. Unlike whitening it is not linear, and
    it depends on its seed.

    Args:
        levels, depth, hidden: of the flow; the released 3, 3 and 32.
        epochs, batch_size, learning_rate: of the fit. A last batch that is not full is left out.
        seed: of the weights and of the order of the sentences. The same seed gives the same transform.

    After `fit`: `flow_`, the `Glow`; `history_`, the loss of each step (nats a dimension).
    """

    def __init__(
        self,
        levels: int = 3,
        depth: int = 3,
        hidden: int = 32,
        epochs: int = 1,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        seed: int = 0,
    ) -> None:
        for name, value in (("epochs", epochs), ("batch_size", batch_size)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self.levels = levels
        self.depth = depth
        self.hidden = hidden
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.seed = seed

    def fit(self, embeddings: Float[np.ndarray, "n d"]) -> "BertFlow":
        """Fit the flow, starting its activation norms from all rows.

        Raises:
            ValueError: fewer rows than a batch, NaN or infinite entries, too narrow for the levels.
            FloatingPointError: the likelihood was lost (NaN or infinite) at a step, which is named.
        """
        x = torch.from_numpy(_embeddings(embeddings, at_least=2).astype(np.float32))
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

    def transform(self, embeddings: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """f of each row, float32.

        Raises:
            ValueError: not fitted yet, another width than fitted, NaN or infinite entries.
        """
        flow, x = self._fitted(embeddings)
        return flow(x).numpy()

    def inverse_transform(self, whitened: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """The embeddings of which these are the transform."""
        flow, z = self._fitted(whitened)
        return flow.inverse(z).numpy()

    def log_likelihood(self, embeddings: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
        """log p of each row under the fitted flow, in nats."""
        flow, x = self._fitted(embeddings)
        return flow.log_likelihood(x).numpy()

    def fit_transform(self, embeddings: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """`fit`, then `transform` of the same rows."""
        return self.fit(embeddings).transform(embeddings)

    def _fitted(self, rows: np.ndarray) -> tuple[Glow, torch.Tensor]:
        _check_fitted(self, "flow_")
        rows = _embeddings(rows, width=self.flow_.widths[0])
        return self.flow_, torch.from_numpy(rows.astype(np.float32))


def _check_fitted(transform: BertWhitening | BertFlow, attribute: str) -> None:
    if not hasattr(transform, attribute):
        raise ValueError(f"this {type(transform).__name__} is not fitted yet: call fit(embeddings) first")


def _embeddings(embeddings: np.ndarray, at_least: int = 0, width: int | None = None) -> np.ndarray:
    x = np.asarray(embeddings)
    if x.ndim != 2:
        raise ValueError(f"embeddings must be an array [n, d] with a row a sentence, got shape {x.shape}")
    if len(x) < at_least:
        raise ValueError(f"fitting needs at least {at_least} embeddings, got {len(x)}")
    if width is not None and x.shape[1] != width:
        raise ValueError(f"fitted on embeddings of {width} dimensions, got {x.shape[1]}")
    damaged = ~np.isfinite(x).all(axis=1)
    if damaged.any():
        raise ValueError(f"embedding {damaged.argmax()} of {len(x)} holds NaN or infinite entries")
    return x
