"""Contrastive Tension: two encoders that start equal and are both trained."""

from math import exp, log

import pytest
import torch
from tiny import make_encoder, make_sentences

from cselab.methods import CT, Views
from cselab.training import TrainConfig, train

BATCH = make_sentences(10)


def test_the_two_encoders_start_equal_and_read_without_dropout(spied):
    method = CT()
    encode, _ = spied(method, dropout=0.5)
    views = method.views(encode, BATCH)
    torch.testing.assert_close(views.anchor, views.positive)
    assert [options["dropout"] for _, options in encode.calls] == [False, False]


@pytest.mark.parametrize("negatives", [3, 7, 50])
def test_the_loss_agrees_with_loops(negatives):
    one, two = (torch.randn(10, 4, generator=torch.Generator().manual_seed(seed)) for seed in (0, 1))
    rows = []
    for i in range(10):
        for shift in range(min(negatives, 9) + 1):
            dot = float(one[i] @ two[(i + shift) % 10])
            rows.append(log(1 + exp(-dot if shift == 0 else dot)))
    found = CT(negatives=negatives).loss(Views(one, two)).floats()
    assert found == {"tension": pytest.approx(sum(rows) / len(rows), rel=1e-5)}


def test_in_batch_negatives_are_contrasted_in_both_directions():
    one, two = (torch.randn(6, 4, generator=torch.Generator().manual_seed(seed)) for seed in (0, 1))
    rows = []
    for i in range(6):
        for start, others in ((one, two), (two, one)):
            cosines = [float(torch.cosine_similarity(start[i], other, dim=0)) / 0.05 for other in others]
            rows.append(log(sum(exp(cosine) for cosine in cosines)) - cosines[i])
    found = CT(variant="in_batch").loss(Views(one, two)).floats()
    assert found == {"info_nce": pytest.approx(sum(rows) / 12, rel=1e-5)}


def test_the_tension_knows_no_temperature():
    views = Views(torch.randn(6, 4), torch.randn(6, 4))
    assert CT(temperature=0.5).loss(views).total == CT().loss(views).total


def test_both_encoders_learn_and_drift_apart():
    encoder = make_encoder(layers=1)
    start = encoder.backbone.embeddings.word_embeddings.weight.detach().clone()
    config = TrainConfig(steps=3, batch_size=8, lr=1e-3, precision="fp32")
    run = train(encoder, CT(), make_sentences(24), config, show_progress_bar=False)
    kept = run.encoder.backbone.embeddings.word_embeddings.weight
    other = run.method.other.backbone.embeddings.word_embeddings.weight
    assert not torch.equal(kept, start) and not torch.equal(other, start) and not torch.equal(kept, other)
    assert run.encoder.head is None
