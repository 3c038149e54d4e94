"""Whitening, in groups of channels, in shuffled groups (WhitenedCSE, Zhuo et al. 2023, section 3.2).

Whitening is a linear map after which the channels of a batch have unit variance and no correlation:

    H = (Z - mean) W    with    W^T cov(Z) W = I        rows are sentences: Z is [n, d], W is [d, d]     Eq. 2

From small to large: `covariance`, `whitening_matrix` (PCA or ZCA, Eq. 3), `group_whiten` (Eq. 5),
`shuffled_group_whiten` (Eq. 6), and `ShuffledGroupWhitening`, the module of a training head, which draws
a fresh permutation at each call and keeps running estimates for inference (Eq. 13).

The paper leaves open four points, which are parameters here: the divisor of the covariance, eps, whether the gradient
flows through W, and the behaviour at inference. `num_groups` is the paper's k, the *number* of groups: its "group size
384" at width 768 is 384 groups of two channels.

See also: `cselab.transforms.BertWhitening` for whitening fitted once on the embeddings of a finished encoder.
"""

from typing import Annotated, Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from cselab._util.arguments import Momentum, NonNegativeFloat, PositiveInt, Satisfies, UnitInterval, checked

Kind = Annotated[str, Satisfies("'zca' or 'pca'", ("zca", "pca").__contains__)]
Divisor = Annotated[str, Satisfies("'n' or 'n-1'", ("n", "n-1").__contains__)]

Vectors = Float[Tensor, "n d"]
Matrices = Float[Tensor, "*groups w w"]
"""A covariance, or one for each group."""


@checked
def covariance(x: Float[Tensor, "*groups n w"], divisor: Divisor = "n") -> Matrices:
    """Covariance between the channels of `x`, over its rows, for each leading index apart.

    `divisor="n"` (as in the released WhitenedCSE) divides by the number of rows, `"n-1"` is unbiased.
    For half-precision input, the computation and the result are float32.

    Raises:
        ValueError: fewer than two rows, or an unknown divisor.

    >>> covariance(torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0], [0.0, -2.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 2.0000]])
    """
    rows = x.shape[-2]
    if rows < 2:
        raise ValueError(f"a covariance needs at least 2 rows, x has {rows}: use a larger batch")
    with torch.autocast(x.device.type, enabled=False):
        centred = _centred(_full_precision(x))
        return centred.mT @ centred / (rows if divisor == "n" else rows - 1)


@checked
def whitening_matrix(
    covariance: Matrices, kind: Kind = "zca", eps: NonNegativeFloat = 0.0, shrinkage: UnitInterval = 0.0
) -> Matrices:
    """W with W^T M W = I, for each leading index apart, where M is the regularised covariance.

        zca:  W = U L^{-1/2} U^T    (Eq. 3) symmetric: of all whitenings it changes the data least
        pca:  W = U L^{-1/2}        (Eq. 12) largest eigenvalue first, largest entry of each axis positive

    with M = U L U^T, and M = (1 - shrinkage) C + shrinkage (tr C / w) I + eps I for the covariance C.
    `eps` is absolute, in units of the variance of the data.

    The gradient is exact and finite at equal eigenvalues. Only the derivative of the PCA axes is undefined. Axes
    inside such an eigenspace are then constant, which is exact for every loss that ignores rotations (similarities of
    whitened rows).

    Raises:
        ValueError: unknown kind, eps or shrinkage out of range, a singular covariance when both are 0, or one that is
            not finite (with eps > 0 and two channels the result is NaN).

    >>> whitening_matrix(torch.tensor([[2.5, 1.5], [1.5, 2.5]]))
    tensor([[ 0.7500, -0.2500],
            [-0.2500,  0.7500]])
    """
    with torch.autocast(covariance.device.type, enabled=False):
        covariance = _full_precision(covariance)
        covariance = (covariance + covariance.mT) / 2
        if shrinkage > 0:
            variance = covariance.diagonal(dim1=-2, dim2=-1).mean(-1)
            identity = torch.eye(covariance.shape[-1], dtype=covariance.dtype, device=covariance.device)
            covariance = (1 - shrinkage) * covariance + shrinkage * variance[..., None, None] * identity
        quick = kind == "zca" and covariance.shape[-1] == 2
        if not (quick and eps) and not covariance.isfinite().all():
            raise ValueError("the covariance is not finite: NaN, infinite or very large numbers cannot be whitened")
        if eps == 0:
            _check_positive_definite(covariance)
        if quick:
            return _inverse_square_root_2x2(covariance, eps)
        inverse_square_root, axes = _InverseSquareRoot.apply(covariance, eps)
        return inverse_square_root if kind == "zca" else inverse_square_root @ axes


@checked
def group_whitening_matrix(
    covariance: Float[Tensor, "d d"],
    num_groups: int,
    kind: Kind = "zca",
    eps: NonNegativeFloat = 0.0,
    shrinkage: UnitInterval = 0.0,
) -> Float[Tensor, "d d"]:
    """The matrix of Eq. 5: block-diagonal, a `whitening_matrix` for each group of neighbouring channels.

    Raises:
        ValueError: groups that do not divide the width; or as `whitening_matrix`.
    """
    width = covariance.shape[-1]
    shape = (num_groups, group_width(width, num_groups))
    group = torch.arange(num_groups, device=covariance.device)
    blocks = covariance.reshape(*shape, *shape)[group, :, group, :]
    blocks = whitening_matrix(blocks, kind, eps, shrinkage)
    matrix = blocks.new_zeros(*shape, *shape)
    matrix[group, :, group, :] = blocks
    return matrix.reshape(width, width)


@checked
def group_whiten(
    x: Vectors,
    num_groups: int,
    *,
    kind: Kind = "zca",
    eps: NonNegativeFloat = 1e-6,
    shrinkage: UnitInterval = 0.0,
    divisor: Divisor = "n",
    gradient_through_matrix: bool = False,
) -> Vectors:
    """Whiten neighbouring channels in groups, with the statistics of this batch (Eq. 5).

        H = concat((Z_i - mean) W_i),  i in [0, k),  Z_i of shape [n, d / k]

    `num_groups=1` whitens all channels together, `num_groups=d` standardises each. The answer is float32
    (float64 for float64 input), also under autocast.

    `gradient_through_matrix=False` holds W constant in the backward pass, as in the released code (the paper does not
    specify this); centring is always differentiated. `True` differentiates the whole layer: then similarities of rows
    whitened in the same groups have no gradient along a linear mixing of channels within a group, their scale
    included.

    A group of w channels needs w + 1 rows, for fewer have a singular covariance, which no `eps` makes
    informative. `shrinkage` > 0 states a prior for the missing directions, and any two rows are enough.

    Raises:
        ValueError: groups that do not divide the width, too few rows, an unknown name, a value out of range.

    See also: `shuffled_group_whiten`; `ShuffledGroupWhitening`.
    """
    size = group_width(x.shape[1], num_groups)
    if len(x) <= size and shrinkage == 0:
        raise ValueError(
            f"{len(x)} rows are too few to whiten groups of {size} channels, which need {size + 1}: "
            f"use a larger batch, more groups, or shrinkage > 0"
        )
    with torch.autocast(x.device.type, enabled=False):
        groups = _full_precision(x).unflatten(1, (num_groups, size)).transpose(0, 1)  # [k, n, w]
        matrix = whitening_matrix(
            covariance(groups if gradient_through_matrix else groups.detach(), divisor), kind, eps, shrinkage
        )
        whitened = _centred(groups) @ matrix
        return whitened.transpose(0, 1).flatten(1)


@checked
def shuffled_group_whiten(x: Vectors, num_groups: int, permutation: Int[Tensor, " d"], **options: Any) -> Vectors:
    """Shuffle the channels, `group_whiten`, and put them back in order (Eq. 6).

        H = shuffled^{-1}(GW(shuffled(Z)))

    `permutation` lists the channels in their shuffled order (`torch.randperm(d, generator=...)`): its first
    d / k entries form the first group. Different permutations of one batch are the paper's views. `options` are the
    remaining ones of `group_whiten`: kind, eps, shrinkage, divisor, gradient_through_matrix.

    Raises:
        ValueError: `permutation` is not a permutation of the channels; or as `group_whiten`.
    """
    ordered, inverse = permutation.sort()
    if not torch.equal(ordered, torch.arange(x.shape[1], device=ordered.device)):
        raise ValueError(
            f"permutation must hold each of the {x.shape[1]} channels exactly once, "
            f"got {permutation.numel()} entries, {ordered.unique().numel()} of them different"
        )
    permutation, inverse = (order.to(x.device, non_blocking=x.is_cuda) for order in (permutation, inverse))
    return group_whiten(x[:, permutation], num_groups, **options)[:, inverse]


class ShuffledGroupWhitening(nn.Module):
    """Shuffled group whitening as a layer: batch statistics in training, a fixed affine map at inference.

    In training each call (a view) draws a fresh permutation and whitens with the statistics of its rows
    (Eq. 6). Running estimates of mean and covariance follow them (Eq. 13):

        mean_n = momentum mean_{n-1} + (1 - momentum) batch mean,    the same for the covariance [d, d],

    started from nothing and divided by the sum of their weights, so that the first batches of a short run do
    not weigh more than their share. The paper's momentum is the weight of the past; that of
    `torch.nn.BatchNorm1d` is the weight of the new batch.

    In eval mode the layer is (x - mean) W, W from the running covariance, block-diagonal over groups of
    neighbouring channels: the permutations belong to training. `as_linear` gives that map as an `nn.Linear`.

    Args:
        width: number of channels d.
        num_groups: the paper's k; must divide the width. Default: width / 2, two channels per group.
        kind: "zca" (the paper's) or "pca".
        shuffle: False is plain group whitening, the paper's ablation.
        eps, shrinkage, divisor, gradient_through_matrix: as in `group_whiten`.
        running: whether training whitens not each batch by its own statistics, but by the running
            estimates of Eq. 13 after this batch, without a gradient through them. That is how 64
            rows whiten 768 channels at once, in the full-width rows of the paper's Table 3.
        momentum: a number in [0, 1).
        seed: the seed of the layer's own generator of permutations, whose state is part of the `state_dict`:
            a resumed run continues the same stream.

    Raises:
        ValueError: as `group_whiten`; in eval mode, when no training batch has been seen yet.

    >>> whiten = ShuffledGroupWhitening(width=4, seed=1)
    >>> batch = torch.randn(64, 4, generator=torch.Generator().manual_seed(0))
    >>> covariance(whiten(batch)).diagonal()
    tensor([1.0000, 1.0000, 1.0000, 1.0000])
    >>> torch.equal(whiten.eval()(batch), whiten.as_linear()(batch))
    True
    """

    running_mean: Tensor
    running_covariance: Tensor
    updates: Tensor

    @checked
    def __init__(
        self,
        width: PositiveInt,
        num_groups: int | None = None,
        *,
        kind: Kind = "zca",
        shuffle: bool = True,
        eps: NonNegativeFloat = 1e-6,
        shrinkage: UnitInterval = 0.0,
        divisor: Divisor = "n",
        gradient_through_matrix: bool = False,
        running: bool = False,
        momentum: Momentum = 0.99,
        seed: int = 0,
    ) -> None:
        super().__init__()
        if running and shuffle:
            raise ValueError(
                "running=True needs shuffle=False: the running covariance is whitened in the channels' own order"
            )
        num_groups = max(width // 2, 1) if num_groups is None else num_groups
        group_width(width, num_groups)
        self.width = width
        self.num_groups = num_groups
        self.kind = kind
        self.shuffle = shuffle
        self.eps = eps
        self.shrinkage = shrinkage
        self.divisor = divisor
        self.gradient_through_matrix = gradient_through_matrix
        self.running = running
        self.momentum = momentum
        self.generator = torch.Generator().manual_seed(seed)
        self.register_buffer("running_mean", torch.zeros(width))
        self.register_buffer("running_covariance", torch.zeros(width, width))
        self.register_buffer("updates", torch.zeros((), dtype=torch.long))

    @classmethod
    def of_kind(
        cls, kind: str, width: int, num_groups: int, running: bool = False, **options: Any
    ) -> "ShuffledGroupWhitening":
        """One of the ablations of the paper's Table 3: "shuffled" or plain "group"s, "zca" or "pca" of all channels.

        `running` whitens by the running estimates, as 64 rows must that whiten 768 channels at once.
        """
        full = kind not in ("shuffled", "group")
        matrix, groups = (kind, 1) if full else ("zca", num_groups)
        return cls(width, groups, kind=matrix, shuffle=kind == "shuffled", running=running, **options)

    def forward(self, x: Vectors) -> Vectors:
        """Whiten `x`, in training by the next permutation."""
        if x.shape[1] != self.width:
            raise ValueError(f"this layer whitens {self.width} channels, x has {x.shape[1]}")
        if self.training and self.running:
            self._follow(x.detach())
        if not self.training or self.running:
            with torch.autocast(x.device.type, enabled=False):
                weight, bias = self._inference_map()
                return F.linear(x.to(weight.dtype), weight, bias)
        permutation = self.draw_permutation() if self.shuffle else torch.arange(self.width)
        whitened = shuffled_group_whiten(
            x,
            self.num_groups,
            permutation,
            kind=self.kind,
            eps=self.eps,
            shrinkage=self.shrinkage,
            divisor=self.divisor,
            gradient_through_matrix=self.gradient_through_matrix,
        )
        self._follow(x.detach())
        return whitened

    def draw_permutation(self) -> Int[Tensor, " d"]:
        """The next permutation of the layer's own generator."""
        return torch.randperm(self.width, generator=self.generator)

    def as_linear(self) -> nn.Linear:
        """The map of eval mode as a linear layer, with exactly the same output."""
        weight, bias = self._inference_map()
        linear = nn.utils.skip_init(nn.Linear, self.width, self.width, device=weight.device, dtype=weight.dtype)
        with torch.no_grad():
            linear.weight.copy_(weight)
            linear.bias.copy_(bias)
        return linear

    def get_extra_state(self) -> Tensor:
        return self.generator.get_state()

    def set_extra_state(self, state: Tensor) -> None:
        self.generator.set_state(state.cpu())

    @torch.no_grad()
    def _follow(self, x: Vectors) -> None:
        """Eq. 13 with its weights summing to one: 1 for the first batch, towards 1 - momentum."""
        self.updates += 1
        weight = ((1 - self.momentum) / (1 - self.momentum ** self.updates.double())).to(self.running_mean.dtype)
        self.running_mean.lerp_(x.to(self.running_mean.dtype).mean(0), weight)
        self.running_covariance.lerp_(covariance(x, self.divisor).to(self.running_covariance.dtype), weight)

    @torch.no_grad()
    def _inference_map(self) -> tuple[Float[Tensor, "d d"], Float[Tensor, " d"]]:
        if self.updates == 0:
            raise ValueError(
                "ShuffledGroupWhitening has no running estimates: call it in training mode on at least one batch, or "
                "load a trained state, first"
            )
        matrix = group_whitening_matrix(self.running_covariance, self.num_groups, self.kind, self.eps, self.shrinkage)
        return matrix.mT.contiguous(), -self.running_mean @ matrix


def group_width(width: int, num_groups: int) -> int:
    """Channels per group.

    Raises:
        ValueError: `num_groups` does not divide `width`; names the nearest numbers that do.

    >>> group_width(768, 384)
    2
    """
    if num_groups < 1 or width % num_groups:
        divisors = [k for k in range(1, width + 1) if width % k == 0]
        below = [k for k in divisors if k < num_groups][-1:]
        above = [k for k in divisors if k > num_groups][:1]
        raise ValueError(
            f"num_groups={num_groups} does not divide the width {width}; "
            f"the nearest that do: {', '.join(map(str, below + above))}"
        )
    return width // num_groups


def _inverse_square_root_2x2(covariance: Tensor, eps: float) -> Tensor:
    """M^{-1/2} = (adj M + s I) / (s t), s = sqrt(det M), t = sqrt(tr M + 2 s), for M = covariance + eps I.

    M / 4^k has entries near 1, and M^{-1/2} = (M / 4^k)^{-1/2} / 2^k exactly; squares of tiny and of huge variances are
    lost.
    """
    trace = covariance.detach().diagonal(dim1=-2, dim2=-1).sum(-1) + eps
    k = torch.frexp(trace).exponent.clamp(-120, 120) // 2
    size = torch.ldexp(torch.ones_like(trace), -2 * k)
    a, b, c = (covariance[..., i, j] * size for i, j in ((0, 0), (0, 1), (1, 1)))
    least = eps * size
    # det M from det C, which only rounding makes negative
    s = ((a * c - b * b).clamp(min=0) + least * (a + c) + least**2).sqrt()
    a, c = a + least, c + least
    adjugate = torch.stack([c + s, -b, -b, a + s], dim=-1).unflatten(-1, (2, 2))
    root = s * (a + c + 2 * s).sqrt() * torch.ldexp(torch.ones_like(trace), k)
    return adjugate / root[..., None, None]


class _InverseSquareRoot(torch.autograd.Function):
    """(M^{-1/2}, U) of M = covariance + eps I = U diag(l) U^T. Differentiable where eigh is not.

    d M^{-1/2} = U (K * U^T dM U) U^T,    K_ij = -1 / (r_i r_j (r_i + r_j)),  r = sqrt(l)    (Daleckii-Krein)
    d U        = U (P * U^T dM U),        P_ij = 1 / (l_j - l_i), or 0 where they are equal
    """

    @staticmethod
    def forward(ctx: Any, covariance: Tensor, eps: float) -> tuple[Tensor, Tensor]:
        values, axes = torch.linalg.eigh(covariance)
        values, axes = values.flip(-1).clamp(min=0) + eps, axes.flip(-1)
        largest = axes.gather(-2, axes.abs().argmax(-2, keepdim=True))
        axes = axes * largest.sign()
        ctx.save_for_backward(values, axes)
        return (axes * values.rsqrt()[..., None, :]) @ axes.mT, axes

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad_root: Tensor, grad_axes: Tensor) -> tuple[Tensor, None]:
        values, axes = ctx.saved_tensors
        root = values.sqrt()
        i, j = root[..., :, None], root[..., None, :]
        inner = -(axes.mT @ grad_root @ axes) / (i * j * (i + j))
        gap = values[..., None, :] - values[..., :, None]
        equal = gap.abs() <= _rounding(values)[..., None, None]
        inner = inner + (axes.mT @ grad_axes) * torch.where(equal, 0, 1 / gap)
        grad = axes @ inner @ axes.mT
        return (grad + grad.mT) / 2, None


def _centred(x: Float[Tensor, "*groups n w"]) -> Float[Tensor, "*groups n w"]:
    """Rows minus their mean. Zero in a constant channel, also where rounding moves the mean of large numbers."""
    mean, first = x.mean(-2, keepdim=True), x[..., :1, :]
    constant = (x == first).all(-2, keepdim=True)
    return x - (mean + torch.where(constant, (first - mean).detach(), 0))


def _full_precision(x: Tensor) -> Tensor:
    return x if x.dtype in (torch.float32, torch.float64) else x.float()


def _rounding(values: Tensor) -> Tensor:
    """The rounding error of a zero eigenvalue, given the largest of these."""
    return values.shape[-1] * torch.finfo(values.dtype).eps * values.amax(-1)


def _check_positive_definite(covariance: Tensor) -> None:
    values = torch.linalg.eigvalsh(covariance.detach())
    if (values[..., 0] <= _rounding(values)).any():
        raise ValueError(
            "the covariance is singular (a channel is constant or repeats a channel), so it cannot be whitened "
            "with eps=0: give eps > 0"
        )
