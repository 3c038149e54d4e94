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


def test_the_released_scale_is_batch_norm_and_a_mean_cross_entropy(make_views):
    view1, view2 = make_views(rows=9)
    norm = torch.nn.BatchNorm1d(5, affine=False, dtype=torch.float64)
    logits = norm(view1).T @ norm(view2) / 9 / 5.0
    expected = torch.nn.functional.cross_entropy(logits, torch.arange(5))
    torch.testing.assert_close(dimension_contrastive(view1, view2, 5.0).total, expected, rtol=0, atol=1e-12)


def test_the_scales_convert_into_each_other(make_views):
    rows, width = 40, 5
    view1, view2 = make_views(rows=rows, width=width)
    released = dimension_contrastive(view1, view2, 5.0).total
    paper = dimension_contrastive(view1, view2, (rows - 1) * 5.0, "sum").total / width
    torch.testing.assert_close(paper, released, rtol=1e-7, atol=0)
    nearly = dimension_contrastive(view1, view2, rows * 5.0, "sum").total / width
    torch.testing.assert_close(nearly, released, rtol=1 / rows, atol=0)  # but for the variance's divisor


def test_uncorrelated_dimensions_have_a_closed_form():
    view = torch.tensor([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=torch.float64)
    released, paper = (dimension_contrastive(view, view, 2.0, reduction).total.item() for reduction in ("mean", "sum"))
    assert released == pytest.approx(log(1 + 2 * exp(-1 / 2)), rel=1e-5)
    assert paper == pytest.approx(3 * log(1 + 2 * exp(-3 / 2)), rel=1e-5)


def test_dimensions_that_are_all_the_same_cost_log_d():
    view = torch.tensor([[1.0], [2.0], [4.0]]).expand(3, 6)
    assert dimension_contrastive(view, view, 5.0).total.item() == pytest.approx(log(6))


def test_location_and_scale_of_a_dimension_do_not_matter_to_the_contrast(make_views):
    view1, view2 = make_views()
    moved = view2 * torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0]) + torch.arange(5)
    for reduction in ("mean", "sum"):
        before, after = (dimension_contrastive(view1, view, 5.0, reduction).total for view in (view2, moved))
        torch.testing.assert_close(after, before, rtol=1e-4, atol=0)


def test_a_dead_dimension_gives_no_nan(make_views):
    for reduction in ("mean", "sum"):
        view1, view2 = make_views()
        view1[:, 2] = 0.0
        view1.requires_grad_()
        loss = dimension_contrastive(view1, view2, 5.0, reduction).total
        assert loss.isfinite()
        assert torch.autograd.grad(loss, view1)[0].isfinite().all()


def test_a_single_dimension_has_nothing_to_be_contrasted_with():
    with pytest.raises(ValueError, match="single dimension"):
        dimension_contrastive(torch.ones(4, 1), torch.ones(4, 1), 5.0)


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


def test_the_correlation_is_not_centred_but_free_of_scale(make_views):
    view1, view2 = make_views()
    loss = barlow_twins(view1, view2, 0.1).total
    torch.testing.assert_close(barlow_twins(view1 * torch.arange(1, 6), view2 / 7, 0.1).total, loss)
    assert not torch.isclose(barlow_twins(view1 + 1, view2 + 1, 0.1).total, loss)


def test_the_rank_of_the_correlation_is_bounded_by_the_rows_and_extra_rows_lift_it(make_views):
    view1, view2 = make_views(rows=4, width=12)
    extra = make_views(count=1, rows=5, width=12, seed=1)[0]
    assert torch.linalg.matrix_rank(cross_correlation(view1, view2)) == 4
    lifted = cross_correlation(torch.cat([view1, extra]), torch.cat([view2, extra]))
    assert torch.linalg.matrix_rank(lifted) == 9


def test_the_rank_bottleneck_has_a_closed_form():
    """N orthogonal sentences leave d - N dimensions at 0; each artificial row repairs one."""
    basis = torch.eye(8, dtype=torch.float64)
    for extra in range(7):
        loss = barlow_twins(basis[:2], basis[:2], 0.5, basis[2 : 2 + extra])
        assert loss.floats() == {"invariance": pytest.approx(6 - extra), "redundancy": 0.0}


def test_shared_rows_reward_the_diagonal_and_independent_rows_blur_it(make_views):
    view1, view2 = make_views(rows=8, width=6)
    rows1, rows2 = torch.randn(2, 400, 6, generator=torch.Generator().manual_seed(2)).double()
    plain = barlow_twins(view1, view2, 0.1).terms["invariance"]
    assert barlow_twins(view1, view2, 0.1, rows1).terms["invariance"] < plain
    assert barlow_twins(view1, view2, 0.1, (rows1, rows2)).terms["invariance"] > plain


def test_extra_rows_are_constants_unless_they_ask_for_a_gradient(make_views):
    view1, view2 = (view.requires_grad_() for view in make_views())
    extra = make_views(count=1, rows=3, seed=1)[0]
    barlow_twins(view1, view2, 0.1, extra).total.backward()
    assert extra.grad is None
    assert view1.grad.shape == view1.shape


def test_extra_rows_of_another_width_or_number_are_refused(make_views, unchecked_annotations):
    view1, view2 = make_views()
    with pytest.raises(ValueError, match=r"extra_rows has shapes .*both must be \[M, 5\]"):
        barlow_twins(view1, view2, 0.1, torch.ones(3, 4))
    with pytest.raises(ValueError, match=r"\[3, 5\] and \[2, 5\].*same M"):
        barlow_twins(view1, view2, 0.1, (torch.ones(3, 5), torch.ones(2, 5)))


def test_a_negative_weight_is_refused(make_views):
    with pytest.raises(ValueError, match="weight is -1"):
        barlow_twins(*make_views(), -1.0)
