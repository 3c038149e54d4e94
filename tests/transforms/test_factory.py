import numpy as np
import pytest
from drawn import cone

from cselab.transforms import NAMES, BertFlow, BertWhitening, ComponentsRemoved, fit


@pytest.mark.parametrize(
    "name, alone",
    [
        ("centred", ComponentsRemoved(0)),
        ("without 3", ComponentsRemoved(3)),
        ("whitening", BertWhitening()),
        ("flow", BertFlow()),
    ],
)
def test_a_name_gives_what_the_class_gives(name, alone):
    train, test = cone(60, 8).astype(np.float32), cone(5, 8, seed=1).astype(np.float32)
    by_name = fit(name, train)
    assert type(by_name) is type(alone)
    np.testing.assert_array_equal(by_name.transform(test), alone.fit(train).transform(test))


def test_every_name_that_is_told_is_known():
    for name in NAMES:
        assert fit(name.replace("K", "2"), cone(60, 8)).transform(cone(5, 8)).shape[0] == 5


def test_whitening_keeps_what_the_vectors_span():
    flat = cone(60, 8)
    flat -= flat.mean(axis=1, keepdims=True)  # as a layer norm does
    assert fit("whitening", flat).transform(flat).shape == (60, 7)
