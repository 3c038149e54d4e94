import pytest
import torch

from cselab.losses import decoupled_info_nce
from cselab.methods import Noise


@pytest.mark.parametrize("on", ["positives", "negatives"])
@pytest.mark.parametrize("options", [{"mean_of": 3}, {"variance": 0.25}], ids=str)
def test_one_kind_of_pair_is_of_means_of_disjoint_views(options, on, table, batch):
    """One kind of pair is of means of disjoint views or of views with gaussian noise."""
    method = Noise(on=on, temperature=0.2, **options)
    encode = table(method)
    loss = method.loss(method.views(encode, batch)).total.item()
    encode.replay()
    passes = [encode(batch).detach() for _ in range(6)]
    plain, changed = passes[:2], [sum(passes[0::2]) / 3, sum(passes[1::2]) / 3]
    if "variance" in options:
        method.seed(0)
        changed = [view + 0.5 * torch.randn(view.shape, generator=method.generator) for view in plain]
    pairs = (changed, plain) if on == "positives" else (plain, changed)
    assert loss == pytest.approx(decoupled_info_nce(*map(tuple, pairs), 0.2).total.item(), rel=1e-5)
