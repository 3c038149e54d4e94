"""Baselines for every score: chance, word overlap, word vectors without a context, the encoder with random weights,
and its own vectors whitened or made normal afterwards. `with_baselines` has them all.
"""

import hashlib
import warnings
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from cselab._util.arguments import NonNegativeInt, PositiveInt, Texts, checked
from cselab.data import read_sentences
from cselab.encoders.any_encoder import as_encoder, encode
from cselab.encoders.speed import Precision
from cselab.metrics.degenerate import DegenerateEmbeddings, require_sound

from .evaluation import Suites, evaluate
from .records import Scores
from .task import Source
from .vectors import Encoder, Matrix, NeedsVectors, PairScorer, name_of
from .world import the_world


class RandomEncoder:
    """A vector drawn from the hash of the text: a baseline that only recognises identical texts.

    Deterministic, and independent of the remaining sentences and their order.

    >>> a, b, c = RandomEncoder(dim=3).encode(["one", "two", "one"])
    >>> bool((a == c).all()), bool((a == b).all())
    (True, False)
    """

    name = "random"

    @checked
    def __init__(self, dim: PositiveInt = 256, seed: NonNegativeInt = 0) -> None:
        self.embedding_dimension, self.seed = dim, seed

    def encode(self, sentences: list[str], **options: Any) -> Matrix:
        return np.stack([self._draw(sentence) for sentence in sentences])

    def _draw(self, sentence: str) -> Float[np.ndarray, " d"]:
        digest = hashlib.sha256(f"{self.seed} {sentence}".encode()).digest()
        generator = np.random.default_rng(int.from_bytes(digest))
        return generator.standard_normal(self.embedding_dimension, dtype=np.float32)


@checked
def word_overlap(sentences1: Texts, sentences2: Texts) -> Float[np.ndarray, " n"]:
    """Jaccard overlap of the words of each pair, split at white space: |A and B| / |A or B|, 0 to 1.

    Scores pairs without vectors; pass it to `evaluate` instead of an encoder.

    >>> word_overlap(["a dog runs"], ["a dog sleeps"])
    array([0.5])
    """
    overlaps = []
    for first, second in zip(sentences1, sentences2, strict=True):
        a, b = set(first.split()), set(second.split())
        overlaps.append(len(a & b) / len(a | b))
    return np.array(overlaps)


class StaticEmbeddings:
    """The mean of word vectors without context.

    A sentence none of whose tokens is in the table gets the mean of the table.

    See also: `from_encoder` for a model's own input embeddings.
    """

    pooling = "mean of static vectors"

    @checked
    def __init__(self, table: Float[np.ndarray, "v d"], tokenize: Any, name: str = "static") -> None:
        self.table, self.tokenize, self.name = table, tokenize, name
        self.embedding_dimension = table.shape[1]

    @classmethod
    def from_encoder(cls, encoder: Any) -> "StaticEmbeddings":
        """The input embeddings of a `SentenceEncoder`, without its special tokens, positions and layers."""
        table = encoder.backbone.get_input_embeddings().weight.detach().float().cpu().numpy()

        def tokenize(sentence: str) -> list[int]:
            return encoder.tokenizer(sentence, add_special_tokens=False)["input_ids"]

        return cls(table, tokenize, name=f"input embeddings of {encoder.name}")

    def encode(self, sentences: list[str], **options: Any) -> Matrix:
        return np.stack([self._mean(sentence) for sentence in sentences]).astype(np.float32)

    def _mean(self, sentence: str) -> Float[np.ndarray, " d"]:
        rows = self.tokenize(sentence)
        return self.table[rows].mean(axis=0) if rows else self.table.mean(axis=0)


@checked
def random_weights(encoder: Any, seed: NonNegativeInt = 0) -> Any:
    """A copy of a `SentenceEncoder` whose transformer has random weights, as before any pretraining.

    Shape, tokenizer, pooling and head stay the same. The weights are drawn as its model class draws them.

    Raises:
        ValueError: a transformer with adapters.
    """
    fresh = encoder.copy()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        drawn = type(fresh.backbone)(fresh.backbone.config)
    if fresh.backbone.load_state_dict(drawn.state_dict(), strict=False).missing_keys:
        raise ValueError(f"{encoder.name} has adapters: open the encoder that they were added to")
    fresh.name = f"{encoder.name} with random weights (seed {seed})"
    return fresh


class TransformedEncoder:
    """An encoder whose vectors pass through a fitted post-hoc transform (BERT-whitening, BERT-flow).

    `transform` is anything fitted with `transform(vectors) -> vectors`.

    See also: `fitted`, which fits one and names the text in the encoder's name.
    """

    def __init__(self, encoder: Encoder, transform: Any, name: str | None = None) -> None:
        self.encoder, self.transform = encoder, transform
        self.name = name or f"{name_of(encoder)} + {type(transform).__name__}"
        self.pooling = getattr(encoder, "pooling", "")
        self.representation = getattr(encoder, "representation", "")
        self.max_length = getattr(encoder, "max_length", None)
        self.precision = getattr(encoder, "precision", "")

    @property
    def last_truncation(self) -> Any:
        """The truncation of the inner encoder in its last call."""
        return getattr(self.encoder, "last_truncation", None)

    def encode(self, sentences: list[str], **options: Any) -> Matrix:
        transformed = self.transform.transform(encode(self.encoder, sentences, **options))
        return np.asarray(transformed)

    def token_vectors(self, sentence: str) -> Any:
        """Vectors of the tokens; their mean is the vector of the sentence. None if the transform is not linear."""
        from cselab.transforms import BertWhitening, ComponentsRemoved

        found = getattr(self.encoder, "token_vectors", lambda _: None)(sentence)
        if found is None or not isinstance(self.transform, ComponentsRemoved | BertWhitening):
            return None
        return found._replace(vectors=self.transform.transform(found.vectors))


WORLD_SENTENCES = 5000
"""Training sentences of the bundled world for fitting a transform, unless you give a limit."""


@checked
def fitted(
    encoder: Encoder | PairScorer,
    transform: str,
    text: str | Path = "world",
    limit: PositiveInt | None = None,
    **options: Any,
) -> TransformedEncoder:
    """The encoder with a post-hoc transform that is fitted on its vectors of the sentences of a text.

    Transform, text and number of sentences are in its name, and so in every record.

    Args:
        encoder: something that encodes; `word_overlap` has no vectors to transform.
        transform: one of `cselab.transforms.NAMES`.
        text: a text file, one sentence per line; or "world" for training sentences of the bundled world.
        limit: fit on the first `limit` sentences; None means all sentences of a file, and `WORLD_SENTENCES` of the
            world.
        options: the options of `encoder.encode` while it is fitted, such as `prompt_name`.

    Raises:
        ValueError: an unknown transform; too few sentences to fit it on; vectors that are not finite or all the
            same, or none.
        DataError: no such file, or no sentence in the file.
    """
    from cselab.transforms import fit

    if not hasattr(encoder, "encode"):
        raise NeedsVectors(f"{transform} transforms sentence vectors; {name_of(encoder)} has none")
    if str(text) == "world":
        where = "the world"
        sentences = [sentence.text for sentence in the_world().sentences(limit or WORLD_SENTENCES, split="train")]
    else:
        where, sentences = Path(text).name, list(islice(read_sentences(text), limit))
    vectors = encode(encoder, sentences, **options)
    require_sound(vectors)
    name = f"{name_of(encoder)} + {transform} fitted on {len(sentences)} sentences of {where}"
    return TransformedEncoder(encoder, fit(transform, vectors), name)


@checked
def named_encoder(
    name: str,
    pooling: str | None = None,
    representation: Any = None,
    device: str | torch.device | None = None,
    precision: Precision = "fp32",
) -> Encoder | PairScorer:
    """The encoder for `evaluate` with this name on the command line.

    Args:
        name: "random"; "word-overlap"; "static:ENCODER" for the averaged input embeddings of an encoder; otherwise an
            encoder's bundled name, folder or hub name.
        pooling, representation, device, precision: those of an encoder that has them; see
            `SentenceEncoder.from_pretrained`.

    Raises:
        ValueError: a precision other than "fp32" for a baseline without a network.
    """
    from cselab.encoders.encoder import SentenceEncoder

    source = name.removeprefix("static:")
    static = source != name
    if precision != "fp32" and (static or name in ("word-overlap", "random")):
        raise ValueError(f"{name} has no network and accepts no precision, got {precision!r}: leave it out")
    if static:
        return StaticEmbeddings.from_encoder(SentenceEncoder.from_pretrained(source))
    if name == "word-overlap":
        return word_overlap
    if name == "random":
        return RandomEncoder()
    return SentenceEncoder.from_pretrained(
        name, pooling=pooling, representation=representation, precision=precision, device=device
    )


def with_baselines(
    encoder: Encoder, text: str | Path = "world", transforms: Sequence[str] = ("whitening", "flow")
) -> dict[str, Encoder | PairScorer]:
    """An encoder and its baselines, by name, each for `evaluate`.

    A random encoder, word overlap, the encoder's own averaged input embeddings where it has them, its shape with
    random weights, the encoder, and its vectors transformed after a fit on a text (see `fitted`). They share one pass
    of the encoder over the same sentences.

    Args:
        encoder: any argument of `cselab.encoders.as_encoder`.
    """
    encoder = as_encoder(encoder)
    once = _Once(encoder)
    beside: dict[str, Encoder | PairScorer] = {"random": RandomEncoder(), "word overlap": word_overlap}
    if hasattr(encoder, "backbone"):
        own = StaticEmbeddings.from_encoder(encoder)
        beside[own.name] = own
        if not getattr(encoder, "has_adapters", False):
            fresh = random_weights(encoder)
            beside[fresh.name] = fresh
    beside[name_of(encoder)] = once
    for transform in transforms:
        try:
            transformed = fitted(once, transform, text)
        except DegenerateEmbeddings as reason:
            warnings.warn(
                f"{transform} is left out, because it cannot be fitted on {name_of(encoder)} ({reason})", stacklevel=2
            )
        else:
            beside[transformed.name] = transformed
    return beside


@checked
def evaluate_beside(
    encoder: Encoder,
    suite: Suites,
    data: Source = None,
    tasks: Sequence[str] | None = None,
    *,
    text: str | Path = "world",
) -> dict[str, Scores]:
    """The scores of the encoders of `with_baselines`, by name; `cselab_lab.tables` shows them side by side.

    A baseline that can score none of the tasks is left out: word overlap where all need vectors.

    Args:
        suite, data, tasks: as in `evaluate`.
        text: as in `with_baselines`.
    """
    scores = {}
    for name, model in with_baselines(encoder, text).items():
        try:
            scores[name] = evaluate(model, suite, data, tasks)
        except NeedsVectors:
            continue
    return scores


class _Once:
    """An encoder that keeps its last vectors, in case the next call has the same sentences."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.asked: tuple[list[str], dict[str, Any]] | None = None
        self.vectors: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.encoder, name)

    def encode(self, sentences: list[str], **options: Any) -> Matrix:
        if (sentences, options) != self.asked:
            self.asked, self.vectors = (list(sentences), options), encode(self.encoder, sentences, **options)
        return self.vectors
