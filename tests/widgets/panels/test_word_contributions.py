"""Words and their parts of a cosine: what is drawn is what `explain_cosine` says, before and after."""

import numpy as np
import pytest
from cselab_widgets import WordContributions
from drawn import traces

from cselab import SentenceEncoder
from cselab.encoders import explain_cosine
from cselab.evaluators import fitted

PAIR = "A cook is peeling an onion.", "The chef peels some onions."
MICRO = SentenceEncoder("micro")
ENCODERS = {
    "micro": MICRO,
    "whitened": fitted(MICRO, "whitening", limit=200),
    "first": SentenceEncoder("micro", pooling="cls"),
}


def drawn(panel, number):
    return np.array(traces(panel)[f"{number}: pairs"].z, dtype=float)


def test_the_cells_are_hundredths_of_the_cosine():
    """The cells are hundredths of the cosine and the edges their sums."""
    panel = WordContributions(ENCODERS, *PAIR)
    assert panel.state.after == "whitened"
    for number, (name, parts) in enumerate(panel.state.drawn.items()):
        cells = drawn(panel, number)[:-1, :-1]
        exact = 100 * explain_cosine(ENCODERS[name], *PAIR).pairs
        np.testing.assert_allclose(cells, np.where(np.abs(exact) < 0.05, 0, exact), atol=0.0051)
        assert cells.sum() == pytest.approx(100 * parts.cosine, abs=0.5)
        assert f"{name}: cosine {parts.cosine:.2f}" in panel.planes()[number].title
        assert traces(panel)[f"{number}: cosine"].text == (f"<b>{100 * parts.cosine:.1f}</b>",)
        (outline,) = panel.planes()[number].layout["shapes"]
        assert cells[int(outline["y0"] + 0.5), int(outline["x0"] + 0.5)] == cells.max()
        rows = panel.to_frame().query("encoder == @name")
        assert rows["part"].sum() == pytest.approx(2 * parts.cosine)  # the words of both sentences
    assert panel.figure().layout.yaxis.ticktext == (
        "[CLS]",
        *"A cook is peeling an onion .".split(),
        "[SEP]",
        "<b>all</b>",
    )


def test_without_an_exact_sum_only_the_edges_are_drawn():
    """Without an exact sum only the edges are drawn and it says so."""
    panel = WordContributions(ENCODERS, *PAIR, after="first")
    assert np.isnan(drawn(panel, 1)).all() and not np.isnan(drawn(panel, 0)[:-1, :-1]).any()
    assert "no exact sum" in panel.explain(panel.state)
    assert "no exact sum" not in panel.explain(WordContributions(ENCODERS, *PAIR).state)


def test_a_single_encoder_has_one_plane():
    """A single encoder has one plane and what cannot be shown is refused."""
    panel = WordContributions({"micro": MICRO}, *PAIR)
    assert len(panel.planes()) == 1 and "after" not in panel.controls()
    with pytest.raises(ValueError, match="encoders is empty"):
        WordContributions({})
    with pytest.raises(ValueError, match="after is 'flow'; choose one of"):
        WordContributions(ENCODERS, *PAIR, after="flow")
    with pytest.raises(ValueError, match="empty"):
        panel.set(first=" ")
    assert panel.state.first == PAIR[0]
