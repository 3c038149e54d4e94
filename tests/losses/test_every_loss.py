"""What all losses have in common. A loss joins by being exported from `cselab.losses`."""

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
import torch
from torch.nn.functional import cosine_similarity
from torch.testing import assert_close

from cselab import losses
from cselab.losses.contrast import l2_normalize

NUMBERS = {
    "temperature": 0.1,
    "m": 0.8,
    "margin": 0.2,
    "prior": 0.1,
    "weight": 0.012,
    "widths": (3, 2),
}  # what a loss must be given
EXPORTED = [getattr(losses, name) for name in losses.__all__ if name.islower()]
EXPORTED = [function for function in EXPORTED if inspect.signature(function).return_annotation is losses.Loss]


@dataclass(frozen=True)
class Case:
    """A loss with some options, called with a list of views; how many and where follows from its annotations."""

    function: Callable[..., losses.Loss]
    options: dict = field(default_factory=dict)
    pulls: bool = True  # a step down brings positives together
    derivative: bool = True  # the gradient is that of the value: nothing is detached

    def __str__(self):
        return ", ".join([self.function.__name__, *(f"{name}={value}" for name, value in self.options.items())])

    @property
    def parameters(self):
        every = inspect.signature(self.function).parameters.items()
        return {name: part for name, part in every if part.default is part.empty}

    @property
    def views(self):
        """How many views [N, d] it takes; parts of a sentence, [N, t, d], are two of them."""
        return sum(map(_views_of, self.parameters.values()))

    def __call__(self, views):
        left, given = list(views), {}
        for name, parameter in self.parameters.items():
            taken, left = left[: _views_of(parameter)], left[_views_of(parameter) :]
            given[name] = _argument(name, parameter, taken, views[0])
        return self.function(**given | self.options)


def _views_of(parameter):
    note = str(parameter.annotation)
    return 0 if "Float" not in note else 2 if "tuple" in note or "Sequence" in note or "t d" in note else 1


def _argument(name, parameter, views, first):
    note = str(parameter.annotation)
    if "Bool" in note:  # pairs of one class; parts that are there
        return torch.ones(len(first), *[2] * ("n t" in note)).bool()
    if "Int[" in note:  # labels, not the interval of a number
        return torch.arange(len(first))
    if "t d" in note:
        return torch.stack(views, dim=1) if isinstance(first, torch.Tensor) else first
    return tuple(views) if len(views) > 1 else views[0] if views else NUMBERS[name]


CASES = [
    *map(Case, EXPORTED),
    Case(losses.decoupled_info_nce, {"m_on": "positive"}),
    Case(losses.multi_positive_info_nce, {"reduction": "inside"}),
    Case(losses.multi_positive_info_nce, {"reduction": "inside_printed"}, pulls=False),
    Case(losses.triplet, {"margin": 2.5}),
    Case(losses.focal_info_nce, {"detach": True}, derivative=False),
    Case(losses.dimension_contrastive, {"reduction": "sum", "temperature": 5.0}),
]


def of_cosines(case):
    """Whether a loss normalises whole vectors with `contrast.py`: lengths and rotations change nothing then."""
    called, generator = set(), torch.Generator().manual_seed(0)
    sys.setprofile(lambda frame, *_: called.add((frame.f_code, frame.f_locals.get("dim"))))
    try:
        case([torch.randn(6, 5, generator=generator) for _ in range(case.views)])
    finally:
        sys.setprofile(None)
    return (inspect.unwrap(l2_normalize).__code__, -1) in called and "widths" not in case.parameters


paired_losses = pytest.mark.parametrize("loss", [case for case in CASES if case.views > 1], ids=str)
every_loss = pytest.mark.parametrize("loss", CASES, ids=str)
cosine_losses = pytest.mark.parametrize("loss", list(filter(of_cosines, CASES)), ids=str)
half_types = pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])


@every_loss
def test_the_gradient_is_the_derivative_of_the_value(make_views, loss):
    views = [view.requires_grad_() for view in make_views(loss.views, rows=4, width=3)]
    same = torch.autograd.gradcheck(lambda *views: loss(list(views)).total, views, raise_exception=loss.derivative)
    assert same == loss.derivative


@paired_losses
def test_a_small_step_down_pulls_positives_together(make_views, loss):
    views = [view.requires_grad_() for view in make_views(loss.views, rows=16, width=12)]
    gradients = torch.autograd.grad(loss(views).total, views)
    step = 1e-3 / torch.cat(gradients).norm()
    stepped = [view - step * gradient for view, gradient in zip(views, gradients, strict=True)]
    before, after = (cosine_similarity(pair[0], pair[1]).mean() for pair in (views, stepped))
    assert (after > before + 1e-6) if loss.pulls else (after < before - 1e-6)
    assert loss(stepped).total < loss(views).total


@every_loss
def test_the_order_of_the_sentences_does_not_matter(make_views, loss):
    views = make_views(loss.views)
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    assert_close(loss([view[order] for view in views]).total, loss(views).total)


@cosine_losses
def test_the_lengths_of_the_rows_do_not_matter(make_views, loss):
    views = make_views(loss.views)
    lengths = torch.arange(1, 7)[:, None] / 2
    assert_close(loss([views[0] * lengths, *views[1:]]).total, loss(views).total)


@cosine_losses
@pytest.mark.parametrize("length", [1e25, 1e-15, 1e-30])
def test_rows_of_any_length_have_the_cosines_of_their_directions(make_views, loss, length):
    views = [view.float() for view in make_views(loss.views)]
    expected = loss(views)
    far = [(view * length).requires_grad_() for view in views]
    assert loss(far).total.item() == pytest.approx(expected.total.item(), rel=1e-5)
    gradients = torch.autograd.grad(loss(far).total, far)
    plain = torch.autograd.grad(loss(views := [view.requires_grad_() for view in views]).total, views)
    for gradient, wanted in zip(gradients, plain, strict=True):
        assert_close(gradient.double() * length, wanted.double(), rtol=1e-3, atol=1e-6)


@cosine_losses
def test_a_rotation_of_the_space_does_not_matter(make_views, loss):
    views = make_views(loss.views)
    rotation = torch.linalg.qr(make_views(count=1, rows=5, seed=3)[0])[0]
    assert_close(loss([view @ rotation for view in views]).total, loss(views).total)


@every_loss
def test_a_row_of_zeros_gives_finite_values_and_gradients(make_views, loss):
    views = [view.float() for view in make_views(loss.views)]
    for view in views:
        view[2] = 0.0
        view.requires_grad_()
    total = loss(views).total
    assert total.isfinite()
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(total, views))


@every_loss
def test_the_result_has_the_precision_of_the_views(make_views, loss):
    views = make_views(loss.views)
    assert loss(views).total.dtype == torch.float64
    single = loss([view.float() for view in views]).total
    assert single.dtype == torch.float32
    assert_close(single.double(), loss(views).total, rtol=1e-4, atol=1e-5)


@half_types
@every_loss
def test_autocast_costs_no_precision(make_views, loss, dtype):
    views = [view.float() for view in make_views(loss.views, rows=8, width=16)]
    exact = loss(views).total
    with torch.autocast("cpu", dtype=dtype):
        under_autocast = loss(views).total
    assert under_autocast.dtype == torch.float32
    remedy = "compute matrix products in `with full_precision(view):` of cselab/losses/contrast.py"
    assert_close(under_autocast, exact, rtol=1e-6, atol=1e-6, msg=lambda given: f"{given}\n{remedy}")


@half_types
@every_loss
def test_half_precision_views_are_computed_on_in_single(make_views, loss, dtype):
    """Half precision views are computed on in single precision."""
    views = [view.to(dtype).requires_grad_() for view in make_views(loss.views, rows=8, width=16)]
    total = loss(views).total
    assert total.dtype == torch.float32
    assert total == loss([view.float() for view in views]).total
    for gradient in torch.autograd.grad(total, views):
        assert gradient.dtype == dtype
        assert gradient.isfinite().all()


@every_loss
def test_a_view_in_half_and_one_in_single_precision_go_together(make_views, loss):
    views = [view.float() for view in make_views(loss.views)]
    views[0] = views[0].bfloat16()
    assert loss(views).total == loss([views[0].float(), *views[1:]]).total


@every_loss
def test_no_loss_draws_random_numbers(make_views, loss):
    before = torch.get_rng_state()
    loss(make_views(loss.views))
    assert torch.equal(torch.get_rng_state(), before)


@paired_losses
def test_views_of_different_shapes_are_refused(make_views, unchecked_annotations, loss):
    views = make_views(loss.views)
    with pytest.raises(ValueError, match=r"has shape \[6, 4\] but .* has \[6, 5\].*same shape \[N, d\]"):
        loss([*views[:-1], views[-1][:, :4]])


@pytest.mark.parametrize(
    "change, kind, said",
    [
        (lambda view: view[:1], ValueError, "1 row.*two sentences.*batch size"),
        (lambda view: view[..., None], ValueError, r"[\[(]6, 5, 1[\])].*\[[Nn],? d\]"),
        (lambda view: view.long(), TypeError, "torch.int64.*floating-point"),
        (lambda view: view.numpy(), TypeError, r"ndarray.*tensor.*\[[Nn],? d\]"),
    ],
)
@every_loss
def test_losses_refuse_what_is_no_batch_of_views(make_views, unchecked_annotations, loss, change, kind, said):
    with pytest.raises(kind, match=said):
        loss([change(view) for view in make_views(loss.views)])


TEMPERED = [function for function in EXPORTED if "temperature" in inspect.signature(function).parameters]


@pytest.mark.parametrize("temperature", [0.0, -0.05, float("nan"), float("inf"), "5", torch.ones(2), torch.ones(0)])
@pytest.mark.parametrize("function", TEMPERED, ids=lambda function: function.__name__)
def test_a_temperature_that_is_not_positive_is_refused(make_views, unchecked_annotations, function, temperature):
    loss = Case(function, {"temperature": temperature})
    with pytest.raises(ValueError, match=r"temperature is .*; expected a number above 0"):
        loss(make_views(loss.views))


def test_triplet_takes_a_margin_of_0():
    views = torch.eye(3)
    assert losses.triplet(views, views, views, 0).total == 0
