"""Draw how the papers' effects grow with training, for README: each beside the paper's own point.

python scripts/effects_growth_picture.py docs/effects-grow.png

Reads results/effects-grow.study.jsonl: `cselab experiment run effects-grow --profile study --seeds 0-2`.
"""

import sys
from pathlib import Path

from cselab_lab.experiments import read_results
from cselab_lab.experiments.growth import by_size
from cselab_widgets import effect_planes
from cselab_widgets.kit.planes import side_by_side
from drawn_figure import draw

RESULTS = Path(__file__).resolve().parents[1] / "results"


def main(picture: Path) -> None:
    figure = side_by_side(effect_planes(by_size(read_results("effects-grow", "study", RESULTS))), columns=3)
    figure.update_layout(template="plotly_white", width=1100)
    draw(figure, picture)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
