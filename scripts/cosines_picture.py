"""Draw docs/cosines.png, the picture of the README: the cosine of two sentences by how much alike they are.

python scripts/cosines_picture.py docs/cosines.png

The tour's own settings (profile classroom): `mini`, [CLS], 60 steps of SimCSE, seed 0, the step chosen on the world's
dev pairs. Between them, the plain vectors less the mean of 2,000 training sentences. The pairs are the world's test
pairs. About a minute on two cores.
"""

import sys
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
from cselab_lab.lessons import lesson
from drawn_figure import draw
from plotly.subplots import make_subplots
from scipy.stats import spearmanr

from cselab import train

INK, COLOURS = "#24292f", ("#8c959f", "#bf6a02", "#0969da")


def cosines(vectors: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Of row i of the first half and row i of the second, after the mean was subtracted."""
    unit = (vectors - mean) / np.linalg.norm(vectors - mean, axis=1, keepdims=True)
    first, second = np.split(unit, 2)
    return (first * second).sum(axis=1)


def main(picture: Path) -> None:
    lab = lesson.setup("00_tour")
    pairs, encoder = lab.world.sts(1200, "test"), lab.plain
    plain = np.asarray(encoder.encode(pairs.sentences))
    bars = {
        "plain": cosines(plain, np.zeros(plain.shape[1])),
        "mean subtracted": cosines(plain, np.asarray(encoder.encode(lab.corpus[:2000])).mean(axis=0)),
    }
    train(encoder, "simcse", lab.corpus, lab.config(), lab.dev)
    bars[f"SimCSE, {lab.steps} steps"] = cosines(np.asarray(encoder.encode(pairs.sentences)), np.zeros(plain.shape[1]))

    grades = np.round(pairs.scores).astype(int)
    titles = [
        f"<b>{name}</b><br>Spearman {100 * spearmanr(values, pairs.scores).statistic:.1f}"
        for name, values in bars.items()
    ]
    sheet = make_subplots(1, 3, shared_yaxes=True, subplot_titles=titles, horizontal_spacing=0.03)
    for column, (values, colour) in enumerate(zip(bars.values(), COLOURS, strict=True), start=1):
        box = go.Box(x=grades, y=values, marker_color=colour, marker_size=3, line_width=1.5, showlegend=False)
        sheet.add_trace(box, 1, column)
        sheet.update_xaxes(dtick=1, row=1, col=column)
    sheet.update_xaxes(title_text="grade of the pair (0: nothing in common, 5: the same meaning)", row=1, col=2)
    sheet.update_yaxes(title_text="cosine of its two sentences", row=1, col=1)
    sheet.update_layout(
        template="plotly_white",
        width=1100,
        height=430,
        font={"size": 14, "color": INK},
        margin={"t": 70, "r": 20, "b": 60},
    )
    draw(sheet, picture)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
