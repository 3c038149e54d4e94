"""What holds for every panel: its controls, its figure, and what a cell that is run again leaves behind."""

import ipywidgets
import numpy as np
import pandas as pd
import pytest
from cselab_lab.lessons.touches import method_cards
from cselab_widgets import (
    AlignmentUniformity,
    CosinesByGrade,
    EmbeddingMap,
    GainMap,
    LossLab,
    MethodMap,
    NoiseLab,
    PairExplorer,
    PaperBesideHere,
    RankLab,
    TrainingMonitor,
    WhiteningLab,
)
from cselab_widgets.panels.rank_lab import NORMAL
from cselab_widgets.panels.whitening_lab import PLANE
from ipywidgets.widgets.widget import _instances

from cselab.data import Pairs

draw = np.random.default_rng(0).normal
ROWS = [{"step": s, "loss": 1.0, "alignment": 0.2, "uniformity": -1 - s / 9, "score": 50.0 + s} for s in (0, 5, 10)]
WORDS = ["abba", "bead", "cage", "fade", "head", "deaf"] * 2
PAIRS = Pairs(WORDS, [word[::-1] + "c" for word in WORDS], [float(i % 3) for i in range(12)], "letters", ["x", "y"] * 6)
CLEAN, PASSES, VIEWS = draw(size=(12, 16)), draw(size=(40, 12, 16)), draw(size=(3, 40, 12))
MAPS = {"plain": draw(size=(6, 5)), "SimCSE": {0: draw(size=(6, 5)), 3: draw(size=(6, 5))}}
CARDS = method_cards(["simcse", "mixcse", "sr_bert"])
GAINS = pd.DataFrame(
    {"row": ["low", "high"] * 2, "column": ["a", "a", "b", "b"], "gain": [1.0, 2.0, 4.0, 3.0], "published": 5.0}
).assign(ours=lambda frame: frame["gain"])


class Letters:
    encode = staticmethod(
        lambda texts: np.array([[text.count(letter) + 1.0 for letter in "abcdefgh"] for text in texts])
    )


def watched() -> CosinesByGrade:
    watch = CosinesByGrade(PAIRS)
    for step in (0, 10):
        watch.keep(step, Letters())
    return watch


# How each is made, and for every control another value.
PANELS = {
    "AlignmentUniformity": (
        lambda key: AlignmentUniformity({"SimCSE": ROWS}, cosines={"SimCSE": watched()}, key=key),
        {"step": 0, "color": "dev score", "selection": (0,)},
    ),
    "EmbeddingMap": (
        lambda key: EmbeddingMap(list("abcdef"), MAPS, color=list("xxyyzz"), pairs=[(0, 1)], key=key),
        {"step": 0, "find": "a", "focus": 2, "projection": "PCA without component 1", "moved": True, "lines": False},
    ),
    "GainMap": (lambda key: GainMap(GAINS, key=key), {"sort": "a", "selection": (1, 3)}),
    "LossLab": (
        lambda key: LossLab({0: VIEWS[:, :8], 5: VIEWS[:, 8:16]}, key=key),
        {"step": 0, "loss": "ArcCon", "pair": "negative", "temperature": 0.2, "focal_m": 0.7, "off_dropout_m": 0.5,
         "margin": 30.0},
    ),
    "MethodMap": (lambda key: MethodMap(CARDS, key=key), {"family": "text", "selection": (1,)}),
    "NoiseLab": (
        lambda key: NoiseLab(vectors=PASSES, clean=CLEAN, key=key), {"sentence": 4, "variance": 0.5, "mean_of": 3}
    ),
    "PairExplorer": (
        lambda key: PairExplorer({"letters": Letters()}, PAIRS, "a bad face", "a bad cage", key=key),
        {"first": "a cage", "second": "an egg", "removed": 2, "selection": (3,)},
    ),
    "PaperBesideHere": (
        lambda key: PaperBesideHere(GAINS, curves={"high": {0: ROWS}}, key=key),
        {"column": "b", "sort": "ours", "selection": (1,)},
    ),
    "RankLab": (
        lambda key: RankLab(vectors=VIEWS, batch_size=8, key=key),
        {"batch_size": 32, "dimensions": 4, "artificial_rows": 32, "source": NORMAL},
    ),
    "TrainingMonitor": (lambda key: TrainingMonitor({"SimCSE": [ROWS, ROWS]}, key=key), {}),
    "WhiteningLab": (
        lambda key: WhiteningLab(vectors=VIEWS, batch_size=30, key=key),
        {"source": PLANE, "strategy": "ZCA", "num_groups": 3, "batch_size": 20, "eps": 0.1, "seed": 1, "stage": 1},
    ),
}  # fmt: skip

pytestmark = pytest.mark.parametrize("name", PANELS)


def test_each_control_changes_its_field_and_the_plot(name):
    make, values = PANELS[name]
    assert name == "TrainingMonitor" or values.keys() | {"by"} >= make(None).controls().keys() >= values.keys()
    for field, value in values.items():
        panel = make(None)
        before = panel.figure()
        _ = panel.widget
        panel._shell.controls[field].value = value
        assert getattr(panel.state, field) == value
        assert panel.figure() != before, field


def test_every_state_has_the_same_traces_in_the_same_order_and_the_figure_is_pure(name):
    make, values = PANELS[name]
    panel = make(None)
    assert panel.draw(panel.state) == panel.draw(panel.state)
    changes = [{}, *({field: value} for field, value in values.items())]
    assert len({tuple(trace.uid for trace in panel.figure(**change).data) for change in changes}) == 1


def test_every_control_has_a_name_and_no_list_is_blank_while_something_is_shown(name):
    panel = PANELS[name][0](None)
    for field, control in panel.controls().items():
        parts = getattr(control, "children", [control])
        assert any(part.description for part in parts), field
        if isinstance(control, ipywidgets.Dropdown) and field != "focus":  # at first nothing is looked at nearer
            assert control.label, field


def test_a_place_that_is_filled_ten_times_holds_the_widgets_of_one_panel(name):
    alive = []
    for _ in range(10):
        panel = PANELS[name][0]("again")
        assert panel.widget.comm is not None
        alive.append(len(_instances))
    panel.close()
    assert alive == [alive[0]] * 10
