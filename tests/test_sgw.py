import math

import numpy as np
import pytest
import torch
from refusals import check_refused, refusals
from safetensors.torch import load, save
from tiny import seeded
from torch.testing import assert_close

from cselab.sgw import (
    ShuffledGroupWhitening,
    covariance,
    group_whiten,
    group_whitening_matrix,
    shuffled_group_whiten,
    whitening_matrix,
)

NAMES, each_refusal = refusals("sgw.md")


def random_rows(n, d, seed=0, dtype=torch.float64):
    """Correlated, off-centre rows."""
    generator = seeded(seed)
    mixing = torch.randn(d, d, generator=generator, dtype=dtype)
    return torch.randn(n, d, generator=generator, dtype=dtype) @ mixing + 3 * torch.randn(
        d, generator=generator, dtype=dtype
    )


def rows_with_covariance(spectrum, n=12, seed=0):
    """Rows whose covariance (divisor n) has exactly these eigenvalues, up to rounding."""
    generator = seeded(seed)
    w = len(spectrum)
    white = torch.randn(n, w, generator=generator, dtype=torch.float64)
    white, _ = torch.linalg.qr(white - white.mean(0))
    axes, _ = torch.linalg.qr(torch.randn(w, w, generator=generator, dtype=torch.float64))
    return white * math.sqrt(n) * torch.tensor(spectrum, dtype=torch.float64).sqrt() @ axes.mT + 1


def whiten_group_by_group(x, num_groups, kind="zca", eps=0.0, shrinkage=0.0, divisor="n"):
    """The slow reference: numpy, one group after the other."""
    x = np.asarray(x)
    size = x.shape[1] // num_groups
    whitened = np.empty_like(x)
    for i in range(num_groups):
        channels = slice(i * size, (i + 1) * size)
        z = x[:, channels] - x[:, channels].mean(axis=0)
        sigma = np.atleast_2d(np.cov(z, rowvar=False, bias=divisor == "n"))
        sigma = (1 - shrinkage) * sigma + shrinkage * np.trace(sigma) / size * np.eye(size) + eps * np.eye(size)
        values, axes = np.linalg.eigh(sigma)
        if kind == "zca":
            matrix = axes @ np.diag(values**-0.5) @ axes.T
        else:
            order = np.argsort(-values)
            axes = axes[:, order]
            axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(size)])
            matrix = axes @ np.diag(values[order] ** -0.5)
        whitened[:, channels] = z @ matrix
    return torch.from_numpy(whitened)


# What whitening is


def test_covariance_is_numpys_for_both_divisors():
    """Covariance is numpys for both divisors and for each group."""
    x = random_rows(20, 6).unflatten(1, (2, 3)).transpose(0, 1)
    for divisor, bias in [("n", True), ("n-1", False)]:
        expected = np.stack([np.cov(group, rowvar=False, bias=bias) for group in x.numpy()])
        assert_close(covariance(x, divisor), torch.from_numpy(expected))


@pytest.mark.parametrize("size", [2, 5])
def test_zca_is_symmetric_and_inverts_the_root_of_the_covariance(size):
    sigma = covariance(random_rows(30, size))
    values, axes = np.linalg.eigh(sigma.numpy())
    root = torch.from_numpy(axes @ np.diag(np.sqrt(values)) @ axes.T)
    matrix = whitening_matrix(sigma)
    assert_close(matrix, matrix.mT)
    assert_close(matrix @ root, torch.eye(size, dtype=torch.float64))


@pytest.mark.parametrize("kind", ["zca", "pca"])
@pytest.mark.parametrize(
    "options", [{"eps": 0.0}, {"eps": 0.1}, {"eps": 1e-6, "shrinkage": 0.3}, {"eps": 0.0, "divisor": "n-1"}], ids=str
)
@pytest.mark.parametrize("num_groups", [1, 3, 6, 12])
def test_groups_whitened_at_once_are_groups_whitened_one_by_one(num_groups, options, kind):
    x = random_rows(30, 12, seed=num_groups)
    expected = whiten_group_by_group(x, num_groups, kind, **options)
    assert_close(group_whiten(x, num_groups, kind=kind, **options), expected, atol=1e-9, rtol=1e-9)


def test_the_matrix_of_all_groups_whitens_them_as_group_whiten():
    """The matrix of all groups whitens them as group whiten does."""
    x = random_rows(30, 12)
    for num_groups in (1, 3, 6):
        matrix = group_whitening_matrix(covariance(x), num_groups)
        assert_close((x - x.mean(0)) @ matrix, group_whiten(x, num_groups, eps=0.0))


# The shuffle


def test_shuffled_groups_are_whitened_and_every_channel_returns():
    """Shuffled groups are whitened and every channel returns to its place."""
    x = random_rows(30, 6)
    permutation = torch.tensor([4, 0, 3, 5, 1, 2])
    whitened = shuffled_group_whiten(x, 3, permutation, eps=0.0)
    for pair in ([4, 0], [3, 5], [1, 2]):
        assert_close(whitened[:, pair], whiten_group_by_group(x[:, pair], 1))


# Gradients


def test_a_constant_matrix_has_the_gradient_of_a_linear_map():
    """With the matrix held constant the gradient is that of a centred linear map."""
    x = random_rows(20, 8).requires_grad_()
    weights = random_rows(20, 8, seed=1)
    group_whiten(x, 4, eps=0.0).mul(weights).sum().backward()
    matrix = group_whitening_matrix(covariance(x.detach()), 4)
    assert_close(x.grad, (weights - weights.mean(0)) @ matrix.mT)


@pytest.mark.parametrize("spectrum", [(2.0, 0.5), (1.0, 1.0), (3.0, 1.0, 0.2), (2.0, 1.0, 1.0), (1.0,) * 4])
def test_zca_is_differentiable_through_its_matrix_even(spectrum):
    """Zca is differentiable through its matrix even at equal eigenvalues."""
    x = rows_with_covariance(spectrum).requires_grad_()
    assert torch.autograd.gradcheck(lambda z: group_whiten(z, 1, gradient_through_matrix=True), x)


@pytest.mark.parametrize("spectrum", [(2.0, 0.5), (3.0, 1.0, 0.2)])
def test_pca_is_differentiable_through_its_matrix(spectrum):
    x = rows_with_covariance(spectrum).requires_grad_()
    assert torch.autograd.gradcheck(lambda z: group_whiten(z, 1, kind="pca", gradient_through_matrix=True), x)


@pytest.mark.parametrize("spectrum", [(1.0, 1.0), (2.0, 1.0, 1.0)])
def test_similarities_after_pca_have_the_right_gradient(spectrum):
    """Similarities after pca have the right gradient at equal eigenvalues."""
    x = rows_with_covariance(spectrum).requires_grad_()

    def similarities(z):
        whitened = group_whiten(z[:6], 1, kind="pca", eps=0.01, gradient_through_matrix=True)
        return whitened @ whitened.mT

    exactly_equal = torch.eye(len(spectrum), dtype=torch.float64).requires_grad_()

    def inverse(symmetric):
        matrix = whitening_matrix((symmetric + symmetric.mT) / 2, "pca")
        return matrix @ matrix.mT

    assert torch.autograd.gradcheck(similarities, x)
    assert torch.autograd.gradcheck(inverse, exactly_equal)


def test_several_groups_are_differentiable_at_once_and_shuffled():
    x = random_rows(9, 6).requires_grad_()
    permutation = torch.tensor([4, 0, 3, 5, 1, 2])
    for num_groups in (2, 3):
        assert torch.autograd.gradcheck(
            lambda z, k=num_groups: shuffled_group_whiten(z, k, permutation, gradient_through_matrix=True), x
        )


# Batches that do not span their groups; low precision


def repeated_channels(n, d):
    return random_rows(n, 1, dtype=torch.float32).expand(n, d).clone()


def proportional_channels(n, d):
    """Of rank one, though in float32 rounding leaves a determinant on either side of zero."""
    return random_rows(n, 1, dtype=torch.float32) * torch.linspace(0.1, 0.7, d)


def one_repeated_row(n, d):
    return random_rows(1, d, dtype=torch.float32).expand(n, d).clone()


def a_constant_channel(n, d):
    x = random_rows(n, d, dtype=torch.float32)
    x[:, 1] = 0.7
    return x


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("kind", ["zca", "pca"])
@pytest.mark.parametrize("num_groups", [1, 2, 4])
@pytest.mark.parametrize("batch", [repeated_channels, proportional_channels, one_repeated_row, a_constant_channel])
def test_rank_deficient_batches_stay_finite_with_their_gradients(batch, num_groups, kind, scale):
    x = (scale * batch(16, 8)).requires_grad_()
    whitened = group_whiten(x, num_groups, kind=kind, gradient_through_matrix=True)
    whitened.square().mul(torch.linspace(0, 1, 8)).sum().backward()
    assert whitened.isfinite().all()
    assert x.grad.isfinite().all()


@pytest.mark.parametrize("num_groups", [1, 2, 4])
def test_group_whiten_takes_a_constant_batch_of_huge_numbers(num_groups):
    """Rounding moves the mean of 1e30, and the square of that difference is infinite in float32."""
    x = torch.full((64, 4), 1e30, requires_grad=True)
    whitened = group_whiten(x, num_groups)
    whitened.sum().backward()
    assert not whitened.any() and x.grad.isfinite().all()


def test_a_constant_channel_does_not_disturb_its_group():
    """A constant channel does not disturb the other one of its group."""
    x = random_rows(16, 2)
    x[:, 1] = 5
    whitened = group_whiten(x, 1, eps=1e-12)
    assert_close(whitened[:, 0], group_whiten(x[:, :1], 1, eps=0.0)[:, 0])
    assert_close(whitened[:, 1], torch.zeros(16, dtype=torch.float64))


def test_fewer_rows_than_channels_are_whitened_by_shrinkage():
    """Fewer rows than channels are whitened as far as shrinkage reaches."""
    x = random_rows(4, 8)
    expected = whiten_group_by_group(x, 1, shrinkage=0.2)
    assert_close(group_whiten(x, 1, eps=0.0, shrinkage=0.2), expected)


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_and_autocast_are_computed_in_float32(dtype, size):
    x = random_rows(32, 8).to(dtype)
    expected = group_whiten(x.float(), 8 // size)
    layer = ShuffledGroupWhitening(8, 8 // size, shuffle=False)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        under_autocast = group_whiten(x.float(), 8 // size)
        by_the_layer = layer(x)
        covariance_under_autocast = covariance(x.float())
        at_inference = layer.eval()(x)
    for whitened in (group_whiten(x, 8 // size), under_autocast, by_the_layer):
        assert_close(whitened, expected, rtol=0, atol=0)
    assert_close(covariance_under_autocast, covariance(x.float()), rtol=0, atol=0)
    assert_close(at_inference, layer(x.float()), rtol=0, atol=0)


# The layer


@pytest.mark.parametrize(
    "options", [{}, {"kind": "pca", "divisor": "n-1"}, {"eps": 0.1, "shrinkage": 0.2, "gradient_through_matrix": True}]
)
def test_each_call_shuffles_anew_and_hands_on_every_option(options):
    x, weights = random_rows(30, 8).requires_grad_(), random_rows(30, 8, seed=1)
    layer, plain = (ShuffledGroupWhitening(8, 2, seed=5, shuffle=shuffle, **options) for shuffle in (True, False))
    generator = seeded(5)
    for _ in range(3):
        expected = shuffled_group_whiten(x, 2, torch.randperm(8, generator=generator), **options)
        assert_close(layer(x), expected, rtol=0, atol=0)
    assert_close(plain(x), group_whiten(x, 2, **options), rtol=0, atol=0)
    slopes = [
        torch.autograd.grad((whitened * weights).sum(), x)[0] for whitened in (plain(x), group_whiten(x, 2, **options))
    ]
    assert_close(*slopes)


def test_default_groups_hold_two_channels():
    assert [ShuffledGroupWhitening(width).num_groups for width in (768, 1024, 1)] == [384, 512, 1]


def test_the_layer_leaves_the_global_generator_alone():
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    ShuffledGroupWhitening(8)(random_rows(30, 8))
    assert torch.equal(torch.rand(3), expected)


# Running estimates and inference


@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.99])
def test_running_estimates_are_the_normalised_sum_of_equation_13(momentum):
    batches = [random_rows(20, 4, seed=seed) for seed in range(6)]
    layer = ShuffledGroupWhitening(4, momentum=momentum, divisor="n-1").double()
    for batch in batches:
        layer(batch)
    weights = [(1 - momentum) * momentum ** (len(batches) - 1 - i) for i in range(len(batches))]
    mean = sum(w * batch.mean(0) for w, batch in zip(weights, batches, strict=True)) / sum(weights)
    sigma = sum(w * covariance(batch, "n-1") for w, batch in zip(weights, batches, strict=True)) / sum(weights)
    assert_close(layer.running_mean, mean)
    assert_close(layer.running_covariance, sigma)


@pytest.mark.parametrize("kind", ["zca", "pca"])
@pytest.mark.parametrize("num_groups", [1, 2, 4])
def test_inference_whitens_with_the_running_estimates(kind, num_groups):
    """Inference whitens with the running estimates and is a linear layer."""
    x = random_rows(40, 8, dtype=torch.float32)
    layer = ShuffledGroupWhitening(8, num_groups, kind=kind, momentum=0.0)
    layer(x)
    layer.eval()
    assert_close(layer(x), group_whiten(x, num_groups, kind=kind), atol=1e-4, rtol=1e-4)
    linear = layer.as_linear()
    assert linear.weight.dtype == linear.bias.dtype == torch.float32
    other = random_rows(3, 8, seed=1, dtype=torch.float32)
    assert torch.equal(layer(other), linear(other))


def test_inference_takes_one_row_changes_nothing_and_draws():
    """Inference takes one row changes nothing and draws nothing."""
    layer = ShuffledGroupWhitening(8)
    layer(random_rows(40, 8, dtype=torch.float32))
    before = {name: tensor.clone() for name, tensor in layer.state_dict().items()}
    x = random_rows(5, 8, seed=1, dtype=torch.float32)
    together = layer.eval()(x)
    alone = torch.cat([layer(row[None]) for row in x])
    assert_close(together, alone)
    for name, tensor in layer.state_dict().items():
        assert torch.equal(tensor, before[name]), name


def test_inference_passes_a_gradient_to_its_input_only():
    layer = ShuffledGroupWhitening(4)
    layer(random_rows(40, 4, dtype=torch.float32))
    x = torch.zeros(2, 4, requires_grad=True)
    layer.eval()(x).sum().backward()
    assert_close(x.grad, layer.as_linear().weight.detach().sum(0).expand(2, 4))
    assert not list(layer.parameters())


def test_a_saved_layer_continues_the_same_permutations():
    """A saved layer continues the same permutations and estimates."""
    batches = [random_rows(20, 8, seed=seed) for seed in range(4)]
    uninterrupted = ShuffledGroupWhitening(8, seed=1)
    for batch in batches[:2]:
        uninterrupted(batch)
    saved = save(uninterrupted.state_dict())
    resumed = ShuffledGroupWhitening(8, seed=99)
    resumed.load_state_dict(load(saved))
    for batch in batches[2:]:
        assert_close(resumed(batch), uninterrupted(batch), rtol=0, atol=0)
    for name, tensor in uninterrupted.state_dict().items():
        assert torch.equal(tensor, resumed.state_dict()[name]), name


# Errors say what to do


def test_too_few_rows_are_counted_in_the_message():
    """Too few rows are counted in the message and leave the estimates alone."""
    layer = ShuffledGroupWhitening(12, 2)
    with pytest.raises(ValueError, match="6 rows are too few to whiten groups of 6 channels, which need 7"):
        layer(random_rows(6, 12))
    with pytest.raises(ValueError, match="1 rows are too few"):
        layer(random_rows(1, 12))
    assert layer.updates == 0
    assert layer(random_rows(7, 12)).isfinite().all()


@pytest.mark.parametrize("scale", [1e-18, 1e-12, 1e-6, 1e6, 1e10, 1e17])
@pytest.mark.parametrize("num_groups, options", [(4, {}), (2, {}), (1, {}), (4, {"kind": "pca"}), (8, {})])
def test_the_scale_of_a_batch_changes_nothing_without_eps(num_groups, options, scale):
    x = torch.randn(64, 8, generator=seeded(3)) @ (torch.eye(8) + 0.3)
    whole, other = (group_whiten(one, num_groups, eps=0, **options) for one in (x, scale * x))
    assert_close(other, whole, atol=1e-4, rtol=1e-3)


def test_tiny_and_huge_covariances_and_eps_have_a_finite_root():
    for size in (1e-36, 1e-30, 1e-12, 1e12, 1e30, 1e36):
        assert_close(whitening_matrix(size * torch.eye(2)), torch.eye(2) / size**0.5)
        assert_close(whitening_matrix(torch.eye(2), eps=size), torch.eye(2) / (1 + size) ** 0.5)
    assert_close(whitening_matrix(torch.zeros(2, 2), eps=1e-6), 1e3 * torch.eye(2))


@each_refusal
def test_whitening_refuses_what_it_cannot_do(kind, words, call):
    check_refused(kind, words, call, NAMES)
