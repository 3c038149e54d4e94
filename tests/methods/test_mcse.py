import pytest
import torch
from tiny import make_rows

from cselab.losses import info_nce
from cselab.methods import MCSE

COLUMNS = ("sentence", "scene")


def test_both_views_are_contrasted_with_the_scene_in_a_space(trainer):
    """Both views are contrasted with the scene in a space of their own."""
    method = MCSE(weight=0.5, scene_temperature=0.2, width_of_space=5)
    encode, _ = trainer(method, dropout=0)
    rows = make_rows(COLUMNS, 6)
    v = method.views(encode, rows)
    vectors = encode([row[0] for row in rows], head=False)
    scenes = torch.tensor([[float(number) for number in row[1].split()] for row in rows])
    u, picture = torch.tanh(method.from_text(vectors)), torch.tanh(method.from_scene(scenes))
    assert u.shape == picture.shape == (6, 5)
    expected = 0.5 * info_nce(u, picture, 0.2).total.item()
    assert method.loss(v).floats()["scene"] == pytest.approx(expected, rel=1e-5)
