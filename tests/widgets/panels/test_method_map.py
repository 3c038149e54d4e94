"""The map of methods: a dot a stage, by family, told in words when it is clicked."""

import pytest
from cselab_lab.lessons.pipeline_diff import Card
from cselab_widgets import MethodMap

CARDS = [
    Card("simcse", "SimCSE", "baseline", {}),
    Card("mine", "Mine <b>", "loss", {"view": "changed texts", "loss": "triplet"}),
    Card("other", "Other", "loss", {"loss": "n pair"}),
    Card("rows", "Rows", "extra data", {"data": "rows of a, b"}),
]


@pytest.fixture
def shown():
    panel = MethodMap(CARDS)
    yield panel
    panel.close()


def dots(panel, **changes):
    return {
        trace.uid: list(zip(trace.x, trace.y, trace.customdata, strict=True))
        for plane in panel.planes(**changes)
        for trace in plane.traces
        if trace.customdata is not None  # the pipeline has none
    }


def test_a_dot_stands_where_a_method_touches_the_pipeline_and_knows_whose_it_is(shown):
    assert dots(shown) == {"baseline": [], "loss": [(1, -3, 1), (4, -3, 1), (4, -4, 2)], "extra data": [(0, -6, 3)]}
    figure = shown.figure()
    assert figure.layout.xaxis.ticktext == ("data", "view", "encoder", "head", "loss")
    names = dict(zip(figure.layout.yaxis.tickvals, figure.layout.yaxis.ticktext, strict=True))
    assert (names[-3], names[-2.2]) == ("Mine &lt;b&gt;", "<b>loss</b>")
    assert [trace.uid for trace in figure.data] == [trace.uid for trace in shown.figure(family="loss").data]


def test_one_family_alone_moves_up_and_keeps_its_rows(shown):
    assert dots(shown, family="extra data")["extra data"] == [(0, -1, 3)]
    assert shown.planes(family="extra data")[0].tall < MethodMap(CARDS * 6).planes()[0].tall
    assert "SimCSE" not in MethodMap(CARDS, family="loss").summary()


def test_what_was_clicked_is_told_stage_by_stage(shown):
    assert shown.details(shown.state) == ""
    shown.clicked(1)
    told = shown.details(shown.state)
    assert "<th>view</th><td>changed texts</td>" in told and "Mine &lt;b&gt;" in told and "Rows" not in told
    assert list(shown.picked()["loss"]) == ["triplet"]
    assert "<b>\u2192 Mine &lt;b&gt;</b>" in shown.figure().layout.yaxis.ticktext


@pytest.mark.parametrize(
    "given, said",
    [({"cards": []}, "cards is empty"), ({"cards": CARDS, "family": "text"}, "choose one of all, baseline, loss")],
)
def test_what_cannot_be_drawn_is_refused(given, said):
    with pytest.raises(ValueError, match=said):
        MethodMap(**given)
