"""The check of two sentences about which the map lies: by property, whichever pair is found."""

import numpy as np
import pytest
from cselab_lab.lessons.checks import liars
from cselab_lab.lessons.exercises import diagnose


@pytest.fixture(scope="module")
def pairs():
    """Pairs by what the map and the full width say of them."""
    cloud = liars.cloud()
    far, near = liars.distances(cloud.points), liars.cosines(cloud.vectors)
    in_map = np.argsort(np.argsort(far, axis=1), axis=1) < 5
    crowd = np.argsort(np.argsort(-near, axis=1), axis=1)
    strangers = crowd >= 96

    def first(wanted):
        one, other = np.argwhere(np.triu(wanted & wanted.T, 1))[0]
        return int(one), int(other)

    return {
        "lie": first(in_map & strangers),
        "true": first(in_map & (crowd < 5)),
        "far": first(~in_map & strangers),
        "far, near in full": first(~in_map & (crowd < 5)),
    }


def test_a_pair_about_which_the_map_lies_is_solved_in_either_order(pairs):
    one, other = pairs["lie"]
    assert diagnose((one, other), liars.STAGES).solved
    assert diagnose([other, one], liars.STAGES).solved


def test_there_are_several_such_pairs_so_that_a_class_finds_some():
    cloud = liars.cloud()
    rows = range(len(cloud.sentences))
    found = [(a, b) for a in rows for b in rows if a < b and liars._beside((a, b)) and liars._strangers((a, b))]
    assert len(found) >= 8


@pytest.mark.parametrize(
    ("answer", "diagnosis"),
    [
        ("true", "the map tells the truth"),
        ("far", "lasso a few dots that touch"),
        ("far, near in full", "lasso a few dots that touch"),
        ((3, 3), "two different row numbers"),
        ((3, 192), "from 0 to 191"),
        ((-1, 3), "from 0 to 191"),
        ((1.0, 2.0), "whole numbers"),
        (("3", "17"), "whole numbers"),
        ((1, 2, 3), "raised ValueError"),
        (5, "raised TypeError"),
        ("a cook peels", "whole numbers"),
        ((True, False), "whole numbers"),
    ],
)
def test_a_wrong_answer_is_named(pairs, answer, diagnosis):
    tried = pairs[answer] if isinstance(answer, str) and answer in pairs else answer
    verdict = diagnose(tried, liars.STAGES)
    assert not verdict.solved and diagnosis in verdict.lines[-1]
