"""Draw docs/growth.png: how cost grows with work, from results/growth.json (`python benchmarks/growth.py`).

python scripts/growth_picture.py docs/growth.png
"""

import json
import math
import sys
from pathlib import Path

import plotly.graph_objects as go
from drawn_figure import draw
from plotly.subplots import make_subplots

INK, COLOUR = "#24292f", "#0969da"
FILE = Path(__file__).resolve().parents[1] / "results" / "growth.json"


def main(picture: Path) -> None:
    lines = json.loads(FILE.read_text())
    titles = [f"{line['what']}<br><b>slope {line['slope']:.2f}</b>" for line in lines.values()]
    rows = -(-len(lines) // 3)
    sheet = make_subplots(rows, 3, subplot_titles=titles, horizontal_spacing=0.07, vertical_spacing=0.16)
    for at, line in enumerate(lines.values()):
        row, column = at // 3 + 1, at % 3 + 1
        sizes = [point[line["unit"]] for point in line["points"]]
        seconds = [point["seconds"] for point in line["points"]]
        curve = go.Scatter(x=sizes, y=seconds, mode="lines+markers", line_color=COLOUR, showlegend=False)
        sheet.add_trace(curve, row, column)
        sheet.update_xaxes(type="log", dtick=1, title_text=line["unit"], title_standoff=4, row=row, col=column)
        decades = [math.floor(math.log10(min(seconds))), math.ceil(math.log10(max(seconds)))]
        sheet.update_yaxes(type="log", dtick=1, range=decades, row=row, col=column)
    sheet.update_yaxes(title_text="seconds", col=1)
    sheet.update_annotations(font_size=14)
    sheet.update_layout(
        template="plotly_white",
        width=1100,
        height=270 * rows + 40,
        font={"size": 13, "color": INK},
        margin={"t": 60, "r": 20, "b": 50, "l": 60},
    )
    draw(sheet, picture)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
