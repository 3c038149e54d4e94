"""Drawings are valid, can be read without eyes, and are seen on white and on black."""

import re
from xml.etree import ElementTree

import pytest
from cselab_widgets import sketches

SVG = "{http://www.w3.org/2000/svg}"
BLUE, ORANGE = "#2f86cc", "#cf6a1c"  # both have a contrast of 3 on white and on #111


@pytest.mark.parametrize("name", dir(sketches))
def test_a_sketch_is_valid_has_words_and_takes_the_colours(name):
    """A sketch is valid has words and takes the colours of its page."""
    sketch = getattr(sketches, name)()
    shown = ElementTree.fromstring(sketch._repr_html_())
    assert shown.get("role") == "img" and shown.get("aria-label") == str(sketch)
    assert len(str(sketch).split()) > 20
    letters = {f"color-mix(in srgb, {color} 75%, currentColor)" for color in (BLUE, ORANGE)}
    used = set(re.findall(r'(?:fill|stroke)="([^"]+)"', sketch._repr_html_()))
    assert used <= {"currentColor", "none", BLUE, ORANGE, *letters}
    for pane in shown.findall(f"{SVG}svg"):
        _, _, width, height = map(float, pane.get("viewBox").split())
        for text in pane.findall(f"{SVG}text"):
            half = 0.28 * 14 * len(text.text)
            middle = float(text.get("x")) + {"start": half, "end": -half, "middle": 0}[text.get("text-anchor")]
            assert 0 <= middle - half and middle + half <= width <= 320 and 0 < float(text.get("y")) < height


def test_an_unknown_sketch_is_refused_with_the_names():
    with pytest.raises(AttributeError, match=r"unknown sketch 'cones'; choose one of adam, .*, cone,"):
        sketches.cones  # noqa: B018
