"""Looking at a figure step by step: a scrubber in the notebook, a film on a page without a kernel."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets
import plotly.graph_objects as go
import traitlets

from .plot import plain, same

MILLISECONDS_A_STEP = 500


class Scrubber(ipywidgets.HBox):
    """A play button and a slider over `steps`; `value` is the current step."""

    value = traitlets.Int()

    def __init__(self, steps: Sequence[int], step: int, description: str = "step") -> None:
        self.slider = ipywidgets.SelectionSlider(
            options=list(steps),
            value=step,
            description=description,
            continuous_update=False,
            style={"description_width": "auto"},
            layout={"flex": "1 1 auto", "margin": "2px 0 2px 12px"},
        )
        self.play = ipywidgets.Play(
            value=steps.index(step), max=len(steps) - 1, interval=MILLISECONDS_A_STEP, show_repeat=False
        )
        super().__init__([self.play, self.slider], layout={"flex": "1 1 22em", "max_width": "40em"})
        # A link copies source to target at once; each source here already holds the current step.
        traitlets.link((self.slider, "index"), (self.play, "value"))
        traitlets.link((self.slider, "value"), (self, "value"))


def film(figure_at: Callable[[int], go.Figure], steps: Sequence[int], step: int, name: str = "step") -> go.Figure:
    """`figure_at(step)` with a frame for each of `steps`, which figure.js plays without a kernel.

    A frame holds only what changes between the steps; hover texts, for instance, are stored once.
    `name` says what the steps are.
    """
    shown = plain(figure_at(step))
    stills = [plain(figure_at(other)) for other in steps]
    moving = [_differing([still["data"][i] for still in stills]) for i in range(len(shown["data"]))]
    turning = _differing([still["layout"] for still in stills])
    frames = [
        {
            "name": str(other),
            "data": [
                {"type": trace["type"]} | {key: trace.get(key) for key in keys}
                for trace, keys in zip(still["data"], moving, strict=True)
            ],
            "layout": {key: still["layout"].get(key) for key in turning},
        }
        for other, still in zip(steps, stills, strict=True)
    ]
    meta = {**shown["layout"].get("meta", {}), "film": {"name": name, "opens_at": str(step)}}
    return go.Figure(shown["data"], {**shown["layout"], "meta": meta}, frames)


def _differing(stills: Sequence[Mapping[str, Any]]) -> list[str]:
    """The keys whose values are not the same in all."""
    keys = sorted({key for still in stills for key in still})
    return [key for key in keys if not all(same(still.get(key), stills[0].get(key)) for still in stills)]
