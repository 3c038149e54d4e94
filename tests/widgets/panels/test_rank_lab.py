import numpy as np
import pytest
import torch
from cselab_widgets import RankLab
from cselab_widgets.panels.rank_lab import NORMAL, descent

from cselab.losses import barlow_twins, dimension_contrastive
from cselab.metrics import barlow_twins_floor, dimension_contrastive_floor

pytestmark = pytest.mark.slow


@pytest.fixture
def views():
    """Two views of 80 sentences in 96 dimensions, away from the origin."""
    generator = np.random.default_rng(0)
    clean = generator.normal(size=(80, 96)) + 0.5
    return np.stack([clean + 0.2 * generator.normal(size=(80, 96)) for _ in range(2)])


@pytest.fixture
def lab(views):
    return RankLab(vectors=views)


def traces(lab, **changes):
    return {trace.uid: trace for trace in lab.figure(**changes).data}


def test_64_sentences_have_rank_64_and_one_less_when_centred(lab):
    found = traces(lab)
    assert len(found["singular values: uncentred"].x) == 64
    assert len(found["singular values: centred"].x) == 63
    assert found["measured"].y == (64,) and lab.state.rank("centred") == 63
    assert "rank 64 uncentred, 63 centred; at most 64 of 96" in lab.summary()


def test_artificial_rows_lift_the_rank_until_it_is_full(lab):
    assert traces(lab, artificial_rows=16)["measured"].y == (80,)
    assert traces(lab, artificial_rows=32)["measured"].y == (96,)
    lab.set(artificial_rows=100)
    assert "rank 96 uncentred, 96 centred; full rank" in lab.summary()
    assert lab.state.floors["Barlow Twins"] == 0


def test_the_line_is_the_bound_and_the_batch_lies_on_it(lab):
    line, measured = (traces(lab, batch_size=32)[uid] for uid in ("bound", "measured"))
    assert line.y[line.x.index(32)] == measured.y[0] == 32
    assert max(line.y) == line.y[line.x.index(96)] == 96  # the knee is a point of the line
    assert lab.figure().layout.xaxis.type is None  # linear: the knee is a knee


@pytest.mark.parametrize(
    ("changes", "title"),
    [
        ({}, "64 sentences: rank 64 of 96"),
        ({"batch_size": 80, "artificial_rows": 32}, "80 sentences and 32 artificial rows: rank 96 of 96"),
    ],
)
def test_the_title_is_the_answer(lab, changes, title):
    assert lab.figure(**changes).layout.annotations[0].text == title


def test_the_paper_s_setting_has_the_paper_s_numbers():
    lab = RankLab(vectors=np.random.default_rng(0).normal(size=(64, 768)), source=NORMAL)
    assert (lab.state.batch_size, lab.state.dimensions) == (64, 768)
    assert (lab.state.rank("uncentred"), lab.state.rank("centred")) == (64, 63)


def test_both_losses_start_at_the_batch_and_stay_above_their_floors(lab):
    found = traces(lab)
    state = lab.state
    one, other = (view / torch.stack(state.views).square().mean().sqrt() for view in state.views)
    starts = {
        "Barlow Twins": barlow_twins(one, other, 0.012).total,
        "dimension-wise": dimension_contrastive(one, other, 5.0).total,
    }
    floors = {"Barlow Twins": barlow_twins_floor(96, 64, 0.012), "dimension-wise": dimension_contrastive_floor(96, 5.0)}
    for name, floor in floors.items():
        line = found[name].y
        assert line[0] == pytest.approx(float(starts[name]), rel=1e-3)
        assert line[0] > line[-1] > floor - 1e-4
        assert found[f"{name}: floor"].y == (pytest.approx(floor, abs=1e-4),) * 2


def test_the_free_rows_come_near_the_floor_and_the_bottleneck_costs_only_barlow_twins(lab):
    reached, floors = {n: v[-1] for n, v in lab.state.descents.items()}, lab.state.floors
    assert reached["Barlow Twins"] < 1.5 * floors["Barlow Twins"]
    assert reached["dimension-wise"] < 1.01 * floors["dimension-wise"]
    assert floors["Barlow Twins"] > 0.5


def test_a_step_means_the_same_at_every_scale(lab):
    views = lab.state.views
    loss = lambda a, b: barlow_twins(a, b, 0.012).total  # noqa: E731
    np.testing.assert_allclose(descent([1e4 * view for view in views], loss), descent(views, loss), rtol=1e-3)


def test_other_weights_and_temperatures_change_the_floors(views):
    strict = RankLab(vectors=views, weight=0.5, temperature=1.0).state.floors
    assert strict["Barlow Twins"] == barlow_twins_floor(96, 64, 0.5)
    assert strict["dimension-wise"] == dimension_contrastive_floor(96, 1.0)


def test_one_view_stands_for_both(views):
    state = RankLab(vectors=views[0]).state
    assert torch.equal(*state.views)


def test_the_encoder_of_the_user_gives_two_dropout_views(tiny_encoder):
    encoder, sentences = tiny_encoder
    state = RankLab(encoder, sentences, batch_size=6).state
    assert state.source == "tiny" and state.views[0].shape == (6, 8)
    assert not torch.equal(*state.views)
