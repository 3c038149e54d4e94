"""losses.js, computed by a real browser, beside cselab.losses and cselab.sgw: values and gradients of each loss."""

import json

import numpy as np
import pytest
import torch
from cselab_widgets.kit.scripts import KIT, inlined

from cselab import losses
from cselab.sgw import shuffled_group_whiten

pytestmark = [pytest.mark.browser, pytest.mark.daily]

SHUFFLED = [3, 0, 5, 1, 4, 2]


def whitened(groups):
    return lambda x: shuffled_group_whiten(x, groups, torch.tensor(SHUFFLED))


# By the call in JavaScript, of views a, b, c and temperature t: the same in torch.
LOSSES = {
    "infoNce(a, b, t)": lambda a, b, c, t: losses.info_nce(a, b, t),
    "infoNce(a, b, t, c)": lambda a, b, c, t: losses.info_nce(a, b, t, negatives=c),
    "focalInfoNce(a, b, t, 0.3)": lambda a, b, c, t: losses.focal_info_nce(a, b, t, 0.3),
    "focalInfoNce(a, b, t, 0.7, c)": lambda a, b, c, t: losses.focal_info_nce(a, b, t, 0.7, negatives=c),
    "offDropoutInfoNce(a, b, c, t, 0.9)": lambda a, b, c, t: losses.off_dropout_info_nce(a, b, c, t, 0.9),
    "offDropoutInfoNce(a, b, c, t, 1.5, b)": lambda a, b, c, t: losses.off_dropout_info_nce(
        a, b, c, t, 1.5, negatives=b
    ),
    "multiPositiveInfoNce(a, [b, c], t)": lambda a, b, c, t: losses.multi_positive_info_nce(a, [b, c], t),
    "dimensionContrastive(a, b, t)": lambda a, b, c, t: losses.dimension_contrastive(a, b, t),
    "barlowTwins(a, b, 0.012)": lambda a, b, c, t: losses.barlow_twins(a, b, 0.012),
    "infoNce(white(a, 1), white(b, 1), t)": lambda a, b, c, t: losses.info_nce(whitened(1)(a), whitened(1)(b), t),
    "infoNce(white(a, 3), white(b, 3), t)": lambda a, b, c, t: losses.info_nce(whitened(3)(a), whitened(3)(b), t),
}

ALL = """([views, temperatures]) => {
    const order = %s;
    const white = (x, groups) => shuffledGroupWhiten(x, groups, order);
    return views.map((three, k) => {
        const [a, b, c] = three.map((rows) => Matrix.of(rows));
        const t = temperatures[k];
        return [%s].map((loss) => ({
            value: loss.value,
            gradients: gradients(loss, [a, b, c]).map((one) => one.toRows()),
        }));
    });
}"""


@pytest.fixture(scope="module")
def batches():
    """Three views each of 9 sentences in 6 dimensions: lengths far from 1, a cone, nearly alike; temperatures."""
    draw = np.random.default_rng(0)
    cone = draw.normal(size=(3, 9, 6)) * 0.3 + np.array([2.0, 0, 0, 1, 0, 0])
    alike = draw.normal(size=(9, 6)) + 0.05 * draw.normal(size=(3, 9, 6))
    lengths = np.exp(draw.normal(size=(3, 9, 1)))
    return [draw.normal(size=(3, 9, 6)) * lengths, cone, alike, alike[::-1] * 3], [0.05, 0.2, 1.0, 0.02]


def test_every_loss_has_the_values_and_the_gradients_of_torch(page, batches):
    page.add_script_tag(content=inlined([KIT / "linear.js", KIT / "autograd.js", KIT / "losses.js"]))
    views, temperatures = batches
    given = [[array.tolist() for array in three] for three in views]
    found = page.evaluate(ALL % (json.dumps(SHUFFLED), ", ".join(LOSSES)), [given, temperatures])
    for three, t, told in zip(views, temperatures, found, strict=True):
        for (call, loss), ours in zip(LOSSES.items(), told, strict=True):
            inputs = [torch.tensor(array.copy(), requires_grad=True) for array in three]
            total = loss(*inputs, t).total
            total.backward()
            torch.testing.assert_close(ours["value"], total.item(), rtol=1e-5, atol=1e-8, msg=call)
            for one, mine in zip(inputs, ours["gradients"], strict=True):
                wanted = torch.zeros_like(one) if one.grad is None else one.grad
                scale = max(float(wanted.abs().max()), 1e-3)
                worst = float((torch.tensor(mine, dtype=torch.float64) - wanted).abs().max())
                assert worst < 1e-5 * scale, f"{call} at temperature {t}: {worst} of {scale}"
