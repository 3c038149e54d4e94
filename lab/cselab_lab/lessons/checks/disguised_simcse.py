"""Stages for an exercise that explores: a method, set so that it is SimCSE in all but its name: (name, settings)."""

from typing import Any

import torch

from cselab.encoders.encoding import Encode
from cselab.losses import info_nce
from cselab.methods import Method, SimCSE, create_method
from cselab_lab.lessons.checks.plain import plain, rows
from cselab_lab.lessons.exercises import Stage

ROWS = 8


def _gradients(method: Method, batch: Any) -> tuple[Any, torch.Tensor]:
    """The views of a batch, and the gradient that its loss sends into the encoder."""
    encoder = plain("micro").copy()
    method.prepare(encoder)
    encoder.attach_head(method.build(encoder, batch, torch.Generator().manual_seed(0)))
    with torch.random.fork_rng(devices=[]):
        method.seed(0)
        encoder.backbone.eval()  # no dropout: which masks are drawn is no difference between methods
        v = method.views(Encode(encoder, 32), batch)
        method.loss(v).total.backward()
    weights = [weight for weight in encoder.backbone.parameters() if weight.grad is not None]
    return v, torch.cat([weight.grad.flatten() for weight in weights])


def _made(answer: Any) -> Method:
    name, knobs = answer
    return create_method(name, **knobs)


def _same_loss(answer: Any) -> bool:
    method = _made(answer)
    v, _ = _gradients(method, rows(method.columns, ROWS))
    return torch.allclose(method.loss(v).total, info_nce(v.anchor, v.positive, 0.05).total, rtol=1e-4, atol=1e-6)


def _same_gradient(answer: Any) -> bool:
    method = _made(answer)
    batch = rows(method.columns, ROWS)
    mine, simcse = _gradients(method, batch)[1], _gradients(SimCSE(), method.column(batch, "sentence"))[1]
    return mine.shape == simcse.shape and torch.allclose(mine, simcse, rtol=1e-3, atol=1e-6)


STAGES = [
    Stage(
        "it is a name and settings that the method has",
        lambda answer: isinstance(_made(answer), Method),
        'a pair: ("name", {"knob": value}).',
    ),
    Stage(
        "it is not SimCSE by name",
        lambda answer: not isinstance(_made(answer), SimCSE),
        "take another method; the knobs of each are in its help: `cselab methods NAME`.",
    ),
    Stage(
        "its loss of a batch is SimCSE's",
        _same_loss,
        "which terms does its card name? Turn their weight, their number or their share to what leaves nothing over; "
        "the temperature must be 0.05, too.",
    ),
    Stage(
        "the encoder learns from it what it learns from SimCSE",
        _same_gradient,
        "the loss is right for its own vectors, but the vectors are others: its views, its head or what is encoded "
        "beside them differ from SimCSE's.",
    ),
]
