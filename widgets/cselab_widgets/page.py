"""A figure as a piece of HTML, for notebooks exported to pages and read offline.

The contract with whoever makes the page: plotly.js stands in the page **once**, wherever it likes
(before the figures or after them, inline or as a file beside it), as the global `Plotly`, for instance

    <script>{plotly.offline.get_plotlyjs()}</script>

and each figure is a `div` with a script that waits for that global and then draws. Until then, and on a
page that has no plotly.js or runs no scripts, the `div` shows the figure's summary as text.
"""

import hashlib
import html
import json
from collections.abc import Mapping
from typing import Any

from .theme import CSS

# The div is found by a hash of what it shows, not by a random id, so that the same notebook run twice
# gives the same page; a figure shown twice is drawn twice, each div once.
_PIECE = """\
<style>{css}</style>
<div class="cselab-figure" data-cselab-figure="{digest}" style="min-height:{height}px">
<pre>{summary}</pre>
</div>
<script>(function draw() {{
  if (!window.Plotly) {{ setTimeout(draw, 100); return; }}
  var figure = {figure};
  document.querySelectorAll('[data-cselab-figure="{digest}"]').forEach(function (div) {{
    if (div.dataset.drawn) return;
    div.dataset.drawn = "yes";
    div.textContent = "";
    Plotly.newPlot(div, figure);
  }});
}})();</script>"""


def figure_to_html(figure: Mapping[str, Any], summary: str) -> str:
    """A `div` and a script that draw `figure`, which is JSON, once plotly.js is there; `summary` until then."""
    # "<" would let a sentence close the script element; inside JSON it only ever stands in strings.
    script = json.dumps(figure, separators=(",", ":")).replace("<", "\\u003c")
    return _PIECE.format(
        css=CSS,
        digest=hashlib.sha256(script.encode()).hexdigest()[:16],
        height=figure["layout"]["height"],
        summary=html.escape(summary),
        figure=script,
    )
