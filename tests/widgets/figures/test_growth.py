"""Effects by size: a plane for each, its points where the numbers are, the paper's beside ours."""

import pandas as pd
import pytest
from cselab_widgets import effect_planes


@pytest.fixture
def sizes():
    here = {"gain_low": [1.0, None], "gain_high": [4.0, None], "seeds": [3, 1], "whose": ["here", "here"]}
    ours = pd.DataFrame({"effect": ["SimCSE", "Focal-InfoNCE"], "steps": [60, 600], "gain": [3.0, 0.5], **here})
    paper = pd.DataFrame({"effect": ["Focal-InfoNCE"], "steps": [15_600], "gain": [1.65], "whose": ["paper"]})
    return pd.concat([ours, paper])


def test_each_effect_has_its_plane_with_ours_and_the_papers(sizes):
    simcse, focal = effect_planes(sizes)
    assert simcse.title == "SimCSE, over plain" and focal.title == "Focal-InfoNCE, over SimCSE"
    (here, there) = focal.traces
    assert (list(here.x), list(here.y)) == ([600], [0.5]) and (list(there.x), list(there.y)) == ([15_600], [1.65])
    assert [trace.name for trace in simcse.traces] == ["here"]


def test_error_bars_reach_the_ends_of_the_interval(sizes):
    (here,) = effect_planes(sizes)[0].traces
    assert here.y[0] + here.error_y.array[0] == 4.0 and here.y[0] - here.error_y.arrayminus[0] == 1.0


def test_one_epoch_is_a_point_of_its_own(sizes):
    epoch = pd.DataFrame({"effect": ["SimCSE"], "steps": [15_600], "gain": [6.0], "whose": ["one epoch"]})
    here, one = effect_planes(pd.concat([sizes, epoch]))[0].traces
    assert (one.name, one.mode, list(one.x), list(one.y)) == ("one epoch", "markers", [15_600], [6.0])
    assert list(here.x) == [60]
