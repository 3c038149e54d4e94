"""Drawings are valid, can be read without eyes, and are seen on white and on black."""

import re
from xml.etree import ElementTree

import pytest
from cselab_widgets import sketches
from cselab_widgets.figures.sketches import BLUE, OF_COLOR, ORANGE, WIDTH

DRAWN = [name for name in sketches.__all__ if name != "Sketch"]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(params=DRAWN)
def sketch(request):
    return getattr(sketches, request.param)()


def panes(sketch):
    return ElementTree.fromstring(sketch._repr_html_()).findall(f"{SVG}svg")


def test_it_is_valid_and_the_same_each_time(sketch):
    assert len(panes(sketch)) == len(sketch.panes) == 2
    assert sketch._repr_html_() == type(sketch)(sketch.words, sketch.panes)._repr_html_()


def test_words_say_what_it_shows(sketch):
    found = ElementTree.fromstring(sketch._repr_html_())
    assert found.get("role") == "img" and found.get("aria-label") == str(sketch) == repr(sketch)
    assert len(str(sketch).split()) > 20


def test_colours_are_those_of_the_text_or_the_two_that_are_seen_on_white_and_on_black(sketch):
    used = set(re.findall(r'(?:fill|stroke)="([^"]+)"', sketch._repr_html_()))
    letters = {f"color-mix(in srgb, {color} {OF_COLOR}%, currentColor)" for color in (BLUE, ORANGE)}
    assert used <= {"currentColor", "none", BLUE, ORANGE, *letters}
    assert all(text.get("fill") not in (BLUE, ORANGE) for pane in panes(sketch) for text in pane.iter(f"{SVG}text"))


def channels(color):
    return [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]


def luminance(parts):
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("color", [BLUE, ORANGE])
@pytest.mark.parametrize("page", ["#ffffff", "#111111"])
def test_contrast_is_what_wcag_asks_of_graphics(color, page):
    assert contrast(channels(color), channels(page)) >= 3


@pytest.mark.parametrize("color", [BLUE, ORANGE])
@pytest.mark.parametrize(("text", "page"), [("#24292f", "#ffffff"), ("#d5dae1", "#16191d")])  # those of page.css
def test_contrast_of_coloured_letters_is_what_wcag_asks_of_text(color, text, page):
    share = OF_COLOR / 100
    letters = [share * one + (1 - share) * other for one, other in zip(channels(color), channels(text), strict=True)]
    assert contrast(letters, channels(page)) >= 4.5


def test_panes_are_narrow_enough_for_a_telephone_and_nothing_is_drawn_outside(sketch):
    for pane in panes(sketch):
        _, _, width, height = map(float, pane.get("viewBox").split())
        assert width == WIDTH <= 320
        for text in pane.findall(f"{SVG}text"):  # those that are not turned
            half = 0.28 * 14 * len(text.text)
            middle = float(text.get("x")) + {"start": half, "end": -half, "middle": 0}[text.get("text-anchor")]
            assert 0 <= middle - half and middle + half <= width, text.text
            assert 0 < float(text.get("y")) < height


@pytest.mark.parametrize("size", [3, 8])
def test_a_batch_has_one_positive_a_row(size):
    drawn = sketches.batch_matrix(size, row=1).panes[0][0]
    assert drawn.count(f'fill="{BLUE}"') == size
    assert drawn.count("<rect") == size * size + 1
    assert drawn.count(f'stroke="{ORANGE}"') == 1


@pytest.mark.parametrize("size", [3, 8])
def test_noise_changes_the_diagonal_or_all_but_the_diagonal(size):
    drawn = [pane[0].count(f'fill="{ORANGE}"') for pane in sketches.noisy_cells(size).panes]
    assert drawn == [size, size * (size - 1)]


def shapes(pane, kind):
    return ElementTree.fromstring(f"<g>{pane[0]}</g>").findall(kind)


def test_an_interval_holds_0_where_the_drawing_says_so():
    for pane, said in zip(sketches.interval().panes, ("outside", "inside"), strict=True):
        (bar,), zero = shapes(pane, "rect"), float(re.search(r"M(\S+) 44L", pane[0])[1])
        (mean,) = (dot for dot in shapes(pane, "circle") if dot.get("fill") == ORANGE)
        dots = [float(dot.get("cx")) for dot in shapes(pane, "circle") if dot.get("fill") == BLUE]
        low, width = float(bar.get("x")), float(bar.get("width"))
        assert (low < zero < low + width) == (said == "inside") and f"0 is {said}" in pane[0]
        assert len(dots) == 5 and float(mean.get("cx")) == pytest.approx(sum(dots) / 5, abs=0.1)
        assert float(mean.get("cx")) == pytest.approx(low + width / 2, abs=0.1)


def lengths(pane, color):
    """Of a drawing's arrows of one colour, how far each goes up or down."""
    lines = [line for line in shapes(pane, "path") if line.get("stroke") == color]
    ends = [re.fullmatch(r"M\S+ (\S+)L\S+ (\S+)", line.get("d")).groups() for line in lines]
    return [float(start) - float(end) for start, end in ends]


def test_adams_steps_do_not_depend_on_the_size_of_the_gradients_but_on_their_agreement():
    gradients, steps = (lengths(pane, color) for pane, color in zip(sketches.adam().panes, (BLUE, ORANGE), strict=True))
    large, small, to_and_fro = steps
    assert sum(gradients[:4]) > 4 * sum(gradients[4:8])
    assert large == pytest.approx(small, rel=0.02) and to_and_fro < large / 3


@pytest.mark.parametrize("variance", [0.25, 1.0])
def test_noise_of_a_variance_is_its_root_as_long_as_the_common_part(variance):
    for pane, given in zip(sketches.shrinkage(variance, 1).panes, (variance, 1), strict=True):
        (common,) = (line for line in shapes(pane, "path") if line.get("stroke") == "currentColor")
        start, end = map(float, re.fullmatch(r"M(\S+) \S+L(\S+) \S+", common.get("d")).groups())
        assert max(lengths(pane, ORANGE)) == pytest.approx((end - start) * given**0.5)
        assert f"= {1 / (1 + given):.2f}" in pane[0]
