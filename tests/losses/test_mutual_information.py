from math import exp, log

import pytest
import torch

from cselab.losses import mutual_information


@pytest.fixture
def sentences():
    generator = torch.Generator().manual_seed(0)
    parts = torch.randn(3, 4, 5, generator=generator, dtype=torch.float64)
    seen = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 0]]).bool()
    return parts, seen, torch.randn(3, 5, generator=generator, dtype=torch.float64)


def test_it_agrees_with_loops(sentences):
    parts, seen, whole = sentences
    own, others = [], []
    for j in range(3):
        for a in range(4):
            for i in range(3):
                if seen[j, a]:
                    dot = float(parts[j, a] @ whole[i])
                    (own if i == j else others).append(log(1 + exp(-dot if i == j else dot)))
    expected = sum(own) / len(own) + sum(others) / len(others)
    assert mutual_information(*sentences).floats() == {"mutual_information": pytest.approx(expected)}


def test_padding_counts_nothing_and_the_gradient_is_right(sentences):
    parts, seen, whole = sentences
    changed = parts.masked_fill(~seen[..., None], 99.0)
    assert mutual_information(changed, seen, whole).total == mutual_information(*sentences).total
    inputs = parts.requires_grad_(), whole.requires_grad_()
    assert torch.autograd.gradcheck(lambda p, w: mutual_information(p, seen, w).total, inputs)
