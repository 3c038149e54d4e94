"""PT-BERT, SG-OPT and IS-BERT: what the second network computes, against slow formulas."""

from math import exp, log

import pytest
import torch
from tiny import make_encoder, make_sentences, seeded
from torch.nn.functional import gelu
from torch.testing import assert_close

from cselab.losses import mutual_information
from cselab.methods import ISBERT, PTBERT, SGOPT, Views

BATCH = make_sentences(6)


def test_pseudo_tokens_agree_with_the_formula_row_by_row(viewed):
    method = PTBERT(pseudo_tokens=5, head="none")
    views, _, encoder = viewed(method, BATCH)
    for row, text in enumerate(BATCH):
        states = encoder.backbone(**encoder.tokenize([text])).last_hidden_state[0]
        mixed = (method.pseudo @ states.T / 8**0.5).softmax(1) @ states
        expected = (states[0] @ mixed.T / 8**0.5).softmax(0) @ mixed
        assert_close(views.anchor[row], expected, atol=1e-5, rtol=1e-4)
    assert_close(views.anchor, views.positive)  # nothing was trained, nothing drops out
    assert views.anchor.requires_grad and not views.positive.requires_grad


def test_in_the_released_form_the_pseudo_tokens_do_not_matter(viewed):
    method = PTBERT(variant="released", head="none")
    views, _, encoder = viewed(method, BATCH)
    cls = encoder.backbone(**encoder.tokenize(BATCH)).last_hidden_state[:, 0]
    assert_close(views.anchor, cls)
    (slope,) = torch.autograd.grad(method.loss(views).total, method.pseudo)
    assert slope.abs().max() < 1e-6


def test_the_queue_of_pt_bert_holds_keys(spied):
    method = PTBERT(queue=9)
    encode, _ = spied(method)
    first = method.views(encode, BATCH)
    second = method.views(encode, BATCH[::-1])
    assert len(first.negatives) == 0
    assert_close(second.negatives, first.positive)


def test_sg_opt_agrees_with_loops(cosine):
    generator = seeded()
    anchor, *layers = torch.randn(4, 5, 3, generator=generator, dtype=torch.float64)
    rows = []
    for i in range(5):
        below = sum(exp(cosine(anchor[i], layer[j]) / 0.3) for layer in layers for j in range(5) if j != i)
        for layer in layers:
            own = exp(cosine(anchor[i], layer[i]) / 0.3)
            rows.append(-log(own / (own + below)))
    method = SGOPT(temperature=0.3, weight=0.0)
    found = method.loss(Views(anchor, *layers)).floats()
    assert found == {"self_guided": pytest.approx(sum(rows) / len(rows), rel=1e-6)}


def test_sg_opt_contrasts_a_wide_projection_that_ends_in_gelu(viewed):
    method = SGOPT(projection=11)
    views, _, encoder = viewed(method, BATCH)
    (first, _), (last, _) = encoder.head.dense_layers()
    inside = gelu(encoder.pooled(encoder.tokenize(BATCH)) @ first.weight.T + first.bias)
    assert_close(views.anchor, gelu(inside @ last.weight.T + last.bias), atol=1e-6, rtol=1e-4)
    assert views.anchor.shape == views.positive.shape == (6, 11)


@pytest.fixture
def cosine():
    return lambda u, v: float(torch.cosine_similarity(u, v, dim=0))


def test_the_guides_are_the_mean_of_every_layer_of_a_frozen_copy(viewed):
    method = SGOPT(head="none")
    views, encode, encoder = viewed(method, BATCH, dropout=0.5)
    frozen = make_encoder(layers=1, dropout=0.5)
    assert len(views.positives) == 2
    for pooling, guide in (("emb_last_mean", sum(views.positives) / 2), ("mean", views.positives[1])):
        frozen.pooling = pooling
        assert_close(guide, frozen.pooled(frozen.tokenize(BATCH)).detach(), atol=1e-5, rtol=1e-4)
    assert views.moved == 0
    with torch.no_grad():
        encoder.backbone.encoder.layer[0].output.dense.bias += 2
    assert method.views(encode, BATCH).moved == 8 * 4
    assert not encoder.backbone.embeddings.word_embeddings.weight.requires_grad


def test_is_bert_tells_its_n_grams_from_those_of_others(viewed):
    method = ISBERT()
    views, encode, encoder = viewed(method, BATCH)
    assert_close(views.anchor, encoder.pooled(encoder.tokenize(BATCH)))
    assert [conv.weight.shape for conv in method.grams] == [(4, 8, 1), (2, 8, 3), (2, 8, 5)]
    loss = method.loss(views)
    assert loss.total == mutual_information(views.parts, views.seen, views.anchor).total
    alone = method.views(encode, BATCH[:2]).parts  # another padding
    length = alone.shape[1]
    seen = views.seen[:2, :length, None]
    assert_close(alone * seen, views.parts[:2, :length] * seen, atol=1e-5, rtol=1e-4)
