import pytest
from cselab_widgets.kit.theme import INK, NUMERIC_SCALE, OKABE_ITO


def luminance(color: str) -> float:
    """Relative luminance by WCAG 2."""
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    light, dark = sorted([luminance(one), luminance(other)], reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("page", ["#ffffff", "#111111"], ids=["light", "dark"])
def test_text_reads_on_both_themes(page):
    assert contrast(INK, page) > 4.3


def test_data_colours_never_vanish_into_either_page():
    for color in (*OKABE_ITO, *NUMERIC_SCALE):
        assert min(contrast(color, "#ffffff"), contrast(color, "#111111")) > 1.25


def test_the_dark_end_of_the_numeric_scale_stands_out_on_a_dark_page():
    assert contrast(NUMERIC_SCALE[0], "#111111") >= 3


def test_the_numeric_scale_gets_steadily_lighter():
    steps = [luminance(color) for color in NUMERIC_SCALE]
    assert steps == sorted(steps)
