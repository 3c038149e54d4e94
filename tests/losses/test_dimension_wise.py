from math import exp, log, sqrt

import pytest
import torch

from cselab.losses import barlow_twins, cross_correlation, dimension_contrastive


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_dimension_contrastive_agrees_with_loops(make_views, reduction):
    views, rows, width, temperature = make_views(), 6, 5, 2.0
    columns = []
    for view in views:
        standardised = []
        for c in range(width):
            values = view[:, c].tolist()
            mean = sum(values) / rows
            divisor = rows if reduction == "mean" else rows - 1
            variance = sum((value - mean) ** 2 for value in values) / divisor
            standardised.append([(value - mean) / sqrt(variance + 1e-5) for value in values])
        columns.append(standardised)
    losses = []
    for c in range(width):
        similarities = []
        for d in range(width):
            dot = sum(a * b for a, b in zip(columns[0][c], columns[1][d], strict=True))
            similarities.append(dot / (rows * temperature if reduction == "mean" else temperature))
        losses.append(-log(exp(similarities[c]) / sum(exp(s) for s in similarities)))
    expected = sum(losses) / width if reduction == "mean" else sum(losses)
    loss = dimension_contrastive(*views, temperature, reduction)
    assert loss.floats() == {"dimension_contrastive": pytest.approx(expected, abs=1e-10)}


def test_a_dead_dimension_gives_no_nan(make_views):
    for reduction in ("mean", "sum"):
        view1, view2 = make_views()
        view1[:, 2] = 0.0
        view1.requires_grad_()
        loss = dimension_contrastive(view1, view2, 5.0, reduction).total
        assert loss.isfinite()
        assert torch.autograd.grad(loss, view1)[0].isfinite().all()


def correlation_by_loops(view1, view2):
    rows, width = view1.shape
    return [
        [
            sum(view1[i, c].item() * view2[i, d].item() for i in range(rows))
            / sqrt(sum(view1[i, c].item() ** 2 for i in range(rows)))
            / sqrt(sum(view2[i, d].item() ** 2 for i in range(rows)))
            for d in range(width)
        ]
        for c in range(width)
    ]


@pytest.mark.parametrize("extra", ["none", "shared", "independent"])
def test_barlow_twins_agrees_with_loops(make_views, extra):
    view1, view2 = make_views()
    rows1, rows2 = make_views(rows=3, seed=1)
    given, stacked = {
        "none": (None, (view1, view2)),
        "shared": (rows1, (torch.cat([view1, rows1]), torch.cat([view2, rows1]))),
        "independent": ((rows1, rows2), (torch.cat([view1, rows1]), torch.cat([view2, rows2]))),
    }[extra]
    correlation = correlation_by_loops(*stacked)
    invariance = sum((1 - correlation[c][c]) ** 2 for c in range(5))
    redundancy = 0.3 * sum(correlation[c][d] ** 2 for c in range(5) for d in range(5) if d != c)
    assert barlow_twins(view1, view2, 0.3, given).floats() == {
        "invariance": pytest.approx(invariance, abs=1e-10),
        "redundancy": pytest.approx(redundancy, abs=1e-10),
    }
    torch.testing.assert_close(cross_correlation(*stacked), torch.tensor(correlation, dtype=torch.float64))
