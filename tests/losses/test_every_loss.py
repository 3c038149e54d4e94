"""What all losses have in common. A new loss joins by a line in LOSSES."""

from functools import partial

import pytest
import torch
from torch.nn.functional import cosine_similarity

from cselab import losses


def on_all(function, /, **options):
    """A loss of two views, called with a list of views."""
    return lambda views: function(*views, **options)


LOSSES = {  # name -> (number of views, a function of the list of views)
    "info_nce": (2, on_all(losses.info_nce, temperature=0.1)),
    "decoupled": (4, lambda v: losses.decoupled_info_nce((v[0], v[1]), (v[2], v[3]), 0.1, m=0.8)),
    "decoupled, m on the positive": (
        4,
        lambda v: losses.decoupled_info_nce((v[0], v[1]), (v[2], v[3]), 0.1, m=0.8, m_on="positive"),
    ),
    "off_dropout": (3, on_all(losses.off_dropout_info_nce, temperature=0.1, m=0.9)),
    "multi_positive, outside": (3, lambda v: losses.multi_positive_info_nce(v[0], v[1:], 0.1)),
    "multi_positive, inside": (3, lambda v: losses.multi_positive_info_nce(v[0], v[1:], 0.1, "inside")),
    "nt_xent": (2, on_all(losses.nt_xent, temperature=0.1)),
    "debiased": (2, on_all(losses.debiased_info_nce, temperature=0.5, prior=0.1)),
    "sup_con, own classes": (2, lambda v: losses.sup_con(*v, torch.arange(len(v[0])), 0.1)),
    "pair_margin": (2, lambda v: losses.pair_margin(*v, torch.ones(len(v[0])).bool(), 1.0)),
    "triplet": (3, lambda v: losses.triplet(v[0], v[1], -v[2], 90.0)),
    "triplet, cosine": (3, lambda v: losses.triplet(v[0], v[1], -v[2], 2.5, "cosine")),
    "n_pair": (2, on_all(losses.n_pair)),
    "focal": (2, on_all(losses.focal_info_nce, temperature=0.1, m=0.3)),
    "focal, detached": (2, on_all(losses.focal_info_nce, temperature=0.1, m=0.3, detach=True)),
    "arc_con": (2, on_all(losses.arc_con, temperature=0.1, margin=0.2)),
    "dimension_contrastive, released": (2, on_all(losses.dimension_contrastive, temperature=0.5)),
    "dimension_contrastive, paper": (2, on_all(losses.dimension_contrastive, temperature=5.0, reduction="sum")),
    "barlow_twins": (2, on_all(losses.barlow_twins, weight=0.012)),
}
PRINTED = (3, lambda v: losses.multi_positive_info_nce(v[0], v[1:], 0.1, "inside_printed"))
BETWEEN_DIMENSIONS = ("dimension_contrastive, released", "dimension_contrastive, paper", "barlow_twins")
OF_LENGTHS = ("pair_margin", "triplet", "n_pair")  # distances and dot products

every_loss = pytest.mark.parametrize(("count", "loss"), [*LOSSES.values(), PRINTED], ids=[*LOSSES, "printed"])
pulling_losses = pytest.mark.parametrize(("count", "loss"), LOSSES.values(), ids=LOSSES)
cosine_losses = pytest.mark.parametrize(
    ("count", "loss"),
    [each for name, each in LOSSES.items() if name not in BETWEEN_DIMENSIONS + OF_LENGTHS] + [PRINTED],
    ids=[name for name in LOSSES if name not in BETWEEN_DIMENSIONS + OF_LENGTHS] + ["printed"],
)
half_types = pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])


@pytest.mark.parametrize(
    ("count", "loss"),
    [each for name, each in LOSSES.items() if name != "focal, detached"] + [PRINTED],  # see test_focal.py
    ids=[name for name in LOSSES if name != "focal, detached"] + ["printed"],
)
def test_the_gradient_is_the_derivative_of_the_value(make_views, count, loss):
    views = [view.requires_grad_() for view in make_views(count, rows=4, width=3)]
    assert torch.autograd.gradcheck(lambda *views: loss(list(views)).total, views)


@pulling_losses
def test_a_small_step_down_pulls_positives_together(make_views, count, loss):
    views = [view.requires_grad_() for view in make_views(count, rows=16, width=12)]
    gradients = torch.autograd.grad(loss(views).total, views)
    step = 1e-3 / torch.cat(gradients).norm()
    stepped = [view - step * gradient for view, gradient in zip(views, gradients, strict=True)]
    before, after = (cosine_similarity(pair[0], pair[1]).mean() for pair in (views, stepped))
    assert after > before + 1e-6
    assert loss(stepped).total < loss(views).total


@every_loss
def test_the_order_of_the_sentences_does_not_matter(make_views, count, loss):
    views = make_views(count)
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    torch.testing.assert_close(loss([view[order] for view in views]).total, loss(views).total)


@every_loss
def test_the_order_of_the_features_does_not_matter(make_views, count, loss):
    views = make_views(count)
    order = torch.tensor([3, 0, 4, 1, 2])
    torch.testing.assert_close(loss([view[:, order] for view in views]).total, loss(views).total)


@cosine_losses
def test_the_lengths_of_the_rows_do_not_matter(make_views, count, loss):
    views = make_views(count)
    lengths = torch.arange(1, 7)[:, None] / 2
    torch.testing.assert_close(loss([views[0] * lengths, *views[1:]]).total, loss(views).total)


@cosine_losses
def test_a_rotation_of_the_space_does_not_matter(make_views, count, loss):
    views = make_views(count)
    rotation = torch.linalg.qr(make_views(count=1, rows=5, seed=3)[0])[0]
    torch.testing.assert_close(loss([view @ rotation for view in views]).total, loss(views).total)


@every_loss
def test_a_row_of_zeros_gives_finite_values_and_gradients(make_views, count, loss):
    views = [view.float() for view in make_views(count)]
    for view in views:
        view[2] = 0.0
        view.requires_grad_()
    total = loss(views).total
    assert total.isfinite()
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(total, views))


@every_loss
def test_the_result_has_the_precision_of_the_views(make_views, count, loss):
    views = make_views(count)
    assert loss(views).total.dtype == torch.float64
    single = loss([view.float() for view in views]).total
    assert single.dtype == torch.float32
    torch.testing.assert_close(single.double(), loss(views).total, rtol=1e-4, atol=1e-5)


@half_types
@every_loss
def test_autocast_costs_no_precision(make_views, count, loss, dtype):
    views = [view.float() for view in make_views(count, rows=8, width=16)]
    exact = loss(views).total
    with torch.autocast("cpu", dtype=dtype):
        under_autocast = loss(views).total
    assert under_autocast.dtype == torch.float32
    torch.testing.assert_close(under_autocast, exact, rtol=1e-6, atol=1e-6)


@half_types
@every_loss
def test_half_precision_views_are_computed_on_in_single_precision(make_views, count, loss, dtype):
    views = [view.to(dtype).requires_grad_() for view in make_views(count, rows=8, width=16)]
    total = loss(views).total
    assert total.dtype == torch.float32
    assert total == loss([view.float() for view in views]).total
    for gradient in torch.autograd.grad(total, views):
        assert gradient.dtype == dtype
        assert gradient.isfinite().all()


@every_loss
def test_a_view_in_half_and_one_in_single_precision_go_together(make_views, count, loss):
    views = [view.float() for view in make_views(count)]
    views[0] = views[0].bfloat16()
    assert loss(views).total == loss([views[0].float(), *views[1:]]).total


@every_loss
def test_no_loss_draws_random_numbers(make_views, count, loss):
    before = torch.get_rng_state()
    loss(make_views(count))
    assert torch.equal(torch.get_rng_state(), before)


@every_loss
def test_the_total_is_the_sum_of_named_terms(make_views, count, loss):
    result = loss(make_views(count))
    assert all(term.ndim == 0 for term in result.terms.values())
    assert result.total.item() == pytest.approx(sum(result.floats().values()))


@every_loss
def test_views_of_different_shapes_are_refused(make_views, unchecked_annotations, count, loss):
    views = make_views(count)
    with pytest.raises(ValueError, match=r"has shape \[6, 4\] but .* has \[6, 5\].*same shape \[N, d\]"):
        loss([*views[:-1], views[-1][:, :4]])


@every_loss
def test_a_batch_of_one_is_refused_with_what_to_do(make_views, count, loss):
    with pytest.raises(ValueError, match=r"has 1 row.*at least two sentences.*raise the batch size"):
        loss(make_views(count, rows=1))


@every_loss
def test_what_is_not_a_matrix_of_floats_is_refused(make_views, unchecked_annotations, count, loss):
    views = make_views(count)
    with pytest.raises(ValueError, match=r"has shape \[6, 5, 1\]; a view is \[N, d\]"):
        loss([view[..., None] for view in views])
    with pytest.raises(TypeError, match=r"is a tensor of torch.int64.*floating-point"):
        loss([view.long() for view in views])
    with pytest.raises(TypeError, match=r"is a ndarray.*torch tensor of shape \[N, d\]"):
        loss([view.numpy() for view in views])


def two(function, /, **options):
    return partial(function, torch.eye(3), torch.eye(3), **options)


@pytest.mark.parametrize("temperature", [0.0, -0.05, float("nan"), float("inf")])
@pytest.mark.parametrize(
    "call",
    [
        two(losses.info_nce),
        partial(losses.decoupled_info_nce, (torch.eye(3),) * 2, (torch.eye(3),) * 2),
        two(losses.off_dropout_info_nce, clean=torch.eye(3), m=0.9),
        partial(losses.multi_positive_info_nce, torch.eye(3), [torch.eye(3)]),
        two(losses.focal_info_nce, m=0.3),
        two(losses.arc_con, margin=0.1),
        two(losses.dimension_contrastive),
        two(losses.nt_xent),
        two(losses.debiased_info_nce, prior=0.1),
        two(losses.sup_con, labels=torch.arange(3)),
    ],
    ids=lambda call: call.func.__name__,
)
def test_a_temperature_that_is_not_positive_is_refused(call, temperature):
    with pytest.raises(ValueError, match=r"temperature is .*; it must be a positive, finite number"):
        call(temperature=temperature)


@pytest.mark.parametrize("m", [0.0, -1.0])
def test_an_m_that_is_not_positive_is_refused(m):
    with pytest.raises(ValueError, match=f"m is {m}"):
        losses.off_dropout_info_nce(*[torch.eye(3)] * 3, 0.05, m)


def test_unknown_choices_list_the_allowed(unchecked_annotations):
    views = [torch.eye(3)] * 3
    with pytest.raises(ValueError, match="m_on is 'both'; allowed are 'negatives', 'positive'"):
        losses.off_dropout_info_nce(*views, 0.05, 0.9, m_on="both")
    with pytest.raises(ValueError, match="reduction is 'mean'; allowed are 'outside', 'inside', 'inside_printed'"):
        losses.multi_positive_info_nce(views[0], views[1:], 0.05, reduction="mean")
    with pytest.raises(ValueError, match="reduction is 'code'; allowed are 'mean', 'sum'"):
        losses.dimension_contrastive(*views[:2], 5.0, reduction="code")
