import pytest
import torch
from tiny import make_encoder

from cselab.losses import decoupled_info_nce
from cselab.methods import Noise


def decoupled(positive_pair, negative_pair, temperature):
    return decoupled_info_nce(tuple(positive_pair), tuple(negative_pair), temperature).total.item()


@pytest.mark.parametrize("on", ["positives", "negatives"])
def test_less_noise_is_the_mean_of_disjoint_dropout_views_on_one_kind_of_pair(on, table, batch):
    method = Noise(on=on, mean_of=3, temperature=0.2)
    encode = table(method)
    loss = method.loss(method.views(encode, batch)).total.item()
    encode.replay()
    passes = [encode(batch).detach() for _ in range(6)]
    plain = passes[:2]
    quiet = [sum(passes[0::2]) / 3, sum(passes[1::2]) / 3]
    pairs = (quiet, plain) if on == "positives" else (plain, quiet)
    assert loss == pytest.approx(decoupled(*pairs, 0.2), rel=1e-5)
    assert loss != pytest.approx(decoupled(*pairs[::-1], 0.2), rel=1e-3)


@pytest.mark.parametrize("on", ["positives", "negatives"])
def test_more_noise_is_gaussian_of_the_variance_on_one_kind_of_pair(on, table, batch):
    method = Noise(on=on, variance=0.25, temperature=0.2)
    encode = table(method)
    views = method.views(encode, batch)
    loss = method.loss(views).total.item()
    encode.replay()
    plain = [encode(batch).detach() for _ in range(2)]
    method.seed(0)
    noisy = [view + 0.5 * torch.randn(view.shape, generator=method.generator) for view in plain]
    pairs = (noisy, plain) if on == "positives" else (plain, noisy)
    assert loss == pytest.approx(decoupled(*pairs, 0.2), rel=1e-5)
    assert all(map(torch.equal, (views.anchor, views.positive), pairs[0]))


def test_without_noise_it_is_refused():
    with pytest.raises(ValueError, match=r"would train plain SimCSE: give variance \(\+noise.*or mean_of"):
        Noise().prepare(make_encoder(layers=1))
