"""Looking at a figure step by step."""

from collections.abc import Sequence

import ipywidgets
import traitlets

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
