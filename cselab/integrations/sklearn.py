"""An encoder and BERT-whitening as steps of a scikit-learn pipeline.

These classes are estimators in scikit-learn's sense: their parameters can be searched, and they can be cloned and
pickled. They name their columns (`get_feature_names_out`) and support `set_output(transform="pandas")`.
"""

from typing import Any

import numpy as np
from jaxtyping import Float
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from cselab.data.rows import check_sentences
from cselab.encoders.any_encoder import as_encoder, encode
from cselab.metrics.geometry import rank
from cselab.transforms.whitening import BertWhitening


class SentenceVectors(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Sentences in, a row of numbers a sentence out. Nothing is learnt: `fit` opens the encoder.

    Args:
        encoder: an argument of `SentenceEncoder` (a bundled name, a folder, a hub name), opened at the first use; or
            an object with `encode(list[str])`, such as a `SentenceEncoder` or a `SentenceTransformer`. A clone of the
            step copies such an object, and opens a name again.
        batch_size: sentences a forward pass.
        normalize: scale each vector to length one.

    After `fit`: `encoder_`, the opened encoder.

    Raises:
        TypeError, ValueError: as in `SentenceEncoder.encode`: a value that is no string, an empty string.

    See also: `Whitening`, the step that opens the cone of a plain encoder.

    >>> from sklearn.pipeline import make_pipeline
    >>> pipeline = make_pipeline(SentenceVectors("micro"), Whitening(n_components=2))
    >>> pipeline.fit_transform(["a dog runs", "a cat sleeps", "rain falls", "it is late"]).shape
    (4, 2)
    """

    def __init__(self, encoder: Any = "mini", *, batch_size: int = 64, normalize: bool = False) -> None:
        self.encoder = encoder
        self.batch_size = batch_size
        self.normalize = normalize

    def fit(self, X: Any, y: Any = None) -> "SentenceVectors":
        """Open the encoder. The sentences are checked, not encoded; pipelines pass `y`."""
        check_sentences(X)
        self.encoder_ = as_encoder(self.encoder)
        return self

    def transform(self, X: Any) -> Float[np.ndarray, "n d"]:
        """The vectors of a list, array, Series or one-column table of sentences, in its order."""
        sentences = check_sentences(X)
        if not hasattr(self, "encoder_"):
            self.encoder_ = as_encoder(self.encoder)
        return encode(self.encoder_, sentences, batch_size=self.batch_size, normalize_embeddings=self.normalize)

    @property
    def _n_features_out(self) -> int:
        return self.encoder_.get_embedding_dimension()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "encoder_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.string, tags.input_tags.one_d_array, tags.input_tags.two_d_array = True, True, False
        return tags


class Whitening(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """`cselab.transforms.BertWhitening` as an estimator: mean 0 and covariance 1, by principal components.

        y = (x - mean) U L^{-1/2},    cov(x) = U L U^T          Su et al. 2021

    Args:
        n_components: width of y; None keeps every direction in which the rows vary.
        eps: added to the variances L.

    After `fit`: `whitening_`, the `BertWhitening`, and `n_features_in_`.

    Raises:
        ValueError: fewer than two rows, rows that are all the same, more components than they vary in.
    """

    def __init__(self, n_components: int | None = None, eps: float = 0.0) -> None:
        self.n_components = n_components
        self.eps = eps

    def fit(self, X: Any, y: Any = None) -> "Whitening":
        """Estimate mean and kernel; pipelines pass `y`."""
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        kept = self.n_components
        if kept is None and not self.eps:
            kept = max(1, min(rank(X.astype(np.float32)), len(X) - 1))
        self.whitening_ = BertWhitening(kept, self.eps).fit(X)
        return self

    def transform(self, X: Any) -> Float[np.ndarray, "n k"]:
        """Whiten rows with the fitted mean and kernel."""
        check_is_fitted(self)
        return self.whitening_.transform(validate_data(self, X, dtype=[np.float64, np.float32], reset=False))

    @property
    def _n_features_out(self) -> int:
        return self.whitening_.kernel_.shape[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
