"""Draw how the papers' effects grow with training, for README: each beside the paper's own point.

python scripts/effects_growth_picture.py docs/effects-grow.png

Reads results/effects-grow.study.jsonl and effects-grow.million.jsonl: `cselab experiment run effects-grow --seeds 0-2`,
with `--profile study` and `--profile million`.
"""

import sys
from pathlib import Path

from cselab_lab.experiments import read_results
from cselab_lab.experiments.growth import by_size
from cselab_widgets import effect_planes
from cselab_widgets.kit.planes import side_by_side
from drawn_figure import draw
from pandas import concat

RESULTS = Path(__file__).resolve().parents[1] / "results"


def main(picture: Path) -> None:
    sizes = concat([by_size(read_results("effects-grow", profile, RESULTS)) for profile in ("study", "million")])
    figure = side_by_side(effect_planes(sizes.drop_duplicates()), columns=3)
    figure.update_layout(template="plotly_white", width=1100)
    draw(figure, picture)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
