import pytest
from cselab_widgets.kit.scrubber import Scrubber


def test_a_scrubber_starts_at_the_step_it_is_given():
    scrubber = Scrubber([0, 10, 25], 10)
    assert (scrubber.value, scrubber.slider.value, scrubber.play.value) == (10, 10, 1)


@pytest.mark.parametrize("part", ["value", "slider", "play"])
def test_slider_play_button_and_value_move_together(part):
    scrubber = Scrubber([0, 10, 25], 10)
    if part == "value":
        scrubber.value = 25
    elif part == "slider":
        scrubber.slider.value = 25
    else:
        scrubber.play.value = 2
    assert (scrubber.value, scrubber.slider.value, scrubber.play.value) == (25, 25, 2)
