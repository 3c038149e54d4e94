import numpy as np
from cselab_widgets.kit.projection import project
from numpy.testing import assert_allclose


def random_rows(seed: int, rows: int = 30, width: int = 6) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, width))


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_the_axes_are_the_two_leading_eigenvectors():
    """The axes are the two leading eigenvectors of the covariance of unit rows."""
    rows = random_rows(0)
    values, vectors = np.linalg.eigh(np.cov(unit(rows).T))
    plane = project({None: rows})
    expected = (unit(rows) - unit(rows).mean(axis=0)) @ vectors[:, [-1, -2]]
    assert_allclose(np.abs(plane.points[None]), np.abs(expected), atol=1e-12)
    assert_allclose(plane.explained, values[[-1, -2]] / values.sum(), atol=1e-12)


def test_signs_are_fixed_so_that_mirrored_data_are_mirrored():
    """Signs are fixed so that mirrored data are mirrored and not turned back."""
    rows = random_rows(1)
    points, mirrored = project({None: rows}).points[None], project({None: -rows}).points[None]
    assert_allclose(mirrored, -points, atol=1e-12)


def test_the_order_of_the_sentences_does_not_turn_the_plane():
    rows, order = random_rows(2), np.random.default_rng(3).permutation(30)
    assert_allclose(project({None: rows[order]}).points[None], project({None: rows}).points[None][order], atol=1e-12)


def test_all_steps_share_the_plane_of_the_last_one():
    rows, moved = random_rows(6), random_rows(6)
    moved[3] = -moved[3]
    plane = project({0: rows, 9: moved})
    assert_allclose(np.delete(plane.points[0] - plane.points[9], 3, axis=0), 0, atol=1e-12)
    assert np.linalg.norm(plane.points[0][3] - plane.points[9][3]) > 0.1
    assert_allclose(plane.points[9], project({9: moved}).points[9], atol=1e-12)


def test_a_cone_is_seen_as_crowded_and_away_from_the_origin():
    """A cone is seen as crowded and away from the origin of the repaired step."""
    spread = random_rows(7, rows=200)
    cone = spread + 5 * np.eye(6)[0] + 5 * np.eye(6)[1]
    plane = project({0: cone, 10: spread})
    assert plane.points[0].std(axis=0).max() < plane.points[10].std(axis=0).min() / 2
    assert_allclose(plane.points[10].mean(axis=0), 0, atol=1e-12)
    assert np.linalg.norm(plane.points[0].mean(axis=0)) > 0.1


def test_a_step_shows_the_latest_snapshot_taken_by_then():
    plane = project({10: random_rows(8), 30: random_rows(9)})
    assert [plane.at(step) for step in (0, 10, 29, 30, 99)] == [10, 10, 10, 30, 30]
