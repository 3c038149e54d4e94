"""An encoder as a step of a scikit-learn pipeline.

It is an estimator in scikit-learn's sense: its parameters can be searched, and it can be cloned and pickled. It names
its columns (`get_feature_names_out`) and supports `set_output(transform="pandas")`. So does
`cselab.transforms.BertWhitening`.
"""

from typing import Any

import numpy as np
from jaxtyping import Float
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from cselab.data.rows import check_sentences
from cselab.encoders.any_encoder import as_encoder, encode


class SentenceVectors(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Sentences in, a row of numbers per sentence out. Nothing is learnt: `fit` opens the encoder.

    Args:
        encoder: an argument of `SentenceEncoder` (a bundled name, a folder, a hub name), opened at the first use; or
            an object with `encode(list[str])`, such as a `SentenceEncoder` or a `SentenceTransformer`. A clone of the
            step copies such an object, and opens a name again.
        batch_size: sentences per forward pass.
        normalize: scale each vector to length one.

    After `fit`: `encoder_`, the opened encoder.

    Raises:
        TypeError, ValueError: as in `SentenceEncoder.encode`: a value that is not a string, an empty string.

    See also: `cselab.transforms.BertWhitening`, the step that opens the cone of a plain encoder.

    >>> from sklearn.pipeline import make_pipeline
    >>> from cselab.transforms import BertWhitening
    >>> pipeline = make_pipeline(SentenceVectors("micro"), BertWhitening(n_components=2))
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
