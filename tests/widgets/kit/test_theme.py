import pytest
from cselab_widgets.kit.page_panel import CSS as COMPUTED
from cselab_widgets.kit.theme import CSS, INK, NUMERIC_SCALE, PALETTE, ROLES


def luminance(color: str) -> float:
    """Relative luminance by WCAG 2."""
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    light, dark = sorted([luminance(one), luminance(other)], reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("page", ["#ffffff", "#111111"], ids=["light", "dark"])
def test_marks_stand_out_on_both_themes(page):
    for color in (INK, *ROLES.values(), *PALETTE, *NUMERIC_SCALE):
        assert contrast(color, page) >= 3


def test_roles_differ_and_an_order_goes_from_light_to_dark():
    assert len(set(ROLES.values())) == len(ROLES)
    steps = [luminance(color) for color in NUMERIC_SCALE]
    assert steps == sorted(steps, reverse=True)


def test_the_style_sheets_hold_the_colours_of_the_roles():
    assert "--cselab-anchor" not in CSS + COMPUTED
    for role in ("anchor", "positive", "negative"):
        assert f".cselab-{role}s path {{ fill: {ROLES[role].lower()}; }}" in COMPUTED
