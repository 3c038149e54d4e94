"""How a method differs from SimCSE, by stage of the pipeline, found by observing one training step.

    data -> view -> encoder -> head -> loss

SimCSE encodes each sentence twice with dropout, applies Linear + tanh to the vectors, and contrasts them by
InfoNCE. A method of yours is observed like the rest, once it is registered.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import PreTrainedModel

from cselab.encoders.dropout import dropout_places
from cselab.encoders.encoder import SentenceEncoder
from cselab.encoders.heads import MLPHead
from cselab.encoders.training_forward import Encode
from cselab.methods import FAMILIES, METHODS, Method, Setup, Views, create_method
from cselab.world import World

STAGES = {
    "data": "the columns of the corpus, and further inputs",
    "view": "the input of the encoder: texts, tokens, input vectors, dropout",
    "encoder": "the networks that compute vectors",
    "head": "the layers between vector and loss while training",
    "loss": "which vectors are contrasted, and how",
}
"""The stages of the pipeline, in order."""

LENGTH = 32  # tokens
CORPUS_ROWS = 12  # of the corpus; half of them are the batch


@dataclass(frozen=True)
class Card:
    """A method, its differences from SimCSE, by stage, and the year of its paper, if its module names one."""

    name: str
    title: str
    family: str
    stages: Mapping[str, str]
    year: str = ""

    def __str__(self) -> str:
        differences = [f"{stage}: {words}" for stage, words in self.stages.items()]
        return f"{self.title} | {' | '.join(differences) or 'the baseline'}"


def method_cards(names: Iterable[str] | None = None) -> list[Card]:
    """A card for each method, or for those named, in the order of `cselab methods`.

    >>> print(*method_cards(["mixcse", "sr_bert"]), sep="\\n")
    SR-BERT | view: changed texts
    MixCSE | loss: further negatives; weighted negatives

    Raises:
        ValueError: an unknown method.
    """
    encoder, world, order = SentenceEncoder.from_pretrained("micro"), World(0), list(FAMILIES)
    methods = [create_method(name, **METHODS[name].small) for name in (METHODS if names is None else names)]
    rows = {
        columns: world.rows(columns, CORPUS_ROWS) for columns in dict.fromkeys(method.columns for method in methods)
    }
    cards = [
        Card(
            method.name,
            method.title,
            method.family,
            pipeline_diff(method, encoder, rows[method.columns]),
            "".join(re.findall(r"\b20\d\d\b", sys.modules[type(method).__module__].__doc__ or "")[:1]),
        )
        for method in methods
    ]
    return sorted(cards, key=lambda card: order.index(card.family))


def pipeline_diff(
    method: Method, encoder: SentenceEncoder | None = None, rows: Sequence[Any] | None = None
) -> dict[str, str]:
    """The differences of a method from SimCSE, in words, by stage; a stage without a difference is absent.

    One step is computed, without training: nothing is changed but a copy of the encoder.

    Args:
        method: an instance; `create_method(name)` makes one.
        encoder: "micro" by default.
        rows: a corpus with the method's columns, a dozen rows; the first half is the batch. By default the world's.

    >>> from cselab.methods import create_method
    >>> pipeline_diff(create_method("simcse"))
    {}
    >>> pipeline_diff(create_method("whitenedcse"))
    {'view': '3 views', 'head': 'whitened head', 'loss': 'multi positive InfoNCE'}
    """
    encoder = SentenceEncoder.from_pretrained("micro") if encoder is None else encoder.copy()
    rows = World(0).rows(method.columns, CORPUS_ROWS) if rows is None else rows
    batch = rows[: len(rows) // 2]
    encode = _WatchedEncode(encoder, _texts(rows), _texts(batch), method.column(batch, method.columns[0]))
    refused = []
    try:
        method.prepare(encoder)
    except ValueError as error:  # such as an uncased model: the rest of the step is still observed
        refused = [str(error).removeprefix(f"{method.name} ").split(", and ")[0]]
    with torch.random.fork_rng(devices=[]):
        encoder.attach_head(method.build(Setup(encoder, rows)))
        encoder.train()
        views = method.views(encode, batch)
        terms = method.loss(views).terms
    networks = [part for part in method.modules() if isinstance(part, SentenceEncoder | PreTrainedModel)]
    by_stage = {
        "data": [f"rows of {', '.join(method.columns)}"] * (method.columns != ("sentence",))
        + ["sentences retrieved from the corpus"] * encode.retrieved,
        "view": encode.view_words(),
        "encoder": refused + ["a second network"] * bool(networks) + _encoder_words(encoder),
        "head": _head_words(encoder) + ["its own weights"] * _has_other_weights(method, networks),
        "loss": _loss_words(views, terms),
    }
    return {stage: "; ".join(dict.fromkeys(words)) for stage, words in by_stage.items() if words}


def _texts(rows: Sequence[Any]) -> list[str]:
    return [text for row in rows for text in ((row,) if isinstance(row, str) else row)]


class _WatchedEncode(Encode):
    """The trainer's encode, which notes how its views differ from two dropout views of the batch."""

    def __init__(
        self, encoder: SentenceEncoder, corpus: Sequence[str], batch: Sequence[str], sentences: Sequence[str]
    ) -> None:
        super().__init__(encoder, LENGTH)
        self.corpus, self.batch, self.sentences = set(corpus), set(batch), set(sentences)
        self.known_tokens = {row for text in self.corpus for row in _token_rows(encoder.tokenize([text], LENGTH))}
        self.rates = self._rates()
        self.changes: list[str] = []
        self.plain_views = 0  # of unchanged sentences, with dropout, by the encoder in training
        self.retrieved = False  # sentences of the corpus that are not in the batch

    def _rates(self) -> set[float]:
        return set(dropout_places(self.encoder.backbone).values())

    def __call__(self, *views: Any, dropout: bool = True, head: bool = True, by: Any = None) -> Any:
        for view in views:
            changes = list(self._changes_of(view))
            if not dropout:
                changes.append("without dropout")
            elif self._rates() != self.rates:
                changes.append("a different rate of dropout")
            self.changes += changes
            of_the_batch = isinstance(view, Mapping) or set(view) <= self.sentences
            self.plain_views += of_the_batch and not changes and by is None
        return super().__call__(*views, dropout=dropout, head=head, by=by)

    def _changes_of(self, view: Any) -> Iterable[str]:
        if not isinstance(view, Mapping):
            if not set(view) <= self.corpus:
                yield "changed texts"
            self.retrieved |= set(view) <= self.corpus and not set(view) <= self.batch
        elif {"inputs_embeds", "embedding_mask"} & set(view):
            yield "changed input vectors"
        elif "position_ids" in view:
            yield "changed positions"
        elif not set(_token_rows(view)) <= self.known_tokens:
            yield "changed tokens"

    def view_words(self) -> list[str]:
        """The differences in words; two views are what SimCSE has."""
        if self.encoder.template is not None:
            return ["a prompt around the text"]
        return self.changes + [f"{self.plain_views} views"] * (self.plain_views > 2)


def _token_rows(tokens: Mapping[str, Any]) -> list[tuple[int, ...]]:
    pairs = zip(tokens["input_ids"], tokens["attention_mask"], strict=True)
    return [tuple(ids[mask.bool()].tolist()) for ids, mask in pairs]


def _has_other_weights(method: Method, networks: list[Any]) -> bool:
    """Whether the method learns weights outside a network."""
    known = {id(weight) for network in networks for weight in network.parameters()}
    return any(weight.requires_grad and id(weight) not in known for weight in method.parameters())


def _encoder_words(encoder: SentenceEncoder) -> list[str]:
    is_frozen = not any(weight.requires_grad for weight in encoder.backbone.parameters())
    return (
        ["a learnt prefix"] * (encoder.prefix is not None)
        + ["the backbone frozen"] * is_frozen
        + ["the vector of a prompt's [MASK]"] * (encoder.template is not None)
    )


def _head_words(encoder: SentenceEncoder) -> list[str]:
    if isinstance(encoder.head, MLPHead):
        return []
    if encoder.head is None:
        return ["none"]
    name = type(encoder.head).__name__
    return ["".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).strip()]


def _loss_words(views: Views, terms: Mapping[str, Any]) -> list[str]:
    names = [name for name in terms if name != "info_nce"]
    return (
        [name.replace("info_nce", "InfoNCE").replace("nt_xent", "NT-Xent").replace("_", " ") for name in names]
        + ["further negatives"] * (views.negatives is not None)
        + ["weighted negatives"] * (views.log_weights is not None)
    )
