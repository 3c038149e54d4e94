"""The map of methods: a dot a stage, by family or year, told in words when it is clicked."""

import pytest
from cselab_lab.lessons.pipeline_diff import Card
from cselab_widgets import MethodMap

CARDS = [
    Card("simcse", "SimCSE", "baseline", {}, "2021"),
    Card("mine", "Mine <b>", "loss", {"view": "changed texts", "loss": "triplet"}, "2023"),
    Card("other", "Other", "loss", {"loss": "n pair"}, "2021"),
    Card("rows", "Rows", "extra data", {"data": "rows of a, b"}),
]


@pytest.fixture
def shown():
    panel = MethodMap(CARDS)
    yield panel
    panel.close()


def lines(panel, **changes):
    """The names beside the planes from top to bottom."""
    names = []
    for plane in panel.planes(**changes):
        names += [name for _, name in sorted(zip(plane.y["tickvals"], plane.y["ticktext"], strict=True), reverse=True)]
    return names


def test_method_map_has_a_dot_where_a_method_differs(shown):
    (plane,) = shown.planes()
    at = dict(zip(plane.y["ticktext"], plane.y["tickvals"], strict=True))
    dots = {trace.uid: (trace.x, trace.y, trace.customdata) for trace in plane.traces if trace.customdata is not None}
    mine, other = at["Mine\u00a0&lt;b&gt;"], at["Other"]
    assert dots["view"] == ((1,), (mine,), (1,)) and dots["data"] == ((0,), (at["Rows"],), (3,))
    assert dots["loss"] == ((4, 4), (mine, other), (1, 2)) and dots["head"] == ((), (), ())
    counts = next(trace for trace in plane.traces if trace.uid == "counts")
    in_family = [text for text, y in zip(counts.text, counts.y, strict=True) if y == at["<b>another loss</b>"]]
    assert in_family == [f"<b>{count}</b>" for count in ("", 1, "", "", 2)]
    assert plane.x["ticktext"] == ["data", "view", "encoder", "head", "loss"]
    assert plane.title == "Of 3 methods beside SimCSE, 2 change the loss, only 0 the encoder"


def test_method_map_groups_by_family_or_by_year(shown):
    mine = "Mine\u00a0&lt;b&gt;"
    simcse = "SimCSE,\u00a0the\u00a0reference"
    families = [
        "<b>all 3</b>",
        "<b>baseline</b>",
        simcse,
        "<b>another loss</b>",
        mine,
        "Other",
        "<b>extra data</b>",
        "Rows",
    ]
    assert lines(shown) == families
    years = [
        "<b>all 3</b>",
        "<b>2021</b>",
        "Other",
        simcse,
        "<b>2022</b>: none",
        "<b>2023</b>",
        mine,
        "<b>no year</b>",
        "Rows",
    ]
    assert lines(shown, by="year") == years
    many = MethodMap(CARDS * 7)
    parts = many.planes()
    assert len(parts) == 3 and sum("Other" in line for line in lines(many)) == 7
    assert max(part.tall for part in parts) < 0.6 * sum(part.tall for part in parts)
    assert [bool(part.title) for part in parts] == [True, False, False]
    assert many.planes(by="year")[0].title == "2021 has the most methods, 14: 7 change the loss, only 0 the data"


def test_what_was_clicked_is_told_stage_by_stage(shown):
    assert shown.details(shown.state) == ""
    shown.clicked(1)
    told = shown.details(shown.state)
    assert "<th>view</th><td>changed texts</td>" in told and "Mine &lt;b&gt;" in told and "Rows" not in told
    assert list(shown.picked()["loss"]) == ["triplet"]
    assert "<b>\u2192\u00a0Mine\u00a0&lt;b&gt;</b>" in lines(shown)


@pytest.mark.parametrize(
    "given, said", [({"cards": []}, "cards is empty"), ({"cards": CARDS, "by": "name"}, "choose one of family, year")]
)
def test_what_cannot_be_drawn_is_refused(given, said):
    with pytest.raises(ValueError, match=said):
        MethodMap(**given)
