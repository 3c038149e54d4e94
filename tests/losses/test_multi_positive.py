from math import exp, log

import pytest

from cselab.losses import multi_positive_info_nce


@pytest.mark.parametrize("reduction", ["outside", "inside", "inside_printed"])
def test_multi_positive_info_nce_agrees_with_loops(make_views, cosine, reduction):
    anchor, *positives = make_views(4)
    weight, rows = 0.4, []
    for i in range(6):
        outside, inside, printed = 0.0, 0.0, 0.0
        for positive in positives:
            own = cosine(anchor[i], positive[i]) / 0.3
            denominator = sum(exp(cosine(anchor[i], positive[j]) / 0.3) for j in range(6))
            outside += -weight * log(exp(own) / denominator)
            inside += weight * exp(-own) * denominator
            printed += weight * exp(-own) / denominator
        rows.append({"outside": outside, "inside": log(inside), "inside_printed": -log(printed)}[reduction])
    loss = multi_positive_info_nce(anchor, positives, 0.3, reduction, weight)
    plain, one = (multi_positive_info_nce(anchor, positives, 0.3, reduction, *w).total for w in ((), (1.0,)))
    assert plain == one
    assert loss.floats() == {"multi_positive_info_nce": pytest.approx(sum(rows) / 6, abs=1e-10)}
