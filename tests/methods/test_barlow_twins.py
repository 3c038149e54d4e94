import pytest
import torch

from cselab.losses import barlow_twins, info_nce
from cselab.methods import BarlowTwins


@pytest.mark.parametrize("shared", [True, False])
def test_the_loss_is_info_nce_plus_the_weighted_twins(shared, table, batch):
    """The loss is info nce plus the weighted twins with artificial rows."""
    method = BarlowTwins(artificial_rows=5, shared_rows=shared, weight=0.2, redundancy=0.03, temperature=0.1)
    encode = table(method)
    loss = method.loss(method.views(encode, batch))
    encode.replay()
    first, second = encode(batch), encode(batch)
    method.seed(0)
    extra = torch.randn(5, 8, generator=method.generator)
    if not shared:
        extra = (extra, torch.randn(5, 8, generator=method.generator))
    twins = barlow_twins(first, second, 0.03, extra).floats()
    assert loss.floats() == {
        "info_nce": pytest.approx(info_nce(first, second, 0.1).total.item()),
        "invariance": pytest.approx(0.2 * twins["invariance"]),
        "redundancy": pytest.approx(0.2 * twins["redundancy"]),
    }


def test_the_rows_are_fresh_at_each_step_and_follow_the_seed(table, batch):
    method = BarlowTwins(artificial_rows=5)
    encode = table(method)
    views = method.views(encode, batch)
    first, second = (method.loss(views).floats()["redundancy"] for _ in range(2))
    assert first != second
    method.seed(0)
    assert method.loss(views).floats()["redundancy"] == first
