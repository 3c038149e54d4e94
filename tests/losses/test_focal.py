import pytest
import torch

from cselab.losses import focal_info_nce


@pytest.mark.parametrize("detach", [False, True])
def test_the_derivatives_by_the_cosines_are_the_papers(detach):
    """Eq. 5, and Eq. 4 mended; view2 is a basis, so that the coordinates of view1 are the cosines."""
    temperature, m = 0.5, 0.3
    cosines = 0.9 * torch.rand(4, 4, generator=torch.Generator().manual_seed(0)).double() - 0.45
    cosines.requires_grad_()
    rest = (1 - cosines.square().sum(1, keepdim=True)).sqrt()
    view1, view2 = torch.cat([cosines, rest], dim=1), torch.eye(4, 5, dtype=torch.float64)
    gradient = torch.autograd.grad(focal_info_nce(view1, view2, temperature, m, detach).total, cosines)[0]

    with torch.no_grad():
        own = torch.eye(4, dtype=torch.bool)
        logits = torch.where(own, cosines**2, cosines * (cosines + m)) / temperature
        slopes = torch.where(own, 2 * cosines, 2 * cosines + m) / temperature
        if detach:
            slopes = torch.where(own, cosines, cosines + m) / temperature
        expected = (logits.softmax(dim=1) - own.double()) * slopes / 4  # / 4: the mean over the batch
    torch.testing.assert_close(gradient, expected, rtol=0, atol=1e-12)


def test_detaching_leaves_the_value(make_views):
    view1, view2 = make_views()
    attached, detached = (focal_info_nce(view1, view2, 0.07, 0.3, detach=detach).total for detach in (False, True))
    assert attached == detached
