"""Where a method touches the pipeline, found by watching what it does in one step, not by what is said of it.

    data -> view -> encoder -> head -> loss

SimCSE gives each sentence twice to one encoder with dropout, puts Linear + tanh on the vectors, and contrasts them by
InfoNCE. What a method does otherwise is noticed at the stage where it happens. A method of your own is watched like all
others, once it is registered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from cselab.encoders.dropout import dropout_places
from cselab.encoders.encoder import SentenceEncoder
from cselab.encoders.encoding import Encode
from cselab.encoders.heads import MLPHead
from cselab.methods import Method, Views

STAGES = {
    "data": "what a row of the corpus holds, and what else is read",
    "view": "what goes into the encoder: texts, tokens, input vectors, dropout",
    "encoder": "what turns it into vectors: one network, or more",
    "head": "what stands between vector and loss while training",
    "loss": "which vectors are contrasted, and how",
}
"""The stages of the pipeline, in order."""

LENGTH = 32  # tokens
ROWS = 12  # of the corpus; half of them are the batch


SETTINGS = {"noise": {"variance": 0.1}}  # what is plain SimCSE until it is told otherwise


@dataclass(frozen=True)
class Card:
    """A method, and what it does otherwise than SimCSE, by stage."""

    name: str
    title: str
    family: str
    stages: Mapping[str, str]

    def __str__(self) -> str:
        what = (f"{stage}: {words}" for stage, words in self.stages.items())
        return f"{self.title} | {' | '.join(what) or 'the baseline'}"


def method_cards(names: Iterable[str] | None = None) -> list[Card]:
    """A card for each method, or for those named, in the order of `cselab methods`.

    >>> print(*method_cards(["mixcse", "sr_bert"]), sep="\\n")
    SR-BERT | view: changed texts
    MixCSE | loss: further negatives; weighted negatives

    Raises:
        ValueError: an unknown method.
    """
    from cselab.methods import FAMILIES, METHODS, create_method
    from cselab.world import World

    encoder, world, order = SentenceEncoder.from_pretrained("micro"), World(0), list(FAMILIES)
    methods = [create_method(name, **SETTINGS.get(name, {})) for name in (METHODS if names is None else names)]
    rows = {columns: world.rows(columns, ROWS) for columns in dict.fromkeys(method.columns for method in methods)}
    cards = [
        Card(method.name, method.title, method.family, touches(method, encoder, rows[method.columns]))
        for method in methods
    ]
    return sorted(cards, key=lambda card: order.index(card.family))


def touches(
    method: Method, encoder: SentenceEncoder | None = None, rows: Sequence[Any] | None = None
) -> dict[str, str]:
    """What the method does otherwise than SimCSE, in words, by stage; a stage where it does the same is absent.

    One step is taken, without training: nothing is changed but a copy of the encoder.

    Args:
        method: an instance; `create_method(name)` makes one.
        encoder: by default "micro".
        rows: a corpus with the method's columns, a dozen rows; the first half is the batch. By default the world's.

    >>> from cselab.methods import create_method
    >>> touches(create_method("simcse"))
    {}
    >>> touches(create_method("whitenedcse"))
    {'view': '3 views', 'head': 'whitened head', 'loss': 'multi positive InfoNCE'}
    """
    from cselab.world import World

    encoder = SentenceEncoder.from_pretrained("micro") if encoder is None else encoder.copy()
    rows = World(0).rows(method.columns, ROWS) if rows is None else rows
    batch = rows[: len(rows) // 2]
    watched = _Watched(encoder, _texts(rows), _texts(batch), method.column(batch, method.columns[0]))
    refused = ""
    try:
        method.prepare(encoder)
    except ValueError as error:  # such as a model without case: what the method does is seen all the same
        refused = str(error).removeprefix(f"{method.name} ").split(", and ")[0]
    with torch.random.fork_rng(devices=[]):
        encoder.attach_head(method.build(encoder, rows, torch.Generator().manual_seed(0)))
        encoder.train()
        views = method.views(watched, batch)
        terms = method.loss(views).terms
    by_stage = {
        "data": [f"rows of {', '.join(method.columns)}"] if method.columns != ("sentence",) else [],
        "view": watched.views(),
        "encoder": [refused] * bool(refused) + _networks(method, watched),
        "head": _head(encoder.head) + _weights(method),
        "loss": _contrast(views, terms),
    }
    if watched.seen.retrieved:
        by_stage["data"].append("sentences retrieved from the corpus")
    return {stage: "; ".join(dict.fromkeys(words)) for stage, words in by_stage.items() if words}


def _texts(rows: Sequence[Any]) -> list[str]:
    return [text for row in rows for text in ((row,) if isinstance(row, str) else row)]


@dataclass
class _Seen:
    """What was noticed while a method made its views."""

    words: list[str] = field(default_factory=list)
    plain: int = 0  # views of the sentences as they stand, with dropout, by the encoder in training
    retrieved: bool = False  # sentences of the corpus that are not in the batch


class _Watched(Encode):
    """The trainer's encode, which notices what differs from two views of the batch."""

    def __init__(
        self, encoder: SentenceEncoder, corpus: Sequence[str], batch: Sequence[str], sentences: Sequence[str]
    ) -> None:
        super().__init__(encoder, LENGTH)
        self.corpus, self.batch, self.sentences = set(corpus), set(batch), set(sentences)
        self.known = {row for text in self.corpus for row in _rows(encoder.tokenize([text], LENGTH))}
        self.seen = _Seen()
        self.rates = self._rates()

    def _rates(self) -> set[float]:
        return set(dropout_places(self.encoder.backbone).values())

    def __call__(self, *views: Any, dropout: bool = True, head: bool = True, by: Any = None) -> Any:
        for view in views:
            words = list(self._change(view))
            if not dropout:
                words.append("without dropout")
            elif self._rates() != self.rates:
                words.append("another rate of dropout")
            self.seen.words += words
            own = isinstance(view, Mapping) or set(view) <= self.sentences
            self.seen.plain += own and not words and by is None
        return super().__call__(*views, dropout=dropout, head=head, by=by)

    def _change(self, view: Any) -> Iterable[str]:
        if not isinstance(view, Mapping):
            if not set(view) <= self.corpus:
                yield "changed texts"
            self.seen.retrieved |= set(view) <= self.corpus and not set(view) <= self.batch
        elif {"inputs_embeds", "embedding_mask"} & set(view):
            yield "changed input vectors"
        elif "position_ids" in view:
            yield "changed positions"
        elif not set(_rows(view)) <= self.known:
            yield "changed tokens"

    def views(self) -> list[str]:
        """In words; two views are what SimCSE has."""
        if self.encoder.template is not None:
            return ["a prompt around the text"]
        return self.seen.words + ([f"{self.seen.plain} views"] if self.seen.plain > 2 else [])


def _rows(tokens: Mapping[str, Any]) -> list[tuple[int, ...]]:
    return [
        tuple(row[seen.bool()].tolist())
        for row, seen in zip(tokens["input_ids"], tokens["attention_mask"], strict=True)
    ]


def _networks(method: Method, watched: _Watched) -> list[str]:
    from transformers import PreTrainedModel

    encoder = watched.encoder
    own = [part for part in method.modules() if isinstance(part, SentenceEncoder | PreTrainedModel)]
    words = ["a second network"] if own else []
    if encoder.prefix is not None:
        words.append("a learnt prefix")
    if not any(weight.requires_grad for weight in encoder.backbone.parameters()):
        words.append("the backbone frozen")
    if encoder.template is not None:
        words.append("the vector of a prompt's [MASK]")
    return words


def _head(head: nn.Module | None) -> list[str]:
    if isinstance(head, MLPHead):
        return []
    if head is None:
        return ["none"]
    name = type(head).__name__
    return ["".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).strip()]


def _words(term: str) -> str:
    """The name of a term of a loss, as it is written in a text."""
    return term.replace("info_nce", "InfoNCE").replace("nt_xent", "NT-Xent").replace("_", " ")


def _weights(method: Method) -> list[str]:
    """Whether the method learns weights that belong to no network of its own."""
    from transformers import PreTrainedModel

    networks = (part for part in method.modules() if isinstance(part, SentenceEncoder | PreTrainedModel))
    theirs = {id(weight) for part in networks for weight in part.parameters()}
    own = [weight for weight in method.parameters() if weight.requires_grad and id(weight) not in theirs]
    return ["weights of its own"] if own else []


def _contrast(views: Views, terms: Mapping[str, Any]) -> list[str]:
    words = [_words(name) for name in terms if name != "info_nce"]
    if views.negatives is not None:
        words.append("further negatives")
    if views.log_weights is not None:
        words.append("weighted negatives")
    return words
