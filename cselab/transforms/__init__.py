"""Transforms fitted on the finished vectors of an encoder: centring, components removed, BERT-whitening, BERT-flow.

All turn an anisotropic cloud into a more isotropic one without touching the encoder: arrays in, arrays out, in the
manner of scikit-learn (`fit`, then `transform`). Fit them on the sentences to be compared (the papers' "target") or on
a different text (their "NLI"), and report which, because it is part of the result. `fit(name, vectors)` makes one by
its name.
"""

from .components import ComponentsRemoved
from .factory import NAMES, Transform, fit
from .flow import BertFlow
from .whitening import BertWhitening

__all__ = ["NAMES", "BertFlow", "BertWhitening", "ComponentsRemoved", "Transform", "fit"]
