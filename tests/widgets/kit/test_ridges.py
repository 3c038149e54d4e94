import numpy as np
import pytest
from cselab_widgets.kit.ridges import beaten, by_grade, cosine_limits, density, order_of, ridges
from cselab_widgets.kit.theme import INK


def test_a_density_is_a_density():
    values = 0.1 * np.random.default_rng(0).normal(size=300)
    grid = np.linspace(-0.6, 0.6, 400)
    curve = density(values, grid)
    assert curve.sum() * (grid[1] - grid[0]) == pytest.approx(1, abs=1e-3)
    np.testing.assert_allclose(curve, 10 * np.exp(-((10 * grid) ** 2) / 2) / np.sqrt(2 * np.pi), atol=0.6)


def test_a_density_near_1_keeps_its_mass_and_its_ends_are_flat():
    values = 1 - 0.05 * np.abs(np.random.default_rng(0).normal(size=200))
    grid = np.linspace(0.5, 1, 1001)
    assert density(values, grid).sum() * (grid[1] - grid[0]) == pytest.approx(1, abs=0.02)
    (hill, *_) = ridges(values, by_grade([0.0] * 200), "x")
    height = hill.y[:-2] / hill.y.max()
    assert height[0] < 0.02 and hill.x.max() == 1


def test_equal_values_are_a_peak_and_not_an_error():
    grid = np.linspace(0, 1, 101)
    assert grid[density(np.full(5, 0.3), grid).argmax()] == pytest.approx(0.3)


def test_few_grades_are_a_band_each_and_many_are_gathered():
    """Few grades are a band each and many are gathered by whole grades."""
    assert by_grade([2.0, 0.0, 2.0]).names == ("0", "2")
    assert [rows.tolist() for rows in by_grade([2.0, 0.0, 2.0]).rows] == [[1], [0, 2]]
    many = by_grade(np.linspace(0, 5, 26))
    assert many.names == ("0 to 1", "1 to 2", "2 to 3", "3 to 4", "4 to 5")
    assert sum(map(len, many.rows)) == 26 and 25 in many.rows[-1]


def test_a_ridge_stands_on_its_line():
    """A ridge stands on its line and its pairs lie below carrying their number."""
    cosines = np.array([0.1, 0.2, 0.8, 0.9])
    bands = by_grade([0.0, 0.0, 1.0, 1.0])
    drawn = {t.uid: t for t in ridges(cosines, bands, "x", list("abcd"), "#123456")}
    assert drawn["x: 1"].y.min() == 1 and drawn["x: 0"].y.max() < 1
    pairs = drawn["x: pairs"]
    assert pairs.customdata.tolist() == [[0, "a"], [1, "b"], [2, "c"], [3, "d"]]
    assert (pairs.y < [0, 0, 1, 1]).all() and (pairs.y > [-0.15, -0.15, 0.85, 0.85]).all()
    assert {trace.line.color or trace.marker.color for trace in drawn.values()} == {"#123456", INK}
    dark = [hill.fillcolor for hill in ridges(cosines, bands, "x", color="#123456", dark=[1])]
    assert dark == [None, "#123456", None]  # two hills and their medians
    low, high = cosine_limits(bands, cosines, also=[-0.7])
    assert low == -0.72 and drawn["x: 1"].x.max() < high <= 1.02
    assert "2 pairs, median cosine 0.850" in drawn["x: 1"].text


def test_grades_are_compared_by_all_their_pairs():
    """A reversal is named where a test finds it; two medians that cross by chance are none."""
    bands = by_grade([0.0] * 20 + [1.0] * 20 + [2.0] * 20, [*"aab"] * 20)
    low, middle, high = np.random.default_rng(0).normal([0.2, 0.5, 0.9], 0.02, size=(20, 3)).T
    assert order_of(np.concatenate([low, middle, high]), bands) == "the higher the grade, the higher the cosine"
    told = order_of(np.concatenate([middle, low, high]), bands)
    assert told == "grade 0 (a, b) has higher cosines than grade 1" and beaten(
        np.concatenate([low, high, middle]), bands, 1
    ) == [2]
    assert order_of(np.concatenate([high, low, middle]), bands).endswith(" than grades 1 and 2")
    crossed = np.concatenate([low, middle, middle - 0.001])
    assert order_of(crossed, bands) == "no grade lies clearly above a higher one"
