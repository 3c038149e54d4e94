"""Two encoders for methods: a table whose vectors are known, and the trainer's own on a tiny BERT."""

import pytest
import torch
from tiny import family_for, make_encoder, make_rows, make_sentences, seeded
from torch import nn

from cselab.encoders.training_forward import Encode
from cselab.methods import Setup

BATCH = make_sentences(12)


class Table(nn.Module, Encode):
    """Stands in for the trainer's `encode`: each sentence has a vector, and dropout adds noise to it.

    The vectors share a direction, as those of a plain BERT do.
    """

    def __init__(self, head: nn.Module | None, width: int = 8, noise: float = 0.3):
        super().__init__()
        generator = seeded()
        self.vectors = nn.Parameter(1 + torch.randn(len(BATCH), width, generator=generator))
        self.own_head, self.noise = head, noise
        self.generator = torch.Generator()
        self.replay()

    @property
    def head(self):
        return self.own_head

    def replay(self):
        """Give the same noise again."""
        self.generator.manual_seed(1)

    def forward(self, *batches, dropout=True, head=True, by=None):
        views = []
        for batch in batches:
            rows = self.vectors[[BATCH.index(sentence) for sentence in batch]]
            noise = torch.randn(rows.shape, generator=self.generator) if dropout else 0
            view = rows + self.noise * noise
            views.append(self.head(view) if head and self.head is not None else view)
        return views if len(batches) > 1 else views[0]


@pytest.fixture
def batch():
    return list(BATCH)


@pytest.fixture
def table():
    """`table(method)`: the known encoder with the method's own head, the method prepared and seeded."""

    def make(method, **options):
        tiny = make_encoder(layers=1)
        method.prepare(tiny)
        method.seed(0)
        return Table(method.build(Setup(tiny, BATCH)), **options)

    return make


@pytest.fixture
def trainer():
    """`trainer(method, family)`: the trainer's encode on a tiny encoder in training mode, and that encoder."""

    def make(method, family=None, dropout=0.5):
        encoder = make_encoder(family or family_for(method), layers=1, dropout=dropout)
        method.prepare(encoder)
        method.seed(0)
        rows = make_rows(method.columns, 12)
        encoder.attach_head(method.build(Setup(encoder, rows)))
        encoder.train()
        method.train()
        torch.manual_seed(0)
        return Encode(encoder, 32), encoder

    return make


@pytest.fixture
def forward_rows(monkeypatch):
    """`forward_rows(encoder)`: a list that gets (rows, dropout on) of each forward pass of its backbone."""

    def watch(encoder):
        passes = []
        forward = encoder.backbone.forward

        def spy(input_ids, **others):
            passes.append((len(input_ids), encoder.backbone.training))
            return forward(input_ids=input_ids, **others)

        monkeypatch.setattr(encoder.backbone, "forward", spy)
        return passes

    return watch


class Spy(Encode):
    """An `encode` that remembers what it was called with: pairs of the views and the options."""

    def __init__(self, encode):
        self.encode, self.calls = encode, []

    def __call__(self, *views, **options):
        self.calls.append((views, options))
        return self.encode(*views, **options)

    def __getattr__(self, name):
        return getattr(self.encode, name)


@pytest.fixture
def viewed(spied):
    """`viewed(method, batch)`: its views, the trainer's encode, which remembers its calls, and its encoder."""

    def make(method, batch, family=None, dropout=0.0):
        encode, encoder = spied(method, family, dropout)
        return method.views(encode, batch), encode, encoder

    return make


@pytest.fixture
def spied(trainer):
    """`spied(method)`: the trainer's encode, which remembers its calls in `calls`, and its encoder."""

    def make(method, family=None, dropout=0.1):
        encode, encoder = trainer(method, family, dropout=dropout)
        return Spy(encode), encoder

    return make
