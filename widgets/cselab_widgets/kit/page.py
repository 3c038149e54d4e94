"""A panel as a piece of HTML, for notebooks exported to pages and read offline.

The contract with whoever makes the page: plotly.js is in the page **once**, anywhere
(before the figures or after them, inline or as a separate file), as the global `Plotly`, for instance

    <script>{plotly.offline.get_plotlyjs()}</script>

and each figure is a `div` with a script that waits for that global and then draws it with figure.js, as the widget
does. Until then, and on a page that has no plotly.js or runs no scripts, the `div` shows the figure's summary.
Controls that answer without a kernel are drawn by page_figure.js.
"""

import hashlib
import html
import inspect
import json
from collections.abc import Mapping
from typing import Any

from .scripts import FIGURE_JS, PAGE_JS
from .theme import CSS

# The div is found by a hash of what it shows, not by a random id, so that the same notebook run twice
# gives the same page; a figure shown twice is drawn twice, each div once.
_PIECE = """\
<style>{css}</style>
<div class="cselab-panel">
<div class="cselab-hands"></div>
<div class="cselab-figure" data-cselab-figure="{digest}" style="min-height:{height}px">
<pre>{summary}</pre>
</div>
<p class="cselab-note">{note}</p>
<div class="cselab-details">{details}</div>
</div>
<script>(function () {{
{scripts}
var piece = {piece};
(function draw() {{
  if (!window.Plotly) {{ setTimeout(draw, 100); return; }}
  document.querySelectorAll('[data-cselab-figure="{digest}"]').forEach(function (div) {{
    if (div.dataset.drawn) return;
    div.dataset.drawn = "yes";
    void cselabPage(window.Plotly, div.parentNode, piece);
  }});
}})();
}})();</script>"""

_PAGE = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title></head>
<body style="font-family: system-ui, sans-serif; background: Canvas; color: CanvasText">
<main style="max-width: 1140px; margin: auto">
<h1 style="font-size: 0.8rem; font-weight: 400; opacity: 0.75; margin: 0 8px 0.5em">{title}</h1>
{piece}
</main></body></html>
"""


def figure_to_html(height: int, words: Mapping[str, str], piece: Mapping[str, Any]) -> str:
    """A `div` and a script that draw a panel once plotly.js is there; its summary, `height` pixels tall, until then.

    `words` are summary, note and details (HTML); `piece` is the argument of page_figure.js.
    """
    # "<" would let a sentence close the script element; inside JSON it only ever stands in strings.
    script = json.dumps(piece, separators=(",", ":")).replace("<", "\\u003c")
    return _PIECE.format(
        css=CSS,
        digest=hashlib.sha256(script.encode()).hexdigest()[:16],
        height=height,
        summary=html.escape(words["summary"]),
        note=html.escape(words["note"]),
        details=words["details"],
        piece=script,
        scripts=FIGURE_JS + PAGE_JS,
    )


def heading(panel: object) -> str:
    """The class of a panel and what it is for."""
    return f"{type(panel).__name__}: {str(inspect.getdoc(panel)).splitlines()[0]}"


def bare_page(piece: str, title: str) -> str:
    """A page of one piece that needs no plotly.js."""
    return _PAGE.format(title=html.escape(title), piece=piece)


def whole_page(piece: str, title: str) -> str:
    """A page of one piece that needs nothing else: plotly.js is in it, 5 MB."""
    from plotly.offline import get_plotlyjs

    return bare_page(f"{piece}\n<script>{get_plotlyjs()}</script>", title)
