"""Looking at a figure step by step: a scrubber in the notebook, a film on a page without a kernel."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets
import plotly.graph_objects as go
import traitlets

from .plot import plain, same
from .theme import INK

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


def film(figure_at: Callable[[int], go.Figure], steps: Sequence[int], step: int) -> go.Figure:
    """`figure_at(step)` with Plotly's own slider and play button over `steps`, which need no kernel.

    A frame holds only what changes between the steps; hover texts, for instance, are stored once.
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
    return go.Figure(shown["data"], {**shown["layout"], **_film_controls(steps, step, shown)}, frames)


def _differing(stills: Sequence[Mapping[str, Any]]) -> list[str]:
    """The keys whose values are not the same in all."""
    keys = sorted({key for still in stills for key in still})
    return [key for key in keys if not all(same(still.get(key), stills[0].get(key)) for still in stills)]


def _film_controls(steps: Sequence[int], step: int, shown: dict) -> dict:
    """The layout of a film: room below the plot, a play and a pause button, a slider."""
    room = 90
    at_once = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    from_the_start = {**at_once, "frame": {"duration": MILLISECONDS_A_STEP, "redraw": True}}
    bottom = shown["layout"]["template"]["layout"]["margin"]["b"]
    return {
        "height": shown["layout"]["height"] + room,
        "margin": {"b": bottom + room},
        "sliders": [
            {
                "active": steps.index(step),
                "currentvalue": {"visible": False},
                "x": 0.18,
                "len": 0.82,
                "pad": {"t": 70},
                "bgcolor": INK,
                "bordercolor": INK,
                "tickcolor": INK,
                "steps": [
                    {"label": str(other), "method": "animate", "args": [[str(other)], at_once]} for other in steps
                ],
            }
        ],
        "updatemenus": [
            {
                "type": "buttons",
                "showactive": False,
                "direction": "left",
                "x": 0,
                "xanchor": "left",
                "y": 0,
                "yanchor": "top",
                "pad": {"t": 62},
                "bgcolor": "rgba(128,128,128,0.15)",
                "bordercolor": INK,
                "buttons": [
                    {"label": "\u25b6", "method": "animate", "args": [None, from_the_start]},
                    {"label": "\u25a0", "method": "animate", "args": [[None], at_once]},
                ],
            }
        ],
    }
