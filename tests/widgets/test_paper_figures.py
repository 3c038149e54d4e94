"""The papers' figures from results: each mark stands where the record has its row."""

import numpy as np
import pytest
from cselab_lab.experiments import read_results
from cselab_lab.experiments.store import recorded_results
from cselab_widgets.figures.papers import FIGURES, draw

from cselab.losses import focal_info_nce


def results_of(name):
    return read_results(FIGURES[name][0], folder=recorded_results())


@pytest.mark.parametrize("name", ["imsimcse-figure1", "survey-figure3"])
def test_draw_puts_each_row_at_its_mean_uniformity_and_alignment(name):
    results = results_of(name)
    (figure,) = draw(name, results, None).values()
    drawn = np.array(
        [place for trace in figure.data for place in zip(trace.x or (), trace.y or (), strict=True)], float
    )
    for label in results.lines:
        place = results.mean(label, "uniformity"), results.mean(label, "alignment")
        assert np.nanmin(np.abs(drawn - place).sum(axis=1)) < 2e-4, label
    assert "mini, world:20000" in figure.layout.title.text


def test_draw_ends_each_curve_at_the_mean_of_the_seeds():
    results = results_of("whitenedcse-figure3")
    for measure, figure in draw("whitenedcse-figure3", results, None).items():
        drawn = [trace.y[-1] for trace in figure.data if trace.y]
        for label in filter(results.curves, results.lines):
            last = np.mean([rows[-1][measure] for rows in results.curves(label).values()])
            assert np.abs(np.array(drawn) - last).min() < 1e-4, (measure, label)


def test_rescaling_is_that_of_the_loss():
    """The negative's curve is the logit whose exponential the loss sums: solved for with two rows."""
    import torch

    (figure,) = draw("focal-figure1", results_of("focal-figure1"), None).values()
    (curve,) = (trace for trace in figure.data if "0.3" in trace.name)
    angle = torch.tensor(np.arccos(curve.x[60]))
    anchor = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    other = torch.stack([torch.cos(angle), torch.sin(angle)])
    loss = focal_info_nce(anchor, torch.stack([anchor[0], other]), temperature=1.0, m=0.3)
    positive = float(other[1]) ** 2
    terms = [np.log(np.exp(1.0) + np.exp(curve.y[60])) - 1.0, np.log(np.exp(positive) + 1.0) - positive]
    assert float(loss.total) == pytest.approx(np.mean(terms), abs=1e-6)


def test_draw_asks_for_kept_encoders_where_it_needs_vectors():
    with pytest.raises(ValueError, match="--keep-encoders FOLDER"):
        draw("whitenedcse-figure1", results_of("whitenedcse-figure1"), None)
