import pytest
import torch
from tiny import make_encoder

from cselab.losses import focal_info_nce
from cselab.methods import Focal


@pytest.mark.parametrize(
    ("family", "variant", "temperature"),
    [
        ("bert", "default", 0.07),
        ("roberta", "default", 0.05),
        ("bert", "paper", 0.07),
        ("roberta", "released", 0.05),
        ("bert", "printed", 0.7),
        ("roberta", "printed", 0.5),
    ],
)
def test_the_temperature_follows_the_encoder_s_family(family, variant, temperature):
    method = Focal(variant=variant)
    method.prepare(make_encoder(family, layers=1))
    assert method.temperature == pytest.approx(temperature)


def test_a_temperature_that_was_given_stays():
    method = Focal(temperature=0.2)
    method.prepare(make_encoder("roberta", layers=1))
    assert method.temperature == 0.2


@pytest.mark.parametrize("detach", [False, True])
def test_the_loss_is_that_of_two_dropout_views(detach, table, batch):
    method = Focal(m=0.2, detach=detach)
    encode = table(method)
    loss = method.loss(method.views(encode, batch))
    encode.replay()
    first, second = encode(batch), encode(batch)
    torch.testing.assert_close(loss.total, focal_info_nce(first, second, 0.07, 0.2).total)
    gradient = torch.autograd.grad(loss.total, encode.vectors, retain_graph=True)[0]
    by_hand = focal_info_nce(first, second, 0.07, 0.2, detach=detach).total
    torch.testing.assert_close(gradient, torch.autograd.grad(by_hand, encode.vectors)[0])
