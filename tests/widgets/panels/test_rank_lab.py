import numpy as np
import pytest
import torch
from cselab_widgets import RankLab
from drawn import traces

from cselab.losses import barlow_twins, cross_correlation, dimension_contrastive
from cselab.metrics import barlow_twins_floor, dimension_contrastive_floor


@pytest.fixture
def views():
    """Two views of 80 sentences in 96 dimensions, away from the origin."""
    generator = np.random.default_rng(0)
    clean = generator.normal(size=(80, 96)) + 0.5
    return np.stack([clean + 0.2 * generator.normal(size=(80, 96)) for _ in range(2)])


@pytest.fixture
def lab(views):
    return RankLab(vectors=views)


def test_64_sentences_have_rank_64(lab):
    found = traces(lab)
    assert len(found["singular values"].x) == 64
    assert found["missing"].x[0] == 64 and found["missing: words"].text == ("32 directions<br>are missing",)
    assert lab.state.rank == 64 and "64 sentences span only 64 of 96 directions" in lab.summary()


def test_artificial_rows_lift_the_rank_until_it_is_full(lab):
    assert traces(lab, artificial_rows=16)["missing"].x[0] == 80
    assert traces(lab, artificial_rows=32)["missing"].visible is False
    lab.set(artificial_rows=100)
    assert lab.state.rank == 96 and "span all 96 directions" in lab.summary()
    assert lab.state.floors["Barlow Twins"] == 0


def test_a_broken_batch_has_four_directions_and_a_higher_floor(lab):
    lab.set(broken=True)
    assert "4 sentences span only 4" in lab.summary() and lab.state.rank == 4
    assert lab.state.floors["Barlow Twins"] == barlow_twins_floor(96, 4, 0.012)


@pytest.mark.parametrize(
    "changes, title",
    [
        (
            {},
            [
                "With 64 sentences, Barlow Twins cannot fall below 0.573; with 96 it can reach 0",
                "64 sentences span only 64 of 96 directions",
            ],
        ),
        (
            {"batch_size": 80, "artificial_rows": 32},
            [
                "80 sentences and 32 artificial rows reach all 96 dimensions: Barlow Twins can fall to 0",
                "80 sentences and 32 artificial rows span all 96 directions",
            ],
        ),
    ],
)
def test_titles_answer_how_low_and_how_many(lab, changes, title):
    assert [plane.title for plane in lab.planes(**changes)] == title


@pytest.mark.parametrize("rows", [0, 40])
def test_the_singular_values_are_those_of_the_matrix(views, rows):
    lab = RankLab(vectors=views, artificial_rows=rows)
    expected = np.linalg.svd(cross_correlation(*lab.state.correlated), compute_uv=False)
    np.testing.assert_allclose(lab.state.singular_values, expected[: len(lab.state.singular_values)], atol=1e-12)


def test_a_small_batch_has_room_on_the_axis(lab):
    """The axis of batch sizes is logarithmic; that of losses starts at 0, so that a fall looks as small as it is."""
    axes, place = lab.planes(broken=True)[0], traces(lab, broken=True)["ends"].x[0]
    low, high = axes.x["range"]
    assert axes.x["type"] == "log" and (np.log10(place) - low) / (high - low) > 0.1
    assert axes.y["rangemode"] == "tozero"


def test_the_line_is_the_lowest_loss_by_the_size_of_the_batch(lab):
    found = traces(lab)
    one, other = (view / torch.stack(lab.state.views).square().mean().sqrt() for view in lab.state.views)
    expected = {
        "Barlow Twins": (barlow_twins(one, other, 0.012), lambda n: barlow_twins_floor(96, min(n, 96), 0.012)),
        "dimension-wise": (dimension_contrastive(one, other, 5.0), lambda _: dimension_contrastive_floor(96, 5.0)),
    }
    for name, (loss, floor) in expected.items():
        now = loss.total.item()
        assert f"{now:.3g}, at best {floor(64):.3g} ({name})" in lab.planes()[0].words
        assert now > floor(64)
    line, floor = found["Barlow Twins"], expected["Barlow Twins"][1]
    assert line.y == pytest.approx([floor(n) for n in line.x], abs=1e-4)
    assert line.fill == "tozeroy" and found["out of reach"].y[0] < line.y[1]  # what no such batch reaches
    assert (found["ends"].x, found["ends"].y) == ((64, 96), (pytest.approx(floor(64), abs=1e-4), 0))
    assert found["numbers"].text == ("\u2002<b>0.573</b><br>\u00a0", "\u2002<b>0</b><br>\u00a0")
    assert (
        found["out of reach"].visible and not traces(lab, artificial_rows=100)["out of reach"].visible
    )  # no area is left
    full = traces(lab, artificial_rows=32)
    assert (full["ends"].x, full["ends"].y, full["numbers"].text) == ((64,), (0,), ("\u2002<b>0</b><br>\u00a0",))


def test_losses_with_artificial_rows_agree_with_a_slow_loop(lab):
    """Vectors get the length of the artificial rows, which only Barlow Twins counts."""
    state = RankLab(vectors=3 * lab.state.pair, artificial_rows=40).state
    views = 3 * lab.state.pair[:, :64].astype(float)
    one, other = views / np.sqrt(np.mean(views**2))
    extra = np.random.default_rng(0).normal(size=(40, 96))
    columns = [np.concatenate([view, extra]) for view in (one, other)]
    columns = [view / np.linalg.norm(view, axis=0) for view in columns]
    loss = 0.0
    for c in range(96):
        for d in range(96):
            entry = columns[0][:, c] @ columns[1][:, d]
            loss += (1 - entry) ** 2 if c == d else 0.012 * entry**2
    assert state.losses["Barlow Twins"] == pytest.approx(loss, rel=1e-6)
    plain = dimension_contrastive(torch.from_numpy(one), torch.from_numpy(other), 5.0).total.item()
    assert state.losses["dimension-wise"] == pytest.approx(plain, rel=1e-6)


def test_one_view_stands_for_both(views):
    state = RankLab(vectors=views[0]).state
    assert torch.equal(*state.views)


def test_the_encoder_of_the_user_gives_two_dropout_views(tiny_encoder):
    encoder, sentences = tiny_encoder
    state = RankLab(encoder, sentences, batch_size=6).state
    assert state.views[0].shape == (6, 8)
    assert not torch.equal(*state.views)
