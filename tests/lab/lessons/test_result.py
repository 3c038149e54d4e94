"""The result of a lesson in a sentence and a plot, from real evaluations."""

import re
from types import SimpleNamespace

import pytest
from cselab_lab.lessons import lesson

SCORES = {
    "random": SimpleNamespace(scores={"World-STS": 1.0}),
    "plain": SimpleNamespace(scores={"World-STS": 52.18}),
    "mean subtracted": SimpleNamespace(scores={"World-STS": 54.61}),
    "SimCSE": SimpleNamespace(scores={"World-STS": 58.32}),
}
GAIN = SimpleNamespace(name="World-STS", interval=(3.94, 8.16))


def test_a_result_says_from_what_to_what_and_how_sure():
    found = lesson.result("SimCSE, 60 steps", SCORES, [GAIN])
    assert repr(found) == (
        "SimCSE, 60 steps: World-STS 52.2 to 58.3, +6.1, 95\u00a0% interval 3.9 to 8.2; mean subtracted: 54.6."
    )


def test_the_plot_keeps_the_order_and_the_interval():
    html = lesson.result("SimCSE", SCORES, [GAIN])._repr_html_()
    control, before, after = (float(x) for x in re.findall(r'<circle cx="([\d.]+)"', html)[3:])
    start, end = map(float, re.search(r'd="M([\d.]+),56H([\d.]+)"', html).groups())
    assert before < control < after and start < after < end
    points = (after - before) / (58.32 - 52.18)
    assert (end - start) / points == pytest.approx(8.16 - 3.94, abs=0.01)
    assert (start - before) / points == pytest.approx(3.94, abs=0.01)


def test_a_result_needs_a_control():
    with pytest.raises(ValueError, match="scores has 2 entries; expected before, a control and after"):
        lesson.result("SimCSE", {name: SCORES[name] for name in ("plain", "SimCSE")}, [GAIN])
