import pytest
from tiny import make_encoder

from cselab.methods import Focal


@pytest.mark.parametrize(
    "family, variant, temperature",
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
