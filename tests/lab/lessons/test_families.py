"""The tiny encoders of lesson 13 are what they say: their families, without dropout, the same each time."""

import numpy as np
import pytest
from cselab_lab.lessons.families import FAMILIES, tiny

SAID = ["The girl hugs the boy.", "A dog barks."]


@pytest.mark.parametrize("family", FAMILIES)
def test_it_is_of_its_family_without_dropout_and_repeatable(family):
    encoder = tiny(family)
    assert type(encoder.backbone).__name__.lower().startswith(family.lower())
    assert encoder.dropout == 0
    assert np.array_equal(encoder.encode(SAID), tiny(family).encode(SAID))
    assert not np.allclose(encoder.encode(SAID), tiny(family, seed=1).encode(SAID))


def test_an_unknown_family_is_refused_with_those_that_are_known():
    with pytest.raises(ValueError, match=r"unknown family 'Mamba'. Choose one of ModernBERT, Qwen3"):
        tiny("Mamba")
